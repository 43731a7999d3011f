// path: cold
//
// A kind of port: everything that distinguishes it from the other kinds. Its folder nic/NAME
// defines one row, NAME_port, and the list in nic/meson.build has the name. The config keys, their
// rules, the plan, the system call filter and the rights are derived from the row.
#pragma once

#include "config/places.h"
#include "config/problem.h"
#include "config/section.h"
#include "nic/port.h"
#include "nic/port_config.h"
#include "nic/port_needs.h"

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::nic {

class FrameSource;
class ReplayStart;
struct Pace;

/// Makes the frame source for one queue of a port that generates frames. The source makes frames of
/// `groups` only. Null, with a problem added, on failure.
using FrameSourceFactory = std::function<std::unique_ptr<FrameSource>(
    const PortConfig& config, const std::vector<Group>& groups, Problems& problems)>;

/// groups_by_queue[q] has the groups of the lines of the q-th poller that reads a port.
using GroupsByQueue = std::vector<std::vector<Group>>;

using Ports = std::vector<std::unique_ptr<Port>>;

/// The arguments of PortKindRow::open.
struct PortOpening {
    const PortConfig& config;
    const GroupsByQueue& groups_by_queue;
    const FrameSourceFactory& make_source;
    const std::shared_ptr<ReplayStart>& start;
    Problems& problems;

    /// The name of a queue: the port's name, followed by "/" and the queue's number if there are
    /// several queues.
    [[nodiscard]] std::string queue_name(std::size_t queue) const;
};

/// The ports of a config and their places in the file, for checking the rules between keys. The
/// checks add to `problems`.
struct PortRules {
    std::span<const PortConfig> ports;
    const Places& places;
    Problems& problems;

    [[nodiscard]] std::string path(std::size_t i, const char* key = nullptr) const;

    /// True if the values of these keys of ports[i] were parsed without a problem.
    [[nodiscard]] bool sound(std::size_t i, std::initializer_list<const char*> keys) const;

    /// The same for all ports.
    [[nodiscard]] bool sound(std::initializer_list<const char*> keys) const;

    void report(const std::string& path, const std::string& text) const;
};

/// The properties of one kind of port. A null pointer means that the kind has no such keys, rules
/// or needs.
struct PortKindRow {
    std::string_view word;  ///< the kind's name in YAML
    std::string_view sentence;
    bool live = false;                   ///< packets that are not received in time are lost
    bool replays = false;                ///< packets have the times of a capture
    bool generates = false;              ///< needs a traffic generator of the venue
    bool keeps_packets = false;          ///< Port::keep_burst works
    bool socket_for_each_group = false;  ///< receives through the kernel, from its interface
    bool uses_eal = false;  ///< runs in the environment of DPDK, with memory and devices of its own

    /// Adds the keys of this kind, which apply to this kind only.
    void (*add_keys)(Section<PortConfig>& section) = nullptr;

    /// Checks the rules of ports[i], which is of this kind.
    void (*check)(const PortRules& rules, std::size_t i) = nullptr;

    /// Checks the rules between the ports of this kind.
    void (*check_together)(const PortRules& rules) = nullptr;

    /// Returns true if the port's packets come from captures or from the generator, whose times may
    /// repeat. The packets of a venue never repeat their times.
    bool (*may_repeat_times)(const PortConfig& port) = nullptr;

    /// Describes where packets come from: "interface eth1".
    std::string (*source)(const PortConfig& port) = nullptr;

    /// The kernel interface that the port uses; empty: it uses none.
    std::string (*interface)(const PortConfig& port) = nullptr;

    /// The PCI address of the port's NIC; empty: it has no NIC of its own.
    std::string (*pci_address)(const PortConfig& port) = nullptr;

    /// The source address of the IGMP reports that the port sends itself; 0.0.0.0: it sends none.
    Ipv4 (*report_address)(const PortConfig& port) = nullptr;

    /// The receive buffer that a port with `socket_for_each_group` requests for each socket.
    std::size_t (*socket_buffer_bytes)(const PortConfig& port) = nullptr;

    /// The pace of a port that `replays`.
    Pace (*pace)(const PortConfig& port) = nullptr;

    /// The files and folders that the port reads, which no output may replace.
    std::vector<std::string> (*files)(const PortConfig& port) = nullptr;

    /// Adds what is wrong with the content of these files, without reading a pipe. A file that
    /// cannot be opened is not its subject.
    void (*check_content)(const PortConfig& port, Problems& problems) = nullptr;

    /// The system calls of the thread that polls the port.
    std::vector<SystemCall> (*system_calls)(const PortConfig& port) = nullptr;

    /// The capabilities that the thread that opens and closes the port needs after opening it.
    std::vector<Right> (*rights)(const PortConfig& port) = nullptr;

    /// Opens one Port for each queue; adds every problem if a Port cannot be opened.
    Ports (*open)(const PortOpening& opening) = nullptr;
};

[[nodiscard]] const PortKindRow& row_of(PortKind kind);

/// All kinds, in the order of the enum.
[[nodiscard]] std::span<const PortKindRow* const> port_kind_rows();

/// The value of a property that a row has as a function, such as &PortKindRow::files; empty if the
/// port's kind has no such function.
template <class Value>
Value property_of(const PortConfig& port, Value (*PortKindRow::*property)(const PortConfig&)) {
    const auto function = row_of(port.kind).*property;
    return function == nullptr ? Value{} : function(port);
}

/// The access of Section::key() to a member of the kind's own config struct.
template <class Config, class Member>
auto own(Member Config::*member) {
    return [member](auto& port) -> auto& { return port.own.template get<Config>().*member; };
}

}  // namespace pinstrike::nic
