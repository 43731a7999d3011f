// path: cold
//
// A small HTTP server: one thread, one event loop, one request a connection. No client holds up
// another: a request has `request_within` to be whole and its answer `answer_within` to be taken,
// whatever bytes come meanwhile, and where all connections are taken, the oldest whose request is
// not whole is closed for a newer one.
#pragma once

#include "config/counter.h"
#include "config/problem.h"
#include "config/rows.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace pinstrike::actors {

#define PINSTRIKE_ENDPOINT_COUNTS(ROW)                                                          \
    ROW(answered, requests, "requests that were answered to the end, those refused among them") \
    ROW(failed, requests, "requests for which no answer could be made: they get status 500")    \
    ROW(late, connections,                                                                      \
        "connections closed because the request was not whole, or the answer not taken, in "    \
        "time")                                                                                 \
    ROW(gave_way, connections, "connections closed for a newer one where all were taken")       \
    ROW(untaken, connections,                                                                   \
        "times that a connection could not be taken, mostly for want of descriptors; it is "    \
        "tried again after 0.1 s")

PINSTRIKE_ROWS(EndpointCount, PINSTRIKE_ENDPOINT_COUNTS)

/// The server's thread writes.
using EndpointCounters = Counters<EndpointCount, EndpointCount_count>;

struct HttpAnswer {
    unsigned status = 200;
    std::string text;  ///< in Prometheus' text format, or plain
};

class HttpServer {
  public:
    static constexpr std::size_t connections_max = 64;
    static constexpr std::size_t request_bytes_max = 8192;
    static constexpr std::chrono::milliseconds request_within{2000};
    static constexpr std::chrono::milliseconds answer_within{8000};

    /// What GET of a path yields, its query left out; on the server's thread.
    using Answer = std::function<HttpAnswer(const std::string& path)>;

    /// Listens, and answers from a thread of its own, which inherits the caller's processor. Null,
    /// and `complaint` says why, if it cannot: a Problem without the key.
    [[nodiscard]] static std::unique_ptr<HttpServer> open(const std::string& host,
                                                          std::uint16_t port, Answer answer,
                                                          Problem& complaint);
    /// Closes all connections.
    ~HttpServer();

    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    [[nodiscard]] std::uint16_t port() const;

    [[nodiscard]] const EndpointCounters& counters() const;

  private:
    class Loop;

    explicit HttpServer(std::unique_ptr<Loop> loop);

    std::unique_ptr<Loop> loop_;
};

}  // namespace pinstrike::actors
