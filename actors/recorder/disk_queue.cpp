// path: cold
#include "actors/recorder/disk_queue.h"

#include "config/check.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <liburing.h>
#include <sched.h>
#include <sys/uio.h>

#include <cstring>
#include <deque>
#include <vector>

namespace pinstrike::actors {

namespace {

constexpr unsigned ring_entries = 256;

class UringQueue final : public DiskQueue {
  public:
    ~UringQueue() override {
        if (open_) {
            ::io_uring_queue_exit(&ring_);
        }
    }

    /// 0, or the errno of the failure.
    [[nodiscard]] int open(std::span<const std::span<std::byte>> memories) {
        const int failed = -::io_uring_queue_init(ring_entries, &ring_, 0);
        open_ = failed == 0;
        if (open_) {
            std::vector<iovec> buffers;
            for (const std::span<std::byte> memory : memories) {
                buffers.push_back({memory.data(), memory.size()});
            }
            // Without the right to lock that much memory, the kernel maps the buffers for each
            // write.
            buffers_registered_ =
                ::io_uring_register_buffers(&ring_, buffers.data(),
                                            static_cast<unsigned>(buffers.size())) == 0;
        }
        return failed;
    }

    void add(const Order& order) override {
        io_uring_sqe* const entry = next_entry();
        const auto bytes = static_cast<unsigned>(order.bytes.size());
        if (bytes == 0) {
            ::io_uring_prep_fsync(entry, order.fd, IORING_FSYNC_DATASYNC);
        } else if (buffers_registered_) {
            ::io_uring_prep_write_fixed(entry, order.fd, order.bytes.data(), bytes, order.offset,
                                        static_cast<int>(order.memory));
        } else {
            ::io_uring_prep_write(entry, order.fd, order.bytes.data(), bytes, order.offset);
        }
        ::io_uring_sqe_set_data(entry, order.of);
    }

    void remove(const std::string& path, void* of) override {
        io_uring_sqe* const entry = next_entry();
        paths_.push_back(path);
        ::io_uring_prep_unlinkat(entry, AT_FDCWD, paths_.back().c_str(), 0);
        ::io_uring_sqe_set_data(entry, of);
    }

    void submit() override {
        if (!workers_placed_) {
            place_workers();
            workers_placed_ = true;
        }
        if (::io_uring_sq_ready(&ring_) != 0) {
            ::io_uring_submit(&ring_);
        }
        if (::io_uring_sq_ready(&ring_) == 0) {
            paths_.clear();  // the kernel has copied them
        }
    }

    [[nodiscard]] std::optional<Ended> next_ended() override {
        io_uring_cqe* done = nullptr;
        if (::io_uring_peek_cqe(&ring_, &done) != 0) {
            return std::nullopt;
        }
        const Ended ended{::io_uring_cqe_get_data(done), done->res};
        ::io_uring_cqe_seen(&ring_, done);
        return ended;
    }

  private:
    /// The kernel has threads for what would make submit() wait: removals, and writes that extend a
    /// file. If nothing is set, they may use every processor, also those of the pollers.
    void place_workers() {
        // They belong to the thread that submits, which the kernel knows after its first call.
        static_cast<void>(::io_uring_enter(static_cast<unsigned>(ring_.ring_fd), 1, 0, 0, nullptr));
        cpu_set_t processors;
        if (::sched_getaffinity(0, sizeof processors, &processors) == 0) {
            ::io_uring_register_iowq_aff(&ring_, sizeof processors, &processors);
        }
    }

    [[nodiscard]] io_uring_sqe* next_entry() {
        io_uring_sqe* entry = ::io_uring_get_sqe(&ring_);
        if (entry == nullptr) {
            ::io_uring_submit(&ring_);
            entry = ::io_uring_get_sqe(&ring_);
        }
        PINSTRIKE_CHECK(entry != nullptr);
        return entry;
    }

    io_uring ring_{};
    std::deque<std::string> paths_;  ///< of removals that may not have begun
    bool open_ = false;
    bool buffers_registered_ = false;
    bool workers_placed_ = false;
};

}  // namespace

std::unique_ptr<DiskQueue> make_uring_queue(std::span<const std::span<std::byte>> memories,
                                            Problems& problems) {
    auto queue = std::make_unique<UringQueue>();
    if (const int failed = queue->open(memories); failed != 0) {
        add_problem(problems, "",
                    fmt::format("record: cannot make an io_uring: {}", std::strerror(failed)),
                    remedy_of(failed));
        return nullptr;
    }
    return queue;
}

}  // namespace pinstrike::actors
