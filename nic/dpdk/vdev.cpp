// path: cold
#include "nic/dpdk/vdev.h"

#include "nic/dpdk/dpdk_config.h"

#include <fmt/format.h>

#include <cctype>

namespace pinstrike::nic::dpdk {
namespace {

std::string_view take_until_comma(std::string_view& rest) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    return part;
}

/// "net_af_xdp0" and "net_af_xdp_feed1" both use the driver net_af_xdp. driver_of() takes the first
/// match, so a driver must come before any driver whose name is its prefix.
constexpr std::string_view known_drivers[] = {"net_af_packet", "net_af_xdp",     "net_memif",
                                              "net_null",      "net_pcap",       "net_ring",
                                              "net_tap",       "net_virtio_user"};

std::string driver_of(std::string_view name) {
    for (const std::string_view driver : known_drivers) {
        if (name.starts_with(driver)) {
            return std::string(driver);
        }
    }
    while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0) {
        name.remove_suffix(1);
    }
    return std::string(name);
}

/// The interface from which net_pcap receives; nullopt if it reads files.
std::optional<std::string> live_input_of_pcap(const Vdev& vdev) {
    const auto both_ways = vdev.argument("iface");
    return both_ways ? both_ways : vdev.argument("rx_iface");
}

}  // namespace

std::optional<std::string> Vdev::argument(std::string_view key) const {
    for (const auto& [name_of, value] : arguments) {
        if (name_of == key) {
            return value;
        }
    }
    return std::nullopt;
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

std::string Vdev::arguments_text() const {
    std::string text;
    for (const auto& [key, value] : arguments) {
        text += text.empty() ? "" : ",";
        text += key;
        if (!value.empty()) {
            text += "=" + value;
        }
    }
    return text;
}

Vdev parse_vdev(std::string_view text) {
    Vdev vdev;
    vdev.name = std::string(take_until_comma(text));
    vdev.driver = driver_of(vdev.name);
    while (!text.empty()) {
        const std::string_view part = take_until_comma(text);
        const std::size_t equals = part.find('=');
        vdev.arguments.emplace_back(part.substr(0, equals), equals == std::string_view::npos
                                                                ? std::string_view{}
                                                                : part.substr(equals + 1));
    }
    return vdev;
}

DriverTraits driver_traits(const PortConfig& port) {
    if (own_of(port).vdev.empty()) {
        return {};
    }
    const Vdev vdev = parse_vdev(own_of(port).vdev);
    DriverTraits traits;
    if (vdev.driver == "net_pcap") {
        traits.kernel_interface = live_input_of_pcap(vdev).has_value();
        traits.counts_missed = traits.kernel_interface;
        traits.counts_no_buffer = preloaded_captures(port).empty();
        traits.counts_errors = traits.counts_no_buffer;
        traits.feeds_queues_apart = true;
    } else if (vdev.driver == "net_ring" || vdev.driver == "net_null" ||
               vdev.driver == "net_memif") {
        traits.counts_missed = traits.counts_no_buffer = traits.counts_errors = false;
        traits.feeds_queues_apart = vdev.driver == "net_null";
    } else if (vdev.driver == "net_af_packet") {
        traits.counts_missed = traits.counts_no_buffer = traits.counts_errors = false;
        traits.kernel_interface = true;
    } else if (vdev.driver == "net_tap") {
        traits.counts_missed = false;
    } else if (vdev.driver == "net_af_xdp") {
        // The sockets count losses that the driver does not report (af_xdp_sockets.h).
        traits.counts_errors = false;
        traits.kernel_interface = true;
    }
    return traits;
}

std::string kernel_interface(const PortConfig& port) {
    if (own_of(port).vdev.empty() || !driver_traits(port).kernel_interface) {
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
