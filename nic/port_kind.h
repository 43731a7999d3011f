// path: cold
//
// A kind of port: everything that distinguishes it from the other kinds. Its folder nic/NAME
// defines one row, NAME_port, and the list in nic/meson.build has the name. Config keys, rules,
// plan, system call filter and rights are made from the row.
#pragma once

#include "config/places.h"
#include "config/problem.h"
#include "config/section.h"
#include "nic/port.h"
#include "nic/port_config.h"
#include "nic/port_needs.h"
#include "nic/sim/frame_source.h"

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::nic {

class ReplayStart;

/// Makes the source of one queue of a port that generates frames, of `groups` only. Null, with a
/// problem added, if it cannot.
using FrameSourceFactory = std::function<std::unique_ptr<FrameSource>(
    const PortConfig& config, const std::vector<Group>& groups, Problems& problems)>;

/// groups_by_queue[q]: the groups of the lines of the q-th poller that reads a port.
using GroupsByQueue = std::vector<std::vector<Group>>;

using Ports = std::vector<std::unique_ptr<Port>>;

/// What a port is opened with.
struct PortOpening {
    const PortConfig& config;
    const GroupsByQueue& groups_by_queue;
    const FrameSourceFactory& make_source;
    const std::shared_ptr<ReplayStart>& start;
    Problems& problems;

    /// A single queue has the port's name; of several, each has its number added.
    [[nodiscard]] std::string queue_name(std::size_t queue) const;
};

/// The ports of a config, for the rules between their keys.
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

/// A null pointer means: nothing of that.
struct PortKindRow {
    std::string_view word;  ///< in YAML
    std::string_view sentence;
    bool live = false;           ///< packets that are not received in time are lost
    bool replays = false;        ///< packets have the times of a capture
    bool generates = false;      ///< needs a traffic generator of the venue
    bool keeps_packets = false;  ///< Port::keep_burst works
    bool socket_for_each_group = false;

    /// Adds its keys. Each applies to this kind only.
    void (*add_keys)(Section<PortConfig>& section) = nullptr;

    /// Rules of ports[i], which is of this kind.
    void (*check)(const PortRules& rules, std::size_t i) = nullptr;

    /// Rules between the ports of this kind.
    void (*check_together)(const PortRules& rules) = nullptr;

    /// Whether what arrives is made here and so may repeat its times. No venue does.
    bool (*may_repeat_times)(const PortConfig& port) = nullptr;

    /// Where packets come from, in words: "interface eth1".
    std::string (*source)(const PortConfig& port) = nullptr;

    /// The system calls of the thread that polls the port.
    std::vector<SystemCall> (*system_calls)(const PortConfig& port) = nullptr;

    /// The capabilities that the thread that opens and closes the port needs after opening it.
    std::vector<Right> (*rights)(const PortConfig& port) = nullptr;

    /// One Port for each queue; adds every problem if one cannot be opened.
    Ports (*open)(const PortOpening& opening) = nullptr;
};

[[nodiscard]] const PortKindRow& row_of(PortKind kind);

/// All kinds, in the order of the enum.
[[nodiscard]] std::span<const PortKindRow* const> port_kind_rows();

/// For Section::only_for().
template <PortKind kind>
bool is_kind(const PortConfig& port) {
    return port.kind == kind;
}

}  // namespace pinstrike::nic
