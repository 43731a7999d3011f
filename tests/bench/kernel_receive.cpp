// path: cold
//
// Measures receiving from the kernel: our uring port compared with epoll and recvmmsg, which most
// programs would use, on a veth pair in a network namespace. Both report the same facts about a
// datagram: bytes, sender, group and time stamp. The sockets are filled first, and only the
// receiving thread's processor time until they are empty counts. The figures therefore exclude the
// sender's work.
#include "nic/open_port.h"
#include "nic/uring/uring_config.h"
#include "nic/uring/uring_sockets.h"
#include "tests/bench/measure.h"
#include "tests/bench/shapes.h"
#include "tests/nic/frames.h"
#include "tests/nic/network_namespace.h"

#include <netinet/in.h>
#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>

namespace pinstrike::bench {
namespace {

constexpr std::size_t burst_packets = 64;
constexpr std::size_t fill_packets = 192;  ///< what a socket holds with the usual limits of a host
constexpr std::size_t buffer_bytes = 1 << 20;
constexpr int fills = 200;

std::vector<nic::Group> groups_of(std::size_t count) {
    std::vector<nic::Group> groups;
    for (std::uint32_t line = 1; line <= count; ++line) {
        groups.push_back({{0xE000CC00 + line}, static_cast<std::uint16_t>(45000 + line)});
    }
    return groups;
}

/// Receives up to a burst of datagrams. Returns their number.
class Receiver {
  public:
    virtual ~Receiver() = default;
    virtual std::size_t receive() = 0;
};

class OurPort final : public Receiver {
  public:
    explicit OurPort(std::unique_ptr<nic::Port> port) : port_(std::move(port)) {}

    std::size_t receive() override {
        const std::size_t count = port_->receive(burst_, ++now_ns_);
        keep(burst_);
        return count;
    }

  private:
    std::unique_ptr<nic::Port> port_;
    std::array<nic::Packet, burst_packets> burst_;
    std::int64_t now_ns_ = 0;
};

class Recvmmsg final : public Receiver {
  public:
    explicit Recvmmsg(std::vector<nic::FileDescriptor> sockets)
        : sockets_(std::move(sockets)), poll_(epoll_create1(EPOLL_CLOEXEC)) {
        for (const nic::FileDescriptor& socket : sockets_) {
            epoll_event event{};
            event.events = EPOLLIN;
            event.data.fd = socket.get();
            epoll_ctl(poll_.get(), EPOLL_CTL_ADD, socket.get(), &event);
        }
        for (std::size_t i = 0; i < burst_packets; ++i) {
            parts_[i] = {bytes_[i].data(), bytes_[i].size()};
        }
    }

    std::size_t receive() override {
        if (next_ == ready_) {
            next_ = 0;
            ready_ = epoll_wait(poll_.get(), events_.data(), burst_packets, 0);
            if (ready_ <= 0) {
                return static_cast<std::size_t>(ready_ = 0);
            }
        }
        for (std::size_t i = 0; i < burst_packets; ++i) {
            msghdr& header = messages_[i].msg_hdr;
            header = {};
            header.msg_name = &senders_[i];
            header.msg_namelen = sizeof senders_[i];
            header.msg_iov = &parts_[i];
            header.msg_iovlen = 1;
            header.msg_control = controls_[i].data();
            header.msg_controllen = controls_[i].size();
        }
        const int fd = events_[static_cast<std::size_t>(next_++)].data.fd;
        const int count = recvmmsg(fd, messages_.data(), burst_packets, MSG_DONTWAIT, nullptr);
        keep(messages_);
        return static_cast<std::size_t>(std::max(count, 0));
    }

  private:
    std::vector<nic::FileDescriptor> sockets_;
    nic::FileDescriptor poll_;
    int next_ = 0;
    int ready_ = 0;
    std::array<epoll_event, burst_packets> events_{};
    std::array<mmsghdr, burst_packets> messages_{};
    std::array<iovec, burst_packets> parts_{};
    std::array<sockaddr_in, burst_packets> senders_{};
    std::array<std::array<std::byte, 64>, burst_packets> controls_{};
    std::array<std::array<std::byte, 2048>, burst_packets> bytes_{};
};

std::unique_ptr<Receiver> our_port(const std::vector<nic::Group>& groups, Problems& problems) {
    nic::PortConfig config;
    config.name = "bench";
    config.kind = nic::PortKind::uring;
    config.own.get<nic::UringConfig>() = {nic::wire_near, buffer_bytes};
    auto ports = nic::open_port(config, {groups}, {}, problems);
    return ports.empty() ? nullptr : std::make_unique<OurPort>(std::move(ports.front()));
}

std::unique_ptr<Receiver> recvmmsg_of(const std::vector<nic::Group>& groups, Problems& problems) {
    const auto interface = nic::find_interface(nic::wire_near, problems);
    std::vector<nic::FileDescriptor> sockets;
    std::vector<std::string> remarks;
    for (std::size_t i = 0; interface && i < groups.size(); ++i) {
        sockets.push_back(
            nic::open_group_socket(*interface, groups[i], buffer_bytes, problems, remarks));
    }
    return problems.empty() ? std::make_unique<Recvmmsg>(std::move(sockets)) : nullptr;
}

std::vector<std::vector<std::byte>> frames_of(const Shape& shape,
                                              const std::vector<nic::Group>& groups) {
    BlockMaker blocks(shape, 1, 100'000);
    std::vector<std::vector<std::byte>> frames;
    for (std::size_t i = 0; i < fill_packets; ++i) {
        unsigned messages = 0;
        const nic::Group group = groups[i % groups.size()];
        frames.push_back(
            nic::udp_frame(nic::route_to(group.address, group.port), blocks.make(1, messages)));
    }
    return frames;
}

/// Nanoseconds of the receiving thread for each datagram; nullopt if some never arrived.
std::optional<double> ns_per_packet(Receiver& receiver,
                                    const std::vector<std::vector<std::byte>>& frames) {
    const nic::RawWire far(nic::wire_far);
    double seconds = 0;
    for (int fill = 0; fill < fills; ++fill) {
        for (const auto& frame : frames) {
            if (!far.send(frame)) {
                return std::nullopt;
            }
        }
        const auto patience_ends = std::chrono::steady_clock::now() + std::chrono::seconds(1);
        for (std::size_t got = 0; got < frames.size();) {
            const double begin = cpu_seconds();
            const std::size_t count = receiver.receive();
            seconds += count != 0 ? cpu_seconds() - begin : 0;
            got += count;
            if (std::chrono::steady_clock::now() > patience_ends) {
                return std::nullopt;
            }
        }
    }
    return seconds * 1e9 / (static_cast<double>(frames.size()) * fills);
}

bool measure(const Shape& shape, std::size_t groups_count, int runs) {
    const std::vector<nic::Group> groups = groups_of(groups_count);
    const auto frames = frames_of(shape, groups);
    std::vector<double> ours;
    std::vector<double> theirs;
    for (int run = 0; run < runs; ++run) {
        for (auto [make, figures] :
             {std::pair{&our_port, &ours}, std::pair{&recvmmsg_of, &theirs}}) {
            Problems problems;
            const std::unique_ptr<Receiver> receiver = make(groups, problems);
            const auto ns = receiver ? ns_per_packet(*receiver, frames) : std::nullopt;
            if (!ns) {
                std::printf("%s\n", problems.empty() ? "datagrams were lost on the way"
                                                     : problems.front().text.c_str());
                return false;
            }
            figures->push_back(*ns);
        }
    }
    const std::string name = std::string(shape.name) + ", " + std::to_string(groups_count) +
                             (groups_count == 1 ? " group: " : " groups: ");
    print_row(name + "pinstrike, io_uring", spread_of(ours), "ns");
    print_row(name + "epoll and recvmmsg", spread_of(theirs), "ns");
    return true;
}

}  // namespace
}  // namespace pinstrike::bench

int main(int argc, char** argv) {
    using namespace pinstrike;
    const int runs = argc > 1 ? std::max(std::atoi(argv[1]), 1) : 5;
    if (const std::string reason = nic::enter_network_namespace(); !reason.empty()) {
        std::printf("skipped: %s\n", reason.c_str());
        return 77;
    }
    bench::print_head("receive from the kernel, a datagram");
    for (const bench::Shape& shape : {bench::shapes[0], bench::shapes[2]}) {
        for (const std::size_t groups : {std::size_t{1}, std::size_t{96}}) {
            if (!bench::measure(shape, groups, runs)) {
                return 1;
            }
        }
    }
    return 0;
}
