// path: cold
#include "nic/dpdk/bpf_log.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>

namespace pinstrike::nic::dpdk {
namespace {

/// Both libraries' levels: 0 warnings, 1 information, 2 debugging.
using Print = int (*)(int level, const char* format, va_list arguments);
using SetPrint = Print (*)(Print);

/// Written when EAL begins and ends, read by whichever thread opens a port meanwhile: release and
/// acquire, so that a reader that sees the log sees it built.
std::atomic<Log*> heard_by{nullptr};

__attribute__((format(printf, 2, 0))) int print(int level, const char* format, va_list arguments) {
    Log* log = heard_by.load(std::memory_order_acquire);
    if (log == nullptr || level > 1) {
        return 0;
    }
    std::array<char, 512> line{};
    const int length = std::vsnprintf(line.data(), line.size(), format, arguments);
    log->hear(level == 0 ? LogLevel::warning : LogLevel::info, line.data());
    return length;
}

void lead(const char* library, const char* setter) {
    void* loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (loaded == nullptr) {
        return;
    }
    if (const auto set = reinterpret_cast<SetPrint>(dlsym(loaded, setter)); set != nullptr) {
        set(print);
    }
    dlclose(loaded);
}

}  // namespace

void lead_bpf_output(Log* log) {
    heard_by.store(log, std::memory_order_release);
    lead("libbpf.so.1", "libbpf_set_print");
    lead("libxdp.so.1", "libxdp_set_print");
}

}  // namespace pinstrike::nic::dpdk
