// path: cold
#include "actors/threads/mirrored_memory.h"

#include "config/check.h"
#include "nic/file_descriptor.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <system_error>

namespace pinstrike::actors {
namespace {

bool map_at(std::byte* where, std::size_t bytes, int file, std::size_t offset) {
    void* mapped = ::mmap(where, bytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_FIXED | MAP_POPULATE, file, static_cast<off_t>(offset));
    return mapped == where;
}

/// Maps the control page and the data, then the data again. Returns nullptr and sets errno on
/// failure.
std::byte* map_mirrored(std::size_t control_bytes, std::size_t data_bytes) {
    const nic::FileDescriptor file{::memfd_create("pinstrike-ring", MFD_CLOEXEC)};
    if (!file.valid() ||
        ::ftruncate(file.get(), static_cast<off_t>(control_bytes + data_bytes)) != 0) {
        return nullptr;
    }
    const std::size_t all_bytes = control_bytes + 2 * data_bytes;
    void* reserved =
        ::mmap(nullptr, all_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) {
        return nullptr;
    }
    auto* base = static_cast<std::byte*>(reserved);
    if (!map_at(base, control_bytes + data_bytes, file.get(), 0) ||
        !map_at(base + control_bytes + data_bytes, data_bytes, file.get(), control_bytes)) {
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

MirroredMemory::MirroredMemory(std::size_t data_bytes) {
    PINSTRIKE_CHECK(data_bytes > 0 && data_bytes % page_bytes() == 0);
    PINSTRIKE_CHECK(control_bytes % page_bytes() == 0);
    std::byte* const base = map_mirrored(control_bytes, data_bytes);
    if (base == nullptr) {
        if (const int error = errno; error != ENOMEM) {
            throw std::system_error{error, std::generic_category(), "memory of a ring"};
        }
        throw std::bad_alloc{};
    }
    base_ = {base,
             [data_bytes](std::byte* mapped) { ::munmap(mapped, control_bytes + 2 * data_bytes); }};
}

}  // namespace pinstrike::actors
