// path: cold
#include "actors/command/passed_over.h"

#include "actors/control/capture_verdict.h"
#include "actors/poller/unknown_groups.h"

#include <fmt/format.h>

#include <cstddef>

namespace pinstrike::command {
namespace {

/// Returns for example "ip_truncated 20, arp 1 (what ip_truncated means)". The text in parentheses
/// explains the most frequent reason.
std::string reasons_text(const actors::DropCounters& drops) {
    std::string text;
    std::string_view meaning;
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < nic::Drop_count; ++i) {
        const std::uint64_t count = drops.read(static_cast<nic::Drop>(i));
        if (count == 0) {
            continue;
        }
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", nic::Drop_rows[i].name, count);
        if (count > most) {
            most = count;
            meaning = nic::Drop_rows[i].sentence;
        }
    }
    return fmt::format("{} ({})", text, meaning);
}

}  // namespace

bool PassedOver::parse(const nic::Packet& packet, nic::Datagram& out) {
    ++packets_;
    nic::Drop drop = nic::parse_udp(packet, nic::ChecksumCheck::software, out);
    if (drop == nic::Drop::udp_checksum || drop == nic::Drop::ip_checksum) {
        wrong_sums_.bump(drop);
        drop = nic::parse_udp(packet, nic::ChecksumCheck::off, out);
    }
    if (drop != nic::not_dropped) {
        drops_.bump(drop);
    }
    return drop == nic::not_dropped;
}

void PassedOver::count_unknown(const nic::Datagram& datagram) {
    ++unknown_;
    groups_.count(datagram);
}

std::uint64_t PassedOver::candidates() const {
    std::uint64_t candidates = packets_;
    for (std::size_t i = 0; i < nic::Drop_count; ++i) {
        const auto drop = static_cast<nic::Drop>(i);
        candidates -= actors::is_of_other_protocol(drop) ? drops_.read(drop) : 0;
    }
    return candidates;
}

std::vector<std::string> PassedOver::lines(std::string_view path) const {
    std::vector<std::string> lines;
    if (const std::uint64_t count = drops_.sum(); count != 0) {
        lines.push_back(fmt::format("{}: {} of {} packets hold no block: {}", path, count, packets_,
                                    reasons_text(drops_)));
    }
    if (unknown_ != 0) {
        lines.push_back(fmt::format(
            "{}: {} of {} packets are on groups of no line: {} (--config names the lines)", path,
            unknown_, packets_, actors::to_text(groups_.most_frequent())));
    }
    if (const std::uint64_t count = wrong_sums_.sum(); count != 0) {
        lines.push_back(fmt::format(
            "{}: {} of {} packets have a wrong checksum, for which `run` and `replay` drop them "
            "unless the port has udp_checksum: off: {}",
            path, count, packets_, reasons_text(wrong_sums_)));
    }
    return lines;
}

}  // namespace pinstrike::command
