// path: cold
//
// A client's connection over the loopback interface.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>

namespace pinstrike::actors::gateway::test {

class Socket {
  public:
    explicit Socket(std::uint16_t port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(
            ::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    }

    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    ~Socket() { ::close(descriptor_); }

    void send(const std::string& text) const {
        EXPECT_EQ(::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(text.size()));
    }

    void finish() const { ::shutdown(descriptor_, SHUT_WR); }

    /// Takes what has arrived. `ended()`: the other side sends nothing more.
    void read() {
        std::string part(65536, '\0');
        const ssize_t count = ::recv(descriptor_, part.data(), part.size(), MSG_DONTWAIT);
        if (count > 0) {
            text_.append(part, 0, static_cast<std::size_t>(count));
        } else if (count == 0 || errno != EAGAIN) {
            ended_ = true;
            reset_ = count < 0 && errno == ECONNRESET;
        }
    }

    [[nodiscard]] const std::string& text() const { return text_; }

    [[nodiscard]] bool ended() const { return ended_; }

    [[nodiscard]] bool was_reset() const { return reset_; }

  private:
    int descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    std::string text_;
    bool ended_ = false;
    bool reset_ = false;
};

}  // namespace pinstrike::actors::gateway::test
