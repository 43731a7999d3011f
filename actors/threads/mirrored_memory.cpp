// path: cold
#include "actors/threads/mirrored_memory.h"

#include "config/check.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

namespace pinstrike::actors {
namespace {

/// The first bytes of the mapping. Any thread may create and destroy handles, on cold paths. The
/// thread that destroys the last handle must see what the other threads wrote, so release() uses
/// acq_rel.
struct Shared {
    std::atomic<std::uint32_t> handles{1};
};

constexpr std::size_t shared_bytes = 128;  // two cache lines, so that control() shares none

Shared& shared_of(std::byte* base) {
    return *std::launder(reinterpret_cast<Shared*>(base));  // tidy: made in the constructor
}

class AnonymousFile {
  public:
    /// If the host refuses the file, descriptor() is negative.
    explicit AnonymousFile(std::size_t bytes)
        : file_(::memfd_create("pinstrike-ring", MFD_CLOEXEC)) {
        if (file_ >= 0 && ::ftruncate(file_, static_cast<off_t>(bytes)) != 0) {
            ::close(std::exchange(file_, -1));
        }
    }

    ~AnonymousFile() {
        if (file_ >= 0) {
            ::close(file_);
        }
    }

    AnonymousFile(const AnonymousFile&) = delete;
    AnonymousFile& operator=(const AnonymousFile&) = delete;

    [[nodiscard]] int descriptor() const { return file_; }

  private:
    int file_;
};

bool map_at(std::byte* where, std::size_t bytes, int file, std::size_t offset) {
    void* mapped = ::mmap(where, bytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_FIXED | MAP_POPULATE, file, static_cast<off_t>(offset));
    return mapped == where;
}

/// Maps the control page and the data, then the data again. Returns nullptr and sets errno on
/// failure.
std::byte* map_mirrored(std::size_t control_bytes, std::size_t data_bytes) {
    const AnonymousFile file(control_bytes + data_bytes);
    if (file.descriptor() < 0) {
        return nullptr;
    }
    const std::size_t all_bytes = control_bytes + 2 * data_bytes;
    void* reserved =
        ::mmap(nullptr, all_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) {
        return nullptr;
    }
    auto* base = static_cast<std::byte*>(reserved);
    if (!map_at(base, control_bytes + data_bytes, file.descriptor(), 0) ||
        !map_at(base + control_bytes + data_bytes, data_bytes, file.descriptor(), control_bytes)) {
        ::munmap(reserved, all_bytes);
        return nullptr;
    }
    return base;
}

}  // namespace

std::size_t MirroredMemory::page_bytes() {
    static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return bytes;
}

MirroredMemory::MirroredMemory(std::size_t data_bytes) : data_bytes_(data_bytes) {
    static_assert(sizeof(Shared) <= shared_bytes);
    PINSTRIKE_CHECK(data_bytes > 0 && data_bytes % page_bytes() == 0);
    PINSTRIKE_CHECK(control_bytes % page_bytes() == 0);
    base_ = map_mirrored(control_bytes, data_bytes);
    if (base_ == nullptr) {
        if (const int error = errno; error != ENOMEM) {
            throw std::system_error{error, std::generic_category(), "memory of a ring"};
        }
        throw std::bad_alloc{};
    }
    ::new (base_) Shared{};
}

MirroredMemory::MirroredMemory(MirroredMemory&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      data_bytes_(std::exchange(other.data_bytes_, 0)) {}

MirroredMemory& MirroredMemory::operator=(MirroredMemory&& other) noexcept {
    if (this != &other) {
        release();
        base_ = std::exchange(other.base_, nullptr);
        data_bytes_ = std::exchange(other.data_bytes_, 0);
    }
    return *this;
}

MirroredMemory::~MirroredMemory() {
    release();
}

MirroredMemory MirroredMemory::share() const {
    PINSTRIKE_CHECK(base_ != nullptr);
    shared_of(base_).handles.fetch_add(1, std::memory_order_relaxed);
    MirroredMemory other;
    other.base_ = base_;
    other.data_bytes_ = data_bytes_;
    return other;
}

void* MirroredMemory::control() const {
    return base_ + shared_bytes;
}

void* MirroredMemory::data() const {
    return base_ + control_bytes;
}

void MirroredMemory::release() noexcept {
    if (base_ != nullptr && shared_of(base_).handles.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        ::munmap(base_, control_bytes + 2 * data_bytes_);
    }
    base_ = nullptr;
}

}  // namespace pinstrike::actors
