// path: mixed, hot: receive() and what it calls
#include "nic/uring/uring_port.h"

#include "config/cache_line.h"
#include "config/check.h"
#include "config/growing_list.h"
#include "config/time_units.h"
#include "nic/packet/udp_frame_writer.h"
#include "nic/uring/uring_config.h"
#include "nic/uring/uring_ring.h"
#include "nic/uring/uring_sockets.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

namespace pinstrike::nic {

namespace {

// The layout of a buffer (uring_port.h). io_uring reserves the requested sizes for name and
// control.
constexpr std::size_t name_bytes = sizeof(sockaddr_in);
constexpr std::size_t control_bytes = CMSG_SPACE(sizeof(timespec));
constexpr std::size_t name_at = sizeof(io_uring_recvmsg_out);
constexpr std::size_t control_at = name_at + name_bytes;
constexpr std::size_t payload_at = control_at + control_bytes;
constexpr std::size_t headers_bytes = udp_headers_bytes(0);
constexpr std::size_t headers_at = payload_at - headers_bytes;
static_assert(payload_at == cache_line_bytes && headers_bytes == 42);

/// Enough for datagrams of jumbo frames. Buffers for the 64 KiB MTU of the loopback interface would
/// waste memory.
constexpr std::size_t payload_bytes_max = jumbo_packet_bytes;

constexpr std::size_t ip_at = ethernet_header_bytes;
constexpr std::size_t udp_at = ip_at + ipv4_header_bytes_min;

}  // namespace

/// A list whose capacity is fixed at the start, so that add() never allocates.
template <class Number>
class FixedList {
  public:
    void reserve(std::size_t count) { numbers_ = std::make_unique<Number[]>(capacity_ = count); }

    void add(Number number) noexcept {
        PINSTRIKE_CHECK(count_ < capacity_);
        numbers_[count_] = number;
        ++count_;
    }

    void clear() noexcept { count_ = 0; }

    [[nodiscard]] std::span<const Number> items() const noexcept {
        return {numbers_.get(), count_};
    }

  private:
    std::unique_ptr<Number[]> numbers_;
    std::size_t capacity_ = 0;
    std::size_t count_ = 0;
};

/// One group: its socket, and a template of its datagrams' headers. Length, source address and
/// source port are filled in per datagram.
struct GroupSocket {
    FileDescriptor fd;
    Group group;
    /// The index of the interface on which the group is joined. After open() only the control
    /// thread uses it.
    unsigned joined_at = 0;
    std::array<std::byte, headers_bytes> headers{};
    /// The checksum sum of the IPv4 header in `headers`, whose total length, checksum and source
    /// address are zero.
    ChecksumSum ip_sum = 0;
};

struct UringState {
    explicit UringState(std::size_t sockets_max) : sockets(sockets_max) {}

    NetworkInterface interface;
    std::size_t kernel_buffer_bytes = 0;
    GrowingList<GroupSocket> sockets;  ///< the poll thread adds sockets; cold threads read
    std::unique_ptr<UringRing> ring;
    msghdr message{};                       ///< sizes of name and control, equal for all receives
    FixedList<std::uint16_t> held_buffers;  ///< buffers of the last burst
    FixedList<std::uint32_t> to_arm;        ///< sockets whose receive ended; receive() arms them
    FixedList<std::uint32_t> failed;        ///< housekeep() arms them later: no busy loop on errors
    std::vector<std::string> remarks;
    FileDescriptor link_socket;
    bool link_was_up = false;
    /// The index of the interface on which all sockets have joined their groups; 0: not all have.
    /// The control thread writes it. Relaxed order is enough because it publishes no other data to
    /// the poll thread.
    std::atomic<unsigned> joined_at = 0;
    bool started = false;
    Counter errors;
};

namespace {

std::unique_ptr<GroupSocket> group_socket(FileDescriptor fd, Group group, unsigned index) {
    auto made = std::make_unique<GroupSocket>();
    GroupSocket& socket = *made;
    socket.fd = std::move(fd);
    socket.group = group;
    socket.joined_at = index;
    UdpRoute route;
    route.destination = group;
    route.source_mac = Mac{};
    write_udp_headers(socket.headers.data(), route, 0, UdpChecksumSent::none);
    std::byte* ip = socket.headers.data() + ip_at;
    store_be16(ip + 2, 0);
    store_be16(ip + 10, 0);
    socket.ip_sum = checksum_sum(ip, ipv4_header_bytes_min);
    return made;
}

/// True if the link is up, and the groups are joined on the interface that had the name at the last
/// follow_interface().
bool is_linked(const UringState& state) {
    return state.joined_at.load(std::memory_order_relaxed) != 0 &&
           link_is_up(state.link_socket.get(), state.interface);
}

/// Groups that the sockets have joined, but whose datagrams are not received yet.
struct JoinedGroups final : MoreGroups {
    std::vector<std::unique_ptr<GroupSocket>> sockets;
};

}  // namespace

UringPort::UringPort(std::string name, std::unique_ptr<UringState> state)
    : Port(std::move(name)), state_(std::move(state)) {}

UringPort::~UringPort() = default;

std::unique_ptr<UringPort> UringPort::open(const PortConfig& config, std::string name,
                                           const std::vector<Group>& groups, Problems& problems,
                                           unsigned buffers_count) {
    const auto& own = config.own.get<UringConfig>();
    const std::size_t problems_before = problems.size();
    const std::size_t sockets_max = groups.size() + more_groups_max;
    auto state = std::make_unique<UringState>(sockets_max);
    const std::optional<NetworkInterface> interface = find_interface(own.interface, problems);
    if (!interface) {
        return nullptr;
    }
    state->interface = *interface;
    state->kernel_buffer_bytes = own.kernel_buffer_bytes;
    for (const Group group : groups) {
        FileDescriptor fd =
            open_group_socket(*interface, group, own.kernel_buffer_bytes, problems, state->remarks);
        if (problems.size() != problems_before) {
            return nullptr;  // the other groups would fail for the same reason
        }
        state->sockets.add(group_socket(std::move(fd), group, interface->index));
    }
    state->joined_at.store(interface->index, std::memory_order_relaxed);
    if (std::string remark = reverse_path_remark(*interface); !remark.empty()) {
        state->remarks.push_back(std::move(remark));
    }
    const std::size_t payload_bytes = std::min(interface->mtu_bytes, payload_bytes_max);
    const std::size_t buffer_bytes = whole_cache_lines(payload_at + payload_bytes);
    state->ring = UringRing::open(sockets_max, buffer_bytes, buffers_count, problems);
    if (state->ring == nullptr) {
        return nullptr;
    }
    state->message.msg_namelen = name_bytes;
    state->message.msg_controllen = control_bytes;
    state->held_buffers.reserve(buffers_count);
    state->to_arm.reserve(sockets_max);
    state->failed.reserve(sockets_max);
    state->link_socket = FileDescriptor(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    state->link_was_up = link_is_up(state->link_socket.get(), *interface);
    return std::unique_ptr<UringPort>(new UringPort(std::move(name), std::move(state)));
}

void UringPort::start() {
    state_->started = true;
    state_->ring->enable();
    for (std::uint32_t index = 0; index < state_->sockets.size(); ++index) {
        state_->to_arm.add(index);
    }
}

std::unique_ptr<MoreGroups> UringPort::prepare(std::span<const Group> groups, Problems& problems) {
    if (groups.size() > state_->sockets.room()) {
        add_problem(problems, "",
                    fmt::format("port {}: found no free slots for {} more groups while it runs",
                                name(), groups.size() - state_->sockets.room()));
        return nullptr;
    }
    const std::size_t problems_before = problems.size();
    auto joined = std::make_unique<JoinedGroups>();
    for (const Group group : groups) {
        std::vector<std::string> remarks;
        FileDescriptor fd = open_group_socket(state_->interface, group, state_->kernel_buffer_bytes,
                                              problems, remarks);
        // The process may have given up the capability for large buffers since the start. The new
        // sockets would then lose bursts that the others can hold.
        for (const std::string& remark : remarks) {
            if (std::find(state_->remarks.begin(), state_->remarks.end(), remark) ==
                state_->remarks.end()) {
                add_problem(problems, "",
                            fmt::format("port {}: needs a restart: {}", name(), remark));
            }
        }
        if (problems.size() != problems_before) {
            return nullptr;
        }
        joined->sockets.push_back(group_socket(std::move(fd), group, state_->interface.index));
    }
    return joined;
}

void UringPort::join(MoreGroups& groups, std::int64_t /*now_ns*/) {
    for (auto& socket : static_cast<JoinedGroups&>(groups).sockets) {
        if (state_->started) {  // otherwise start() arms all sockets
            state_->to_arm.add(static_cast<std::uint32_t>(state_->sockets.size()));
        }
        state_->sockets.add(std::move(socket));
    }
}

void UringPort::housekeep(std::int64_t /*now_ns*/) {
    for (const std::uint32_t index : state_->failed.items()) {
        state_->to_arm.add(index);
    }
    state_->failed.clear();
    const bool up = is_linked(*state_);
    if (up != state_->link_was_up) {
        state_->link_was_up = up;
        counters_.bump(PortCount::link_changes);
    }
}

InterfaceChange UringPort::follow_interface() const {
    const unsigned index = index_of(state_->interface.name);
    if (index == 0) {  // there is no such interface now, and link_is_up() reports that
        return InterfaceChange::none;
    }
    bool all = true;
    bool some = false;
    for (const auto& socket : state_->sockets) {
        if (socket->joined_at == index) {
            continue;
        }
        if (join_again(socket->fd.get(), socket->group, socket->joined_at, index)) {
            socket->joined_at = index;
            some = true;
        } else {
            all = false;  // the next call tries again
        }
    }
    state_->interface.index = index;
    state_->joined_at.store(all ? index : 0, std::memory_order_relaxed);
    return some ? InterfaceChange::joined_again : InterfaceChange::none;
}

DeviceStatistics UringPort::statistics() const {
    DeviceStatistics statistics;
    std::uint64_t missed = 0;
    for (const auto& socket : state_->sockets) {
        missed += socket_drops(socket->fd.get());
    }
    statistics.missed = missed;
    statistics.errors = state_->errors.read();
    // An interface that was made again is up before the groups are joined on it.
    const unsigned joined_at = state_->joined_at.load(std::memory_order_relaxed);
    statistics.link_up = is_linked(*state_) && joined_at == index_of(state_->interface.name);
    return statistics;
}

std::vector<std::string> UringPort::remarks() const {
    return state_->remarks;
}

// --- hot ---

namespace {

/// Returns the buffers of the last burst to the kernel.
void return_buffers(UringState& state) {
    std::size_t count = 0;
    for (const std::uint16_t buffer : state.held_buffers.items()) {
        state.ring->provide(buffer, count);
        ++count;
    }
    state.ring->publish(count);
    state.held_buffers.clear();
}

/// Arms the receives that are not running: all of them at the start, and later those that ended
/// because the kernel had no buffer. The datagrams of these stay in the socket.
void arm(UringState& state) {
    for (const std::uint32_t index : state.to_arm.items()) {
        io_uring_sqe* sqe = io_uring_get_sqe(state.ring->get());
        PINSTRIKE_CHECK(sqe != nullptr);  // the ring has an entry for every socket
        io_uring_prep_recvmsg_multishot(sqe, state.sockets[index].fd.get(), &state.message, 0);
        sqe->flags |= IOSQE_BUFFER_SELECT;
        sqe->buf_group = UringRing::buffer_group;
        io_uring_sqe_set_data64(sqe, index);
    }
    state.to_arm.clear();
    io_uring_submit(state.ring->get());
}

/// The kernel's time stamp of a datagram, or `now_ns` if it has none.
std::int64_t time_of(const std::byte* buffer, std::int64_t now_ns) {
    io_uring_recvmsg_out out;
    std::memcpy(&out, buffer, sizeof out);
    cmsghdr header;
    if (out.controllen < CMSG_LEN(sizeof(timespec))) {
        return now_ns;
    }
    std::memcpy(&header, buffer + control_at, sizeof header);
    if (header.cmsg_level != SOL_SOCKET || header.cmsg_type != SCM_TIMESTAMPNS) {
        return now_ns;
    }
    timespec time;
    std::memcpy(&time, buffer + control_at + CMSG_LEN(0), sizeof time);
    return time.tv_sec * second_ns + time.tv_nsec;
}

/// Makes a frame of a received datagram: writes headers in front of the payload, over name and
/// control.
Packet frame_of(const GroupSocket& socket, std::byte* buffer, std::size_t payload_bytes,
                std::int64_t now_ns) {
    Packet packet;
    packet.ts_receive_ns = time_of(buffer, now_ns);
    sockaddr_in sender;
    std::memcpy(&sender, buffer + name_at, sizeof sender);
    std::byte* frame = buffer + headers_at;
    std::memcpy(frame, socket.headers.data(), headers_bytes);
    const auto udp_bytes = static_cast<std::uint16_t>(udp_header_bytes + payload_bytes);
    const auto ip_bytes = static_cast<std::uint16_t>(ipv4_header_bytes_min + udp_bytes);
    store_be16(frame + ip_at + 2, ip_bytes);
    std::memcpy(frame + ip_at + 12, &sender.sin_addr, 4);
    store_checksum(frame + ip_at + 10,
                   socket.ip_sum + __builtin_bswap16(ip_bytes) + sender.sin_addr.s_addr);
    std::memcpy(frame + udp_at, &sender.sin_port, 2);
    store_be16(frame + udp_at + 4, udp_bytes);
    packet.bytes = frame;
    packet.length_bytes = static_cast<std::uint32_t>(headers_bytes + payload_bytes);
    packet.udp_checksum = Checksum::good;
    packet.ip_checksum = Checksum::good;
    return packet;
}

/// Processes one completion; true if it filled `packet`.
bool process_completion(UringState& state, const io_uring_cqe& cqe, std::int64_t now_ns,
                        Packet& packet) {
    const auto index = static_cast<std::uint32_t>(cqe.user_data);
    if ((cqe.flags & IORING_CQE_F_MORE) == 0) {
        const bool may_go_on_at_once = cqe.res >= 0 || cqe.res == -ENOBUFS;
        (may_go_on_at_once ? state.to_arm : state.failed).add(index);
    }
    if ((cqe.flags & IORING_CQE_F_BUFFER) == 0) {
        state.errors.add(cqe.res == -ENOBUFS ? 0 : 1);
        return false;
    }
    const auto buffer_index = static_cast<std::uint16_t>(cqe.flags >> IORING_CQE_BUFFER_SHIFT);
    state.held_buffers.add(buffer_index);
    std::byte* buffer = state.ring->buffer(buffer_index);
    io_uring_recvmsg_out out;
    std::memcpy(&out, buffer, sizeof out);
    if (cqe.res < static_cast<int>(payload_at) || (out.flags & MSG_TRUNC) != 0) {
        state.errors.add();
        return false;
    }
    packet = frame_of(state.sockets[index], buffer, static_cast<std::size_t>(cqe.res) - payload_at,
                      now_ns);
    return true;
}

}  // namespace

std::size_t UringPort::receive(std::span<Packet> burst, std::int64_t now_ns) {
    UringState& state = *state_;
    if (!state.started) [[unlikely]] {
        start();
    }
    if (!state.held_buffers.items().empty()) {
        return_buffers(state);
    }
    if (!state.to_arm.items().empty()) {
        arm(state);
    }
    // Loops until the burst is full or no completion is ready. Not every completion has a packet,
    // and after a burst that is not full, arbitration assumes that no packet is waiting.
    std::array<io_uring_cqe*, 64> completions;
    std::size_t count = 0;
    while (count < burst.size()) {
        const auto wanted = std::min(burst.size() - count, completions.size());
        const unsigned ready = io_uring_peek_batch_cqe(state.ring->get(), completions.data(),
                                                       static_cast<unsigned>(wanted));
        if (ready == 0) {
            break;
        }
        for (unsigned i = 0; i < ready; ++i) {
            count += process_completion(state, *completions[i], now_ns, burst[count]) ? 1 : 0;
        }
        io_uring_cq_advance(state.ring->get(), ready);
    }
    count_burst(burst.first(count), burst.size());
    return count;
}

}  // namespace pinstrike::nic
