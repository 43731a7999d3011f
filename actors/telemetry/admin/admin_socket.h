// path: cold
//
// The admin socket: a Unix socket for root and the program's group. Who connects sends one line of
// JSON, {"ask": "status"}, gets one or more lines of JSON, and the connection ends. README.md says
// which. All of it happens on the control thread, between its other work, and nothing in it waits.
// A client has `patience_ns` to send its whole request, and again for what waits to be read; single
// bytes do not extend it. Where all connections are taken, the one that has been late the longest
// is closed for a newer one.
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

/// Who asks, as the kernel knows it.
struct Asker {
    unsigned user = 0;
    int process = 0;
};

struct Reply {
    std::string text;  ///< whole lines
    /// For what goes on: called again and again, adds lines to what is to be sent; false: that was
    /// all. It is destroyed when the client has gone, too.
    std::function<bool(std::string& out)> more;
};

using Answer = std::function<Reply(const std::string& request, const Asker& asker)>;

class AdminSocket {
  public:
    static constexpr std::size_t connections_max = 8;
    static constexpr std::size_t request_bytes_max = 4096;
    static constexpr std::int64_t patience_ns = 5'000'000'000;

    /// Listens at `path`, mode 0660. A socket file that nobody listens at any more is replaced; any
    /// other file there, or an instance that answers, is a problem. Null then.
    [[nodiscard]] static std::unique_ptr<AdminSocket> open(const std::string& path,
                                                           Problems& problems);

    /// Closes all and removes the file.
    ~AdminSocket();

    AdminSocket(const AdminSocket&) = delete;
    AdminSocket& operator=(const AdminSocket&) = delete;

    /// Call often: takes connections, reads, answers, writes. `now_ns`: of a clock nobody sets.
    void step(std::int64_t now_ns, const Answer& answer);

    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    struct Connection {
        nic::FileDescriptor socket;
        Asker asker;
        std::int64_t due_ns = 0;  ///< when the request is whole, or `owed` bytes are taken
        std::string in;
        bool answered = false;
        Reply reply;           ///< `text`: what is still to be sent
        std::size_t owed = 0;  ///< bytes of `reply.text` that the client must take until `due_ns`
    };

    AdminSocket(std::string path, nic::FileDescriptor socket);

    using Connections = std::vector<std::unique_ptr<Connection>>;

    void step_connections(std::int64_t now_ns, const Answer& answer);
    void take_connections(std::int64_t now_ns);
    /// The connection that gives way to a newer one; the end where all must be kept.
    Connections::iterator latest(std::int64_t now_ns);
    /// False: it has ended.
    static bool step(Connection& connection, std::int64_t now_ns, const Answer& answer);
    static bool read(Connection& connection);
    static bool write(Connection& connection);

    std::string path_;
    nic::FileDescriptor socket_;
    Connections connections_;
};

}  // namespace pinstrike::actors::admin
