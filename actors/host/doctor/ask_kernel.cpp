// path: cold
#include "actors/host/doctor/read_host.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

namespace pinstrike::actors::doctor {
namespace {

std::optional<ClockState> ask_clock() {
    timex clock{};  // modes 0: only reads
    const int state = ::adjtimex(&clock);
    if (state < 0) {
        return std::nullopt;
    }
    const bool nanoseconds = (clock.status & STA_NANO) != 0;
    return ClockState{.synchronised = state != TIME_ERROR && (clock.status & STA_UNSYNC) == 0,
                      .estimated_error_us = clock.esterror,
                      .maximum_error_us = clock.maxerror,
                      .offset_ns = nanoseconds ? clock.offset : clock.offset * 1000};
}

void ask_addresses(Host& host) {
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0) {
        return;
    }
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owned{list, &::freeifaddrs};
    for (auto& [name, interface] : host.interfaces) {
        interface.addresses.emplace();
    }
    for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
        const auto known = host.interfaces.find(entry->ifa_name);
        if (known == host.interfaces.end() || entry->ifa_addr == nullptr ||
            entry->ifa_addr->sa_family != AF_INET) {
            continue;
        }
        sockaddr_in address{};
        std::memcpy(&address, entry->ifa_addr, sizeof address);
        std::array<char, INET_ADDRSTRLEN> text{};
        ::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
        known->second.addresses->emplace_back(text.data());
    }
}

/// Driver version and firmware, as in `ethtool -i`.
void ask_driver(int any_socket, HostNic& nic) {
    ethtool_drvinfo info{};
    info.cmd = ETHTOOL_GDRVINFO;
    ifreq request{};
    nic.interface.copy(request.ifr_name, IFNAMSIZ - 1);
    void* const place = &info;
    request.ifr_data = static_cast<char*>(place);
    if (nic.interface.empty() || ::ioctl(any_socket, SIOCETHTOOL, &request) != 0) {
        return;
    }
    const auto text = [](const auto& field) {
        return std::string(field, ::strnlen(field, sizeof field));
    };
    nic.firmware = text(info.fw_version);
    if (nic.driver_version.empty()) {
        nic.driver_version = text(info.version);
    }
}

}  // namespace

void ask_kernel(Host& host) {
    host.clock = ask_clock();
    ask_addresses(host);
    const int any_socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    for (HostNic& nic : host.nics) {
        ask_driver(any_socket, nic);
    }
    if (any_socket >= 0) {
        ::close(any_socket);
    }
    for (const char* path : {"/var/log", "/var/lib"}) {  // the journal; captures and series maps

        struct statvfs disk {};

        if (::statvfs(path, &disk) == 0) {
            host.disks.push_back({path, std::uint64_t{disk.f_bavail} * disk.f_frsize,
                                  std::uint64_t{disk.f_blocks} * disk.f_frsize});
        }
    }
}

}  // namespace pinstrike::actors::doctor
