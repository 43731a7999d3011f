// path: cold
#include "actors/telemetry/admin/admin_client.h"

#include "actors/telemetry/admin/address.h"
#include "nic/file_descriptor.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace pinstrike::actors::admin {
namespace {

constexpr time_t silence_s = 10;

std::string why_not(const std::string& path, int error) {
    switch (error) {
        case ENOENT:
            return fmt::format(
                "{}: found no admin socket: is the instance running? One that is not a service "
                "needs `run --admin PATH`, and that path instead of a name",
                path);
        case ECONNREFUSED:
            return fmt::format("{}: no instance listens at this socket any more", path);
        case EACCES:
            return fmt::format("{}: only root and the instance's group (pinstrike) may connect",
                               path);
        case EAGAIN:
            return fmt::format("{}: no answer within {} s: its control thread does not respond",
                               path, silence_s);
        default:
            return fmt::format("{}: {}", path, std::strerror(error));
    }
}

/// Passes the whole lines of `text` to `take` and keeps the rest. False: `take` wants no more.
bool pass_lines(std::string& text, const std::function<bool(const std::string&)>& on_line) {
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos;
         end = text.find('\n', begin)) {
        if (!on_line(text.substr(begin, end - begin))) {
            return false;
        }
        begin = end + 1;
    }
    text.erase(0, begin);
    return true;
}

}  // namespace

bool ask(const std::string& path, const std::string& request,
         const std::function<bool(const std::string& line)>& on_line, bool patient,
         std::string& complaint) {
    const auto address = socket_address(path);
    if (!address) {
        complaint = fmt::format("{}: too long for a socket's path (107 bytes)", path);
        return false;
    }
    const nic::FileDescriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    const timeval to_ask{silence_s, 0};  // for connect too
    const timeval to_hear{patient ? 0 : silence_s, 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &to_ask, sizeof to_ask);
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &to_hear, sizeof to_hear);
    // A request is so short that the kernel takes it whole.
    const std::string line = request + '\n';
    if (::connect(socket.get(), as_any(*address), sizeof *address) != 0 ||
        ::send(socket.get(), line.data(), line.size(), MSG_NOSIGNAL) < 0) {
        complaint = why_not(path, errno);
        return false;
    }
    std::string text;
    std::array<char, 65536> piece;  // filled by recv
    while (true) {
        const ssize_t count = ::recv(socket.get(), piece.data(), piece.size(), 0);
        if (count == 0) {
            return true;
        }
        if (count < 0) {
            if (errno == EINTR) {
                continue;
            }
            complaint = why_not(path, errno);
            return false;
        }
        text.append(piece.data(), static_cast<std::size_t>(count));
        if (!pass_lines(text, on_line)) {
            return true;
        }
    }
}

std::optional<nlohmann::json> ask_once(const std::string& instance, const nlohmann::json& request,
                                       std::string& complaint) {
    const std::string path = socket_path(instance);
    std::string answer;
    const auto on_line = [&answer](const std::string& line) {
        answer = line;
        return false;
    };
    if (!ask(path, request.dump(), on_line, false, complaint)) {
        return std::nullopt;
    }
    nlohmann::json reply = nlohmann::json::parse(answer, nullptr, false);
    if (!reply.is_object()) {
        complaint = fmt::format("{}: the instance ended without an answer", path);
        return std::nullopt;
    }
    return reply;
}

}  // namespace pinstrike::actors::admin
