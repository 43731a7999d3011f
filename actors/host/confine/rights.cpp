// path: cold
#include "actors/host/confine/rights.h"

#include "actors/threads/every_thread.h"
#include "config/joined.h"
#include "nic/port_kind.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

namespace pinstrike::actors {
namespace {

/// Bit sets, indexed by capability.
struct CapabilitySets {
    std::uint64_t effective = 0;
    std::uint64_t permitted = 0;
};

constexpr unsigned half_bits = 32;

CapabilitySets read_sets() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
    CapabilitySets sets;
    if (::syscall(SYS_capget, &header, data.data()) == 0) {
        sets.effective = data[0].effective | std::uint64_t{data[1].effective} << half_bits;
        sets.permitted = data[0].permitted | std::uint64_t{data[1].permitted} << half_bits;
    }
    return sets;
}

/// Reduces the calling thread's capabilities to `kept`, makes none inheritable, and prevents any
/// program from gaining some. Reducing the bounding set needs CAP_SETPCAP; without that,
/// no_new_privs has the same effect.
void keep_only(std::uint64_t kept) {
    ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    for (unsigned capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0;
         ++capability) {
        ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    }
    const std::uint64_t remaining = read_sets().permitted & kept;
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
    data[0].effective = data[0].permitted = static_cast<std::uint32_t>(remaining);
    data[1].effective = data[1].permitted = static_cast<std::uint32_t>(remaining >> half_bits);
    ::syscall(SYS_capset, &header, data.data());
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/// The names of threads that hold more capabilities than expected, or could gain some.
std::vector<std::string> holders(std::uint64_t kept_here) {
    constexpr int hexadecimal = 16;
    const auto self = static_cast<int>(::syscall(SYS_gettid));
    std::vector<std::string> names;
    for (const int thread : threads_of_process()) {
        const std::string permitted = status_of_thread(thread, "CapPrm");
        const std::uint64_t held = std::strtoull(permitted.c_str(), nullptr, hexadecimal);
        const std::uint64_t expected = thread == self ? kept_here : 0;
        const bool sealed = status_of_thread(thread, "NoNewPrivs") == "1";
        if (!permitted.empty() && ((held & ~expected) != 0 || !sealed)) {
            names.push_back(status_of_thread(thread, "Name"));
        }
    }
    return names;
}

}  // namespace

std::vector<nic::Right> rights_kept(const FeedConfig& config) {
    std::vector<nic::Right> rights;
    for (const nic::PortConfig& port : config.ports) {
        for (const nic::Right& right : nic::property_of(port, &nic::PortKindRow::rights)) {
            if (std::ranges::count(rights, right.capability, &nic::Right::capability) == 0) {
                rights.push_back(right);
            }
        }
    }
    return rights;
}

std::string to_text(const std::vector<nic::Right>& rights) {
    return rights.empty() ? "none" : joined(rights, ", ", [](const nic::Right& right) {
        return fmt::format("{} ({})", right.name, right.purpose);
    });
}

Confinement drop_rights(const std::vector<nic::Right>& kept, bool secret) {
    std::uint64_t wanted = 0;
    for (const nic::Right& right : kept) {
        wanted |= std::uint64_t{1} << right.capability;
    }
    Confinement result;
    for (const std::string& name : on_every_other_thread(drop_all_rights)) {
        result.remarks.push_back(
            fmt::format("thread {} did not answer: it keeps its rights", name));
    }
    keep_only(wanted);
    if (secret) {
        ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    }
    for (const std::string& name : holders(wanted)) {
        result.remarks.push_back(fmt::format("thread {} keeps rights that it should not", name));
    }
    const std::uint64_t held = read_sets().effective;
    std::vector<nic::Right> there = kept;
    std::erase_if(there, [&](const auto& right) { return (held >> right.capability & 1U) == 0; });
    result.kept = to_text(there);
    return result;
}

void drop_all_rights() {
    keep_only(0);
}

}  // namespace pinstrike::actors
