// path: cold
//
// A small HTTP server: one thread, one event loop, one request per connection. A slow client does
// not delay others. A request must be complete within `request_within` and its answer read within
// `answer_within`, and bytes in between do not extend this. If all connections are in use, the
// oldest one with an incomplete request is closed for a new one.
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

#define PINSTRIKE_ENDPOINT_COUNTS(ROW)                                                             \
    ROW(answered, requests, "requests answered completely, including refusals")                    \
    ROW(failed, requests, "requests for which no answer could be made: answered with status 500")  \
    ROW(late, connections,                                                                         \
        "connections closed because the request was not complete, or the answer not read, in "     \
        "time")                                                                                    \
    ROW(gave_way, connections, "connections closed for a newer one because the maximum was open")  \
    ROW(untaken, connections,                                                                      \
        "times that a connection could not be accepted, usually because descriptors ran out; the " \
        "next attempt is 0.1 s later")

PINSTRIKE_ROWS(EndpointCount, PINSTRIKE_ENDPOINT_COUNTS)

/// The server's thread writes these.
using EndpointCounters = Counters<EndpointCount, EndpointCount_count>;

struct HttpAnswer {
    unsigned status = 200;
    std::string text;  ///< in the Prometheus text format, or plain
};

class HttpServer {
  public:
    static constexpr std::size_t connections_max = 64;
    static constexpr std::size_t request_bytes_max = 8192;
    static constexpr std::chrono::milliseconds request_within{2000};
    static constexpr std::chrono::milliseconds answer_within{8000};

    /// Returns the answer to a GET of the path, without its query. Runs on the server's thread.
    using Answer =
        std::function<HttpAnswer(const std::string& path, const EndpointCounters& counters)>;

    /// Listens, and answers on its own thread, which inherits the caller's CPU. Null, with the
    /// reason in `complaint` (a Problem without a key), if it cannot listen.
    [[nodiscard]] static std::unique_ptr<HttpServer> open(const std::string& host,
                                                          std::uint16_t port, Answer answer,
                                                          Problem& complaint);
    /// Closes all connections.
    virtual ~HttpServer() = default;

    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    [[nodiscard]] virtual std::uint16_t port() const = 0;

    [[nodiscard]] virtual const EndpointCounters& counters() const = 0;

  protected:
    HttpServer() = default;
};

}  // namespace pinstrike::actors
