// path: cold
#include "nic/dpdk/bpf_log.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>

namespace pinstrike::nic::dpdk {
namespace {

/// Levels of both libraries: 0 warning, 1 information, 2 debug.
using Print = int (*)(int level, const char* format, va_list arguments);
using SetPrint = Print (*)(Print);

/// Written when EAL starts and ends; read by any thread that opens a port. The store is release and
/// the load is acquire, so that a thread that reads the pointer sees the constructed log.
std::atomic<Log*> bpf_log{nullptr};

__attribute__((format(printf, 2, 0))) int print(int level, const char* format, va_list arguments) {
    Log* log = bpf_log.load(std::memory_order_acquire);
    if (log == nullptr || level > 1) {
        return 0;
    }
    std::array<char, 512> line{};
    const int length = std::vsnprintf(line.data(), line.size(), format, arguments);
    log->hear(level == 0 ? LogLevel::warning : LogLevel::info, line.data());
    return length;
}

void redirect(const char* library, const char* setter) {
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

void redirect_bpf_output(Log* log) {
    bpf_log.store(log, std::memory_order_release);
    redirect("libbpf.so.1", "libbpf_set_print");
    redirect("libxdp.so.1", "libxdp_set_print");
}

}  // namespace pinstrike::nic::dpdk
