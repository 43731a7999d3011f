// path: cold
#include "nic/uring/uring_ring.h"

#include "config/check.h"
#include "nic/uring/uring_sockets.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

namespace pinstrike::nic {

namespace {

/// The flags of the ring, in order of preference. With DEFER_TASKRUN (Linux 6.1) completions run
/// only when the poll thread asks for them; COOP_TASKRUN (5.19) at least avoids the inter-processor
/// interrupt. TASKRUN_FLAG shows without a system call whether completions are waiting.
constexpr std::array setups{
    static_cast<unsigned>(IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
                          IORING_SETUP_TASKRUN_FLAG),
    static_cast<unsigned>(IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG),
    0U,
};

std::string kernel_release() {
    utsname name{};
    uname(&name);
    return static_cast<const char*>(name.release);
}

int open_ring(unsigned entries, unsigned buffers_count, io_uring& ring) {
    int result = -EINVAL;
    for (const unsigned setup : setups) {
        io_uring_params params{};
        params.flags = setup | IORING_SETUP_R_DISABLED | IORING_SETUP_CQSIZE;
        params.cq_entries = std::max(entries, buffers_count) * 2;
        result = io_uring_queue_init_params(entries, &ring, &params);
        if (result != -EINVAL) {
            break;
        }
    }
    return result;
}

std::string ring_advice(int error) {
    switch (error) {
        case EPERM:
            return "; `sysctl kernel.io_uring_disabled` must be 0, and no seccomp filter may "
                   "forbid it";
        case ENOSYS:
            return "; this kernel has no io_uring";
        case ENOMEM:
            return "; raise `ulimit -l`";
        default:
            return "";
    }
}

/// Replaces functions of liburing 2.3 that it declares but does not export.
bool register_with(const io_uring& ring, unsigned what, const void* argument, unsigned count) {
    return syscall(SYS_io_uring_register, ring.ring_fd, what, argument, count) == 0;
}

/// Tries a multishot recvmsg (Linux 6.0) on a socket pair; returns 0 or its errno.
int try_multishot(UringRing& ring) {
    std::array<int, 2> pair{};
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair.data()) != 0) {
        return errno;
    }
    const FileDescriptor ours(pair[0]);
    const FileDescriptor theirs(pair[1]);
    ring.enable();
    ring.provide(0, 0);
    ring.publish(1);
    io_uring_sqe* sqe = io_uring_get_sqe(ring.get());
    msghdr message{};
    io_uring_prep_recvmsg_multishot(sqe, ours.get(), &message, 0);
    sqe->flags |= IOSQE_BUFFER_SELECT;
    sqe->buf_group = UringRing::buffer_group;
    if (send(theirs.get(), "x", 1, 0) != 1) {
        return errno;
    }
    const int submitted = io_uring_submit_and_wait(ring.get(), 1);
    io_uring_cqe* cqe = nullptr;
    if (submitted < 0 || io_uring_peek_cqe(ring.get(), &cqe) != 0) {
        return submitted < 0 ? -submitted : EINVAL;
    }
    const int result = cqe->res;
    io_uring_cqe_seen(ring.get(), cqe);
    return result < 0 ? -result : 0;
}

}  // namespace

bool UringRing::map_buffers(Problems& problems) {
    const std::size_t entries_bytes = buffers_count_ * sizeof(io_uring_buf);
    const std::size_t all_bytes = entries_bytes + buffers_count_ * buffer_bytes_;
    void* memory = mmap(nullptr, all_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) {
        add_problem(problems, "",
                    fmt::format("io_uring: no {} bytes of memory for receive buffers", all_bytes),
                    Remedy::retry);
        return false;
    }
    entries_ = static_cast<io_uring_buf_ring*>(memory);
    buffers_ = static_cast<std::byte*>(memory) + entries_bytes;
    io_uring_buf_reg registration{};
    registration.ring_addr = std::bit_cast<std::uint64_t>(memory);
    registration.ring_entries = buffers_count_;
    registration.bgid = buffer_group;
    io_uring_buf_ring_init(entries_);
    const int result = io_uring_register_buf_ring(&ring_, &registration, 0);
    if (result != 0) {
        add_problem(
            problems, "",
            fmt::format("io_uring: a ring of buffers was refused: {}; Linux 6.0 is needed, {} "
                        "found",
                        std::strerror(-result), kernel_release()));
    }
    return result == 0;
}

std::unique_ptr<UringRing> UringRing::make(std::size_t entries_count, std::size_t buffer_bytes,
                                           unsigned buffers_count, Problems& problems) {
    std::unique_ptr<UringRing> ring(new UringRing(buffer_bytes, buffers_count));
    const auto entries = static_cast<unsigned>(std::bit_ceil(entries_count));
    if (const int result = open_ring(entries, buffers_count, ring->ring_); result != 0) {
        add_problem(
            problems, "",
            fmt::format("io_uring: {}{}", std::strerror(-result), ring_advice(-result)),
            result == -ENOMEM ? Remedy::change : remedy_of(-result));  // ENOMEM: `ulimit -l`
        return nullptr;
    }
    ring->ring_open_ = true;
    return ring->map_buffers(problems) ? std::move(ring) : nullptr;
}

std::unique_ptr<UringRing> UringRing::open(std::size_t sockets_count, std::size_t buffer_bytes,
                                           unsigned buffers_count, Problems& problems) {
    // The trial needs a ring of its own because a ring belongs to the thread that enables it.
    const std::unique_ptr<UringRing> trial = make(1, buffer_bytes, 2, problems);
    if (trial == nullptr) {
        return nullptr;
    }
    if (const int error = try_multishot(*trial); error != 0) {
        add_problem(problems, "",
                    fmt::format("io_uring: no multishot recvmsg: {}; Linux 6.0 is needed, {} found",
                                std::strerror(error), kernel_release()));
        return nullptr;
    }
    std::unique_ptr<UringRing> ring =
        make(std::max<std::size_t>(sockets_count, 1), buffer_bytes, buffers_count, problems);
    if (ring != nullptr && !ring->restrict_to_receiving(problems)) {
        return nullptr;
    }
    if (ring != nullptr) {
        for (unsigned index = 0; index < buffers_count; ++index) {
            ring->provide(static_cast<std::uint16_t>(index), index);
        }
        ring->publish(buffers_count);
    }
    return ring;
}

UringRing::~UringRing() {
    if (ring_open_) {
        io_uring_queue_exit(&ring_);
    }
    if (entries_ != nullptr) {
        munmap(entries_, buffers_count_ * (sizeof(io_uring_buf) + buffer_bytes_));
    }
}

/// Restricts the ring to receives into provided buffers (Linux 5.10), because seccomp does not
/// filter operations that are submitted through a ring.
bool UringRing::restrict_to_receiving(Problems& problems) {
    std::array<io_uring_restriction, 2> allowed{};
    allowed[0].opcode = IORING_RESTRICTION_SQE_OP;
    allowed[0].sqe_op = IORING_OP_RECVMSG;
    allowed[1].opcode = IORING_RESTRICTION_SQE_FLAGS_ALLOWED;
    allowed[1].sqe_flags = IOSQE_BUFFER_SELECT;
    const bool done = register_with(ring_, IORING_REGISTER_RESTRICTIONS, allowed.data(),
                                    static_cast<unsigned>(allowed.size()));
    if (!done) {
        add_problem(
            problems, "",
            fmt::format("io_uring: the ring cannot be restricted: {}", std::strerror(errno)));
    }
    return done;
}

void UringRing::enable() {
    PINSTRIKE_CHECK(register_with(ring_, IORING_REGISTER_ENABLE_RINGS, nullptr, 0));
}

}  // namespace pinstrike::nic
