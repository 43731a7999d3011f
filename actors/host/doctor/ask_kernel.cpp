// path: cold
#include "actors/host/doctor/need.h"
#include "actors/host/doctor/read_host.h"
#include "actors/publish/publish_folder.h"
#include "config/memory_sizes.h"

#include <arpa/inet.h>
#include <grp.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

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

std::optional<HostDisk> ask_disk(const char* path) {
    std::error_code error;
    const auto space = std::filesystem::space(path, error);
    return error ? std::nullopt : std::optional{HostDisk{path, space.available, space.capacity}};
}

std::optional<HostFolder> ask_folder(const char* path) {
    struct stat status {};

    if (::lstat(path, &status) != 0 || !S_ISDIR(status.st_mode)) {
        return std::nullopt;
    }
    const passwd* const user = ::getpwuid(status.st_uid);
    const group* const members = ::getgrgid(status.st_gid);
    return HostFolder{user == nullptr ? std::to_string(status.st_uid) : user->pw_name,
                      members == nullptr ? std::to_string(status.st_gid) : members->gr_name,
                      status.st_mode & 07777U};
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
        if (const auto disk = ask_disk(path)) {
            host.disks.push_back(*disk);
        }
    }
    host.shm = ask_disk("/dev/shm");
    host.published = ask_folder(published_shm_folder);
}

void measure_recordings(const Need& need, Host& host) {
    constexpr std::uint64_t bytes_max = 256 * mebibyte;
    for (const RecordingNeed& recording : need.recordings) {
        const auto disk = find_recording_disk(recording.folder);
        if (disk && !host.recordings.contains(recording.folder)) {
            host.recordings[recording.folder] = {
                *disk, measure_writes(*disk, bytes_max, recording.least_bytes)};
        }
    }
}

}  // namespace pinstrike::actors::doctor
