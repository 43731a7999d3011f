// path: cold
#include "actors/telemetry/account_text.h"

#include "actors/poller/unknown_groups_text.h"
#include "config/units.h"
#include "nic/packet/drops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace pinstrike::actors {
namespace {

constexpr std::size_t lines_shown_max = 16;

void add_head(std::string& out, std::string_view subject,
              std::initializer_list<std::string_view> columns) {
    out += fmt::format("{:<20}", subject);
    for (const std::string_view column : columns) {
        out += fmt::format(" {:>15}", column);
    }
    out += '\n';
}

/// A dash if the count is unknown.
void add_row(std::string& out, std::string_view name,
             std::initializer_list<std::optional<std::uint64_t>> counts) {
    out += fmt::format("{:<20}", name);
    for (const std::optional<std::uint64_t>& count : counts) {
        out += fmt::format(" {:>15}", count ? grouped(*count) : "-");
    }
    out += '\n';
}

/// "name 3, name 1" for the counts that are not zero.
std::string reasons_text(const std::vector<NamedCount>& counts) {
    std::string text;
    for (const auto& [name, count] : counts) {
        if (count != 0) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, grouped(count));
        }
    }
    return text;
}

std::uint64_t dropped_for(const PortAccount& port, nic::Drop drop) {
    const auto found =
        std::find_if(port.dropped.begin(), port.dropped.end(),
                     [drop](const NamedCount& count) { return count.first == row_of(drop).name; });
    return found == port.dropped.end() ? 0 : found->second;
}

/// Some wrong checksums are damaged packets. If all are wrong, the sender did not fill them in.
bool has_only_wrong_checksums(const PortAccount& port) {
    return port.handed == 0 && dropped_for(port, nic::Drop::udp_checksum) != 0 &&
           dropped_for(port, nic::Drop::unknown_group) == 0 &&
           dropped_for(port, nic::Drop::foreign_source) == 0;
}

void add_drops(std::string& out, const PortAccount& port) {
    if (const std::string reasons = reasons_text(port.dropped); !reasons.empty()) {
        out += fmt::format("  dropped: {}\n", reasons);
    }
    if (!port.unknown_groups.empty()) {
        out += fmt::format("  unknown groups: {}\n", to_text(port.unknown_groups));
    }
    if (has_only_wrong_checksums(port)) {
        out +=
            "  every UDP checksum is wrong: the packets were presumably captured on the host that "
            "sent them, whose NIC fills checksums in (checksum offload); a config whose port has "
            "udp_checksum: off accepts them (replay --config)\n";
    }
}

void add_ports(std::string& out, const Account& account) {
    add_head(out, "port", {"packets", "to lines", "missed", "no buffer", "errors"});
    for (const PortAccount& port : account.ports) {
        add_row(out, port.port,
                {port.packets, port.handed, port.missed, port.no_buffer, port.errors});
        add_drops(out, port);
    }
}

void add_line(std::string& out, std::string_view name, const LineAccount& line) {
    add_row(out, name,
            {line.delivered, line.a.accepted, line.b.accepted, line.repaired, line.lost});
}

LineAccount sum_of(const std::vector<LineAccount>& lines) {
    LineAccount sum;
    for (const LineAccount& line : lines) {
        sum.delivered += line.delivered;
        sum.a.accepted += line.a.accepted;
        sum.b.accepted += line.b.accepted;
        sum.repaired += line.repaired;
        sum.lost += line.lost;
    }
    return sum;
}

void add_lines(std::string& out, const Account& account) {
    add_head(out, "line", {"delivered", "first by A", "first by B", "repaired", "lost"});
    const bool few = account.lines.size() <= lines_shown_max;
    std::size_t unshown_count = 0;
    std::size_t shown_count = 0;
    for (const LineAccount& line : account.lines) {
        if (!few && line.lost == 0) {
            continue;
        }
        if (shown_count == lines_shown_max) {
            ++unshown_count;
            continue;
        }
        ++shown_count;
        add_line(out, fmt::format("{}", line.line), line);
    }
    if (unshown_count != 0) {
        out += fmt::format("  {} more lines lost messages\n", unshown_count);
    }
    if (account.lines.size() != 1) {
        add_line(out, fmt::format("all {}", account.lines.size()), sum_of(account.lines));
    }
}

void add_rings(std::string& out, const Account& account) {
    add_head(out, "ring", {"routed", "pushed", "refused"});
    for (const RingAccount& ring : account.rings) {
        add_row(out, ring.from + ":" + ring.to, {ring.routed, ring.pushed, ring.refused});
    }
}

void add_cores(std::string& out, const Account& account) {
    add_head(out, "core", {"events", "gap events", "controls"});
    for (const CoreAccount& core : account.cores) {
        add_row(out, core.core, {core.events, core.gap_events, core.control_events});
        if (const std::string rows = reasons_text(core.rows); !rows.empty()) {
            out += "  " + rows + "\n";
        }
    }
}

}  // namespace

std::string to_text(const Account& account) {
    std::string out;
    add_ports(out, account);
    add_lines(out, account);
    add_rings(out, account);
    add_cores(out, account);
    if (const std::string reasons = reasons_text(account.rejects); !reasons.empty()) {
        out += fmt::format("blocks rejected or accepted with a remark: {}\n", reasons);
    }
    return out;
}

}  // namespace pinstrike::actors
