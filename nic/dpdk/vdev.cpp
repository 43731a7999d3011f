// path: cold
#include "nic/dpdk/vdev.h"

#include "nic/dpdk/dpdk_config.h"
#include "nic/dpdk/host.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>

namespace pinstrike::nic::dpdk {
namespace {

std::string_view take_until_comma(std::string_view& rest) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    return part;
}

constexpr Right net_raw{Capabilities::net_raw, "CAP_NET_RAW", ""};

constexpr Right net_admin(std::string_view purpose) {
    return {Capabilities::net_admin, "CAP_NET_ADMIN", purpose};
}

/// Most registers of a PCI device are mapped into memory; system calls give access to the others
/// (I/O ports, interrupts). A driver that shares its device with the kernel asks the kernel for
/// link and clock, and opens a socket for each request.
const Driver& other_driver() {
    static const Driver other{.name = "",
                              .traits = {},
                              .calls = {{"close"},
                                        {"ioctl"},
                                        {"pread64"},
                                        {"pwrite64"},
                                        {"read"},
                                        {"socket", 0, SystemCall::whole_word, AF_INET},
                                        {"write"}},
                              .rights = {}};
    return other;
}

/// The traits of a driver that counts no losses.
constexpr DriverTraits uncounted(DriverTraits traits = {}) {
    traits.counts_missed = traits.counts_no_buffer = traits.counts_errors = false;
    return traits;
}

const std::vector<Driver>& drivers() {
    static const std::vector<Driver> table{
        // AF_PACKET and AF_XDP make a system call to wake the kernel when its rings request that.
        {"net_af_packet",
         uncounted({.kernel_interface = true}),
         {ask_link, {"poll"}, {"sendto"}},
         {net_raw}},
        // The sockets count losses that the driver does not report (af_xdp_sockets.h). libxdp looks
        // up its program by number, for which CAP_BPF is not enough.
        {"net_af_xdp",
         {.counts_errors = false, .kernel_interface = true},
         {ask_link, {"poll"}, {"recvfrom"}, {"sendto"}},
         {net_raw,
          net_admin("detaches its program from the interface at the end"),
          {Capabilities::sys_admin, "CAP_SYS_ADMIN", ""}}},
        {"net_memif", uncounted(), {{"read"}, {"write"}}, {}},
        {"net_null", uncounted({.feeds_queues_apart = true}), {}, {}},
        // libpcap reads files with stdio, and interfaces through packet sockets.
        {"net_pcap",
         {.feeds_queues_apart = true},
         {ask_link, {"close"}, {"lseek"}, {"poll"}, {"read"}, {"recvfrom"}, {"sendto"}},
         {}},
        {"net_ring", uncounted(), {}, {}},
        {"net_tap",
         {.counts_missed = false},
         {{"ioctl"}, {"read"}, {"readv"}, {"write"}, {"writev"}},
         {net_admin("sets its interface down at the end")}},
        {"net_virtio_user", {}, other_driver().calls, {}},
    };
    return table;
}

/// "net_af_xdp0" and "net_af_xdp_feed1" both use the driver net_af_xdp. Takes the first match, so a
/// driver must come before any driver whose name is its prefix.
const Driver& driver_of_device(std::string_view name) {
    const auto found = std::ranges::find_if(
        drivers(), [name](const Driver& driver) { return name.starts_with(driver.name); });
    return found == drivers().end() ? other_driver() : *found;
}

std::string driver_name(std::string_view device) {
    if (const std::string_view known = driver_of_device(device).name; !known.empty()) {
        return std::string(known);
    }
    while (!device.empty() && std::isdigit(static_cast<unsigned char>(device.back())) != 0) {
        device.remove_suffix(1);
    }
    return std::string(device);
}

/// The interface from which net_pcap receives; nullopt if it reads files.
std::optional<std::string> live_input_of_pcap(const Vdev& vdev) {
    const auto both_ways = vdev.argument("iface");
    return both_ways ? both_ways : vdev.argument("rx_iface");
}

}  // namespace

std::optional<std::string> Vdev::argument(std::string_view key) const {
    const std::vector<std::string> values = arguments_named(key);
    return values.empty() ? std::nullopt : std::optional{values.front()};
}

std::vector<std::string> Vdev::arguments_named(std::string_view key) const {
    std::vector<std::string> values;
    for (const auto& [name_of, value] : arguments) {
        if (name_of == key) {
            values.push_back(value);
        }
    }
    return values;
}

Vdev parse_vdev(std::string_view text) {
    Vdev vdev;
    vdev.name = std::string(take_until_comma(text));
    vdev.driver = driver_name(vdev.name);
    vdev.arguments_text = text;
    while (!text.empty()) {
        const std::string_view part = take_until_comma(text);
        const std::size_t equals = part.find('=');
        vdev.arguments.emplace_back(part.substr(0, equals), equals == std::string_view::npos
                                                                ? std::string_view{}
                                                                : part.substr(equals + 1));
    }
    return vdev;
}

const Driver& driver_of(const PortConfig& port) {
    return driver_of_device(own_of(port).vdev);
}

DriverTraits driver_traits(const PortConfig& port) {
    DriverTraits traits = driver_of(port).traits;
    if (const Vdev vdev = parse_vdev(own_of(port).vdev); vdev.driver == "net_pcap") {
        traits.kernel_interface = live_input_of_pcap(vdev).has_value();
        traits.counts_missed = traits.kernel_interface;
        traits.counts_no_buffer = preloaded_captures(port).empty();
        traits.counts_errors = traits.counts_no_buffer;
    }
    return traits;
}

std::string kernel_interface(const PortConfig& port) {
    if (!driver_traits(port).kernel_interface) {
        return {};
    }
    const Vdev vdev = parse_vdev(own_of(port).vdev);
    return (vdev.driver == "net_pcap" ? live_input_of_pcap(vdev) : vdev.argument("iface"))
        .value_or("");
}

std::string device_name(const PortConfig& port) {
    const DpdkConfig& own = own_of(port);
    const std::string& text = own.vdev.empty() ? own.pci : own.vdev;
    return text.substr(0, text.find(','));
}

std::vector<std::string> preloaded_captures(const PortConfig& port) {
    const Vdev vdev = parse_vdev(own_of(port).vdev);
    if (vdev.driver != "net_pcap" || vdev.argument("infinite_rx").value_or("0") == "0") {
        return {};
    }
    return vdev.arguments_named("rx_pcap");
}

PortConfig looped_capture(std::size_t index, const std::string& file, bool hugepages) {
    PortConfig port;
    port.name = fmt::format("pcap{}", index);
    port.kind = PortKind::dpdk;
    auto& own = port.own.get<DpdkConfig>();
    own.vdev = fmt::format("net_pcap{},rx_pcap={},infinite_rx=1", index, file);
    own.hugepages = hugepages;
    own.membership = Membership::fixed;
    return port;
}

}  // namespace pinstrike::nic::dpdk
