// path: cold
//
// The admin socket: a Unix socket for root and the program's group. A client sends one line of
// JSON, {"ask": "status"}, and gets one or more lines of JSON; then the connection ends. README.md
// lists the requests. The control thread does this between its other work, and never blocks here. A
// client must send its whole request within `patience_ns`, and must read pending data within the
// same time; single bytes do not extend the time. If all connections are in use, the one that is
// overdue the longest is closed for a new one.
#pragma once

#include "config/problem.h"
#include "nic/file_descriptor.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pinstrike::actors::admin {

/// The client's identity, from the kernel.
struct Asker {
    unsigned user = 0;
    int process = 0;
};

struct Reply {
    std::string text;  ///< whole lines
    /// For replies that continue: called repeatedly, it appends lines to `out`; false: the reply is
    /// complete. It is also destroyed when the client disconnects.
    std::function<bool(std::string& out)> more;
};

using Answer = std::function<Reply(const std::string& request, const Asker& asker)>;

class AdminSocket {
  public:
    static constexpr std::size_t connections_max = 8;
    static constexpr std::size_t request_bytes_max = 4096;
    static constexpr std::int64_t patience_ns = 5'000'000'000;

    /// Listens at `path`, mode 0660. Replaces a socket file on which no program listens. Any other
    /// file there, or an instance that answers, is a problem; the result is null then.
    [[nodiscard]] static std::unique_ptr<AdminSocket> open(const std::string& path,
                                                           Problems& problems);

    /// Closes all connections and removes the file.
    ~AdminSocket();

    AdminSocket(const AdminSocket&) = delete;
    AdminSocket& operator=(const AdminSocket&) = delete;

    /// Must be called often: accepts, reads, answers, writes. `now_ns`: monotonic time. Returns the
    /// errno if a connection could not be accepted, and then accepts none for a second; 0: no
    /// error.
    int step(std::int64_t now_ns, const Answer& answer);

    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    struct Connection {
        nic::FileDescriptor socket;
        Asker asker;
        /// Deadline for the request, then for reading the answer.
        std::int64_t due_ns = 0;
        std::string in;
        bool answered = false;
        Reply reply;                   ///< `text`: bytes still to be sent
        std::size_t unsent_bytes = 0;  ///< of `reply.text`, which the client must still read
    };

    AdminSocket(std::string path, nic::FileDescriptor socket);

    using Connections = std::vector<std::unique_ptr<Connection>>;

    void step_connections(std::int64_t now_ns, const Answer& answer);
    int accept_connections(std::int64_t now_ns);
    /// The connection to close for a new one; the end iterator if all must be kept.
    Connections::iterator most_overdue(std::int64_t now_ns);
    /// False: the connection has ended.
    static bool step(Connection& connection, std::int64_t now_ns, const Answer& answer);
    static bool read(Connection& connection);
    static bool write(Connection& connection);

    std::string path_;
    nic::FileDescriptor socket_;
    Connections connections_;
    std::int64_t resume_ns_ = 0;  ///< no connection is accepted before this time
};

}  // namespace pinstrike::actors::admin
