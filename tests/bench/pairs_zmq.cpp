#include "tests/bench/pairs.h"

#include <zmq.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace pinstrike::bench {
namespace {

void must(bool right) {
    if (!right) {
        std::fprintf(stderr, "ZeroMQ: %s\n", zmq_strerror(zmq_errno()));
        std::exit(1);
    }
}

/// One end of a pair within the process. Each end is used by one thread.
class Socket {
  public:
    explicit Socket(void* context) : socket_(zmq_socket(context, ZMQ_PAIR)) {
        const int unbounded = 0;
        must(socket_ != nullptr);
        must(zmq_setsockopt(socket_, ZMQ_SNDHWM, &unbounded, sizeof unbounded) == 0);
        must(zmq_setsockopt(socket_, ZMQ_RCVHWM, &unbounded, sizeof unbounded) == 0);
    }

    ~Socket() { zmq_close(socket_); }

    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    void bind(const std::string& name) { must(zmq_bind(socket_, name.c_str()) == 0); }

    void connect(const std::string& name) { must(zmq_connect(socket_, name.c_str()) == 0); }

    void send(std::uint64_t value) {
        must(zmq_send(socket_, &value, sizeof value, 0) == sizeof value);
    }

    std::uint64_t receive() {
        std::uint64_t value = 0;
        must(zmq_recv(socket_, &value, sizeof value, 0) == sizeof value);
        return value;
    }

  private:
    void* socket_;
};

void send_pings(Socket& socket, std::uint64_t each) {
    for (std::uint64_t sent = 0; sent < each;) {
        socket.receive();
        for (std::uint64_t i = 0; i < row_pings && sent < each; ++i) {
            socket.send(sent++);
        }
    }
}

void check_pings(Socket& socket, std::uint64_t each) {
    for (int i = 0; i < rows_asked_ahead; ++i) {
        socket.send(0);
    }
    for (std::uint64_t reported = 0; reported < each;) {
        if (socket.receive() != reported++) {
            std::fprintf(stderr, "ZeroMQ: out of order\n");
            std::exit(1);
        }
        if (reported % row_pings == 0) {
            socket.send(0);
        }
    }
}

}  // namespace

/// Uses one thread for each end, because ZeroMQ has no actors.
double zmq_pairs(std::uint64_t each) {
    void* context = zmq_ctx_new();
    double seconds = 0;
    {
        std::vector<std::array<std::unique_ptr<Socket>, 2>> pairs;
        for (std::uint64_t i = 0; i < pairs_count; ++i) {
            const std::string name = "inproc://pair" + std::to_string(i);
            pairs.push_back({std::make_unique<Socket>(context), std::make_unique<Socket>(context)});
            pairs.back()[0]->bind(name);
            pairs.back()[1]->connect(name);
        }
        const auto begun = std::chrono::steady_clock::now();
        {
            std::vector<std::jthread> threads;
            for (auto& [pinger, ponger] : pairs) {
                threads.emplace_back([&pinger, each] { send_pings(*pinger, each); });
                threads.emplace_back([&ponger, each] { check_pings(*ponger, each); });
            }
        }
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    }
    zmq_ctx_term(context);
    return seconds;
}

}  // namespace pinstrike::bench
