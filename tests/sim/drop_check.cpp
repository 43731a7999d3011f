// path: cold
//
// Checks why packets were dropped and blocks refused, reason by reason, against the faults that the
// links drew. Where a fault leaves several reasons possible, the packet widens the bounds of all.
#include "nic/packet/bytes.h"
#include "tests/sim/count_comparison.h"
#include "tests/sim/oracle.h"

#include <array>
#include <cstddef>
#include <optional>
#include <set>

namespace pinstrike::sim {

namespace {

using feed::opra::BlockReject;
using nic::Drop;

/// How many packets or blocks have a reason for sure, and how many have any.
template <class Reason, std::size_t Count>
struct Bounds {
    std::array<std::uint64_t, Count> least{};
    std::uint64_t unsure = 0;

    /// Nothing: the reason is not determined.
    void add(std::optional<Reason> reason) {
        if (reason) {
            ++least[static_cast<std::size_t>(*reason)];
        } else {
            ++unsure;
        }
    }
};

// Offsets in a frame: Ethernet without tags, an IPv4 header of 20 bytes (RFC 791), UDP (RFC 768).

constexpr std::size_t type_at = 12;
constexpr std::size_t ip_at = 14;
constexpr std::size_t total_length_at = ip_at + 2;
constexpr std::size_t udp_at = ip_at + 20;
constexpr std::size_t udp_length_at = udp_at + 4;
constexpr std::size_t payload_at = udp_at + 8;

/// The reason for a frame of this Ethernet type. Nothing: IPv4, IPv6, or a type of a tag.
std::optional<Drop> drop_of_type(std::uint16_t type) {
    constexpr std::array not_determined{0x0800, 0x8100, 0x88A8, 0x8909, 0x893F, 0x8926,
                                        0x9100, 0x9200, 0x9300, 0xD28B, 0x86DD};
    constexpr std::array link_control{0x8808, 0x8809, 0x88CC};
    if (std::ranges::count(not_determined, type) != 0) {
        return std::nullopt;
    }
    if (type == 0x0806) {
        return Drop::arp;
    }
    constexpr std::uint16_t least_type = 0x0600;
    return type < least_type || std::ranges::count(link_control, type) != 0 ? Drop::link_control
                                                                            : Drop::not_ipv4;
}

/// A longer header is summed over other bytes, and a shorter total length hides what is behind it.
std::optional<Drop> drop_of_changed_ip(const Flight& flight) {
    const std::byte* frame = flight.frame.data();
    const unsigned version = std::to_integer<unsigned>(frame[ip_at]) >> 4;
    const unsigned words = std::to_integer<unsigned>(frame[ip_at]) & 0xFU;
    const std::size_t total = nic::load_be16(frame + total_length_at);
    if (version != 4 || words < 5 || total < 20) {
        return Drop::ip_header;
    }
    if (words > 5) {
        return std::nullopt;
    }
    return total > flight.frame.size() - ip_at ? Drop::ip_truncated : Drop::ip_checksum;
}

std::optional<Drop> drop_of_changed(const Flight& flight) {
    const std::byte* frame = flight.frame.data();
    if (flight.changed_at < ip_at) {
        return drop_of_type(nic::load_be16(frame + type_at));
    }
    if (flight.changed_at < udp_at) {
        return drop_of_changed_ip(flight);
    }
    if (flight.changed_at == udp_length_at || flight.changed_at == udp_length_at + 1) {
        const std::size_t bytes = nic::load_be16(frame + udp_length_at);
        const bool fits = bytes >= 8 && bytes <= flight.frame.size() - udp_at;
        // The sum over fewer bytes is wrong only most of the time.
        return fits ? std::nullopt : std::optional{Drop::udp_truncated};
    }
    return Drop::udp_checksum;
}

std::optional<Drop> drop_of_garbage(const Flight& flight) {
    return flight.frame.size() < ip_at
               ? Drop::frame_truncated
               : drop_of_type(nic::load_be16(flight.frame.data() + type_at));
}

using DropBounds = Bounds<Drop, nic::Drop_count>;

void add_drop(const Flight& flight, DropBounds& bounds) {
    switch (flight.fault) {
        case Fault::none:
        case Fault::garbage_to_line:
            return;
        case Fault::changed:
            return bounds.add(drop_of_changed(flight));
        case Fault::cut:
            return bounds.add(flight.frame.size() < ip_at ? Drop::frame_truncated
                                                          : Drop::ip_truncated);
        case Fault::foreign_group:
            return bounds.add(Drop::unknown_group);
        case Fault::garbage:
            return bounds.add(drop_of_garbage(flight));
    }
}

void check_drops(actors::PollerTask& poller, const ReceiveLog& receive_log,
                 CountComparison& compare) {
    DropBounds bounds;
    for (const ReceivedPacket& packet : receive_log.packets()) {
        add_drop(*packet.flight, bounds);
    }
    for (std::size_t row = 0; row < nic::Drop_count; ++row) {
        const auto reason = static_cast<Drop>(row);
        std::uint64_t found = 0;
        for (std::size_t input = 0; input < poller.ports_count(); ++input) {
            found += poller.input(input).drops.read(reason);
        }
        const std::uint64_t least = bounds.least[row];
        compare.expect_between(reason, least, least + bounds.unsure, found);
    }
}

// Blocks.

/// The reason to refuse garbage (OPRA Block Header). Nothing: it begins like a block.
std::optional<BlockReject> reject_of_garbage(const Flight& flight) {
    constexpr std::size_t header_bytes = 21;
    constexpr std::byte version{6};
    constexpr std::size_t feed_at = 3;
    const auto payload = std::span{flight.frame}.subspan(payload_at);
    if (payload.size() < header_bytes) {
        return BlockReject::payload_short;
    }
    if (payload[0] != version) {
        return BlockReject::version_unknown;
    }
    return payload[feed_at] != std::byte{'O'} ? std::optional{BlockReject::feed_unknown}
                                              : std::nullopt;
}

bool mixes_controls(const Block& block) {
    const auto decodable = std::span{block.messages}.first(block.decodable);
    return block.messages.size() > 1 &&
           std::ranges::any_of(decodable, [](const auto& m) { return m.category() == 'H'; });
}

/// Counts the blocks of a line whose messages have a reason. A copy is walked only if its header
/// does not show that all of its messages came before.
class WalkedBlocks {
  public:
    void add(const Block& block, bool is_first) {
        add(is_first, block.decodable != block.messages.size(), undecodable_);
        add(is_first, mixes_controls(block), mixed_);
    }

    void check(actors::PollerTask& poller, std::size_t line,
               const Bounds<BlockReject, feed::opra::BlockReject_count>& garbage,
               CountComparison& compare) const {
        for (std::size_t row = 0; row < feed::opra::BlockReject_count; ++row) {
            const auto reason = static_cast<BlockReject>(row);
            Walked walked;
            if (reason == BlockReject::category_unknown) {
                walked = undecodable_;
            } else if (reason == BlockReject::control_not_alone) {
                walked = mixed_;
            }
            const std::uint64_t least = garbage.least[row];
            compare.expect_between(reason, least + walked.first,
                                   least + walked.first + walked.again + garbage.unsure,
                                   poller.rejects(line, row));
        }
    }

  private:
    struct Walked {
        std::uint64_t first = 0;
        std::uint64_t again = 0;
    };

    static void add(bool is_first, bool has_reason, Walked& walked) {
        (is_first ? walked.first : walked.again) += has_reason ? 1 : 0;
    }

    Walked undecodable_;
    Walked mixed_;
};

void check_line(const Host& host, const LineExpectation& expected, std::size_t index,
                actors::PollerTask& poller, std::size_t line, CountComparison& compare) {
    WalkedBlocks walked;
    Bounds<BlockReject, feed::opra::BlockReject_count> garbage;
    std::set<const Block*> known;
    for (const ReceivedPacket& packet : host.receive_logs()[host.poller_of(index)]->packets()) {
        const Flight& flight = *packet.flight;
        if (flight.line != index) {
            continue;
        }
        if (flight.fault == Fault::garbage_to_line) {
            garbage.add(reject_of_garbage(flight));
        } else if (flight.whole && flight.block != nullptr) {
            const Block& block = *flight.block;
            // Messages from before the start are known, as it were: they count as duplicates.
            const bool counts =
                expected.exact && !flight.repair && block.index >= expected.begin_block;
            walked.add(block, counts && known.insert(&block).second);
        }
    }
    for (const Block* block : host.repairs()) {
        if (block == nullptr) {
            garbage.add(std::nullopt);
        } else if (block->line == index) {
            walked.add(*block, false);
        }
    }
    walked.check(poller, line, garbage, compare);
}

}  // namespace

void check_drops(const Plan& plan, const Truth& truth, const std::vector<LineExpectation>& lines,
                 Host& host, Findings& findings, Coverage& coverage) {
    for (std::size_t i = 0; i < plan.host.pollers; ++i) {
        actors::PollerTask& poller = host.poller(i);
        CountComparison compare{fmt::format("poller {}", i), findings, coverage.held};
        check_drops(poller, *host.receive_logs()[i], compare);
        for (std::size_t line = 0; line < poller.lines_count(); ++line) {
            const std::size_t index = truth.line_index(poller.line(line).number);
            CountComparison of_line{fmt::format("line {}", poller.line(line).number), findings,
                                    coverage.held};
            check_line(host, lines[index], index, poller, line, of_line);
        }
    }
}

}  // namespace pinstrike::sim
