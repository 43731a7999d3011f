// path: cold
#include "nic/frame_sender.h"

#include <fmt/format.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace pinstrike::nic {

namespace {

constexpr std::size_t batch_packets = 64;
constexpr long full_queue_wait_ns = 50'000;
constexpr int send_buffer_bytes = 8 << 20;

/// Adds a problem with the text of `errno`.
void add_error(Problems& problems, const std::string& what) {
    const int error = errno;
    add_problem(problems, "", fmt::format("{}: {}", what, std::strerror(error)), remedy_of(error));
}

}  // namespace

std::optional<FrameSender> FrameSender::open(const std::string& interface, Problems& problems) {
    const unsigned index = if_nametoindex(interface.c_str());
    if (index == 0) {
        add_error(problems, "found no interface " + interface);
        return std::nullopt;
    }
    // Protocol 0, because this socket must not receive packets.
    FrameSender sender{FileDescriptor{socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)}};
    if (!sender.socket_.valid()) {
        add_error(problems, "cannot open a packet socket (needs CAP_NET_RAW)");
        return std::nullopt;
    }
    const int descriptor = sender.socket_.get();
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_ifindex = static_cast<int>(index);
    // bind() takes the address of every family as a sockaddr.
    if (bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        add_error(problems, "cannot send on " + interface);
        return std::nullopt;
    }
    // A failure is ignored because a smaller buffer only makes send() wait more often.
    static_cast<void>(setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &send_buffer_bytes,
                                 sizeof send_buffer_bytes));
    return sender;
}

bool FrameSender::send(std::span<const Packet> frames) {
    std::array<mmsghdr, batch_packets> headers;
    std::array<iovec, batch_packets> pieces;
    while (!frames.empty()) {
        const std::size_t count = std::min(frames.size(), batch_packets);
        for (std::size_t i = 0; i < count; ++i) {
            // sendmmsg does not write to the bytes. iovec is not const because receive calls use it
            // too.
            pieces[i] = {const_cast<std::byte*>(frames[i].bytes), frames[i].length_bytes};
            headers[i] = {};
            headers[i].msg_hdr.msg_iov = &pieces[i];
            headers[i].msg_hdr.msg_iovlen = 1;
        }
        const int sent = sendmmsg(socket_.get(), headers.data(), static_cast<unsigned>(count), 0);
        if (sent > 0) {
            sent_packets_ += static_cast<unsigned>(sent);
            frames = frames.subspan(static_cast<std::size_t>(sent));
        } else if (errno == ENOBUFS || errno == EAGAIN || errno == EINTR) {
            const timespec wait{0, full_queue_wait_ns};
            nanosleep(&wait, nullptr);
        } else {
            error_ = errno;
            return false;
        }
    }
    return true;
}

std::string FrameSender::error_text() const {
    return error_ == 0 ? "" : std::strerror(error_);
}

}  // namespace pinstrike::nic
