// path: cold
#include "actors/telemetry/log/journal_writer.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

namespace pinstrike::actors {

JournalWriter::JournalWriter(const std::string& socket) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    if (socket.size() >= sizeof to.sun_path) {
        return;
    }
    std::memcpy(to.sun_path, socket.data(), socket.size());
    socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket_ >= 0 &&
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&to),  // tidy: the socket API
                  sizeof to) != 0) {
        ::close(socket_);
        socket_ = -1;
    }
}

JournalWriter::~JournalWriter() {
    if (socket_ >= 0) {
        ::close(socket_);
    }
}

bool JournalWriter::write(int priority, std::string_view code, std::string_view subject,
                          std::string_view message) const {
    const std::string entry = fmt::format(
        "PRIORITY={}\nSYSLOG_IDENTIFIER=pinstrike\nPINSTRIKE_CODE={}\nPINSTRIKE_SUBJECT={}\n"
        "MESSAGE={}\n",
        priority, code, subject, message);
    return ::send(socket_, entry.data(), entry.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
           static_cast<ssize_t>(entry.size());
}

}  // namespace pinstrike::actors
