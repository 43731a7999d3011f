// path: cold
#include "feed/opra/traffic/delivery.h"

#include "config/check.h"
#include "feed/opra/layout.h"
#include "feed/opra/lines.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace pinstrike::feed::opra::traffic {

namespace {

constexpr std::int64_t network_ns = 25'000;  // from OPRA's stamp to the host, on both streams
constexpr std::int64_t duplicate_after_ns = 3'000;
constexpr std::uint32_t sender_host = 4;  // last octet of the source address in real packets
constexpr nic::Mac sender_macs[] = {{{0x02, 0x4F, 0x50, 0x52, 0x41, 0x0A}},
                                    {{0x02, 0x4F, 0x50, 0x52, 0x41, 0x0B}}};

std::size_t index_of(Stream stream) {
    return static_cast<std::size_t>(stream);
}

std::vector<std::byte> frame_on(const nic::UdpRoute& route, std::span<const std::byte> bytes) {
    PINSTRIKE_CHECK(bytes.size() <= block::bytes_max);
    const std::size_t headers = nic::udp_headers_bytes(0);
    std::vector<std::byte> frame(headers + bytes.size());
    std::memcpy(frame.data() + headers, bytes.data(), bytes.size());
    nic::write_udp_headers(frame.data(), route, bytes.size(), nic::UdpChecksumSent::computed);
    return frame;
}

/// The bytes of a block when it is retransmitted.
std::vector<std::byte> marked(std::span<const std::byte> original) {
    std::vector<std::byte> bytes(original.begin(), original.end());
    bytes[block::retransmission.at] = std::byte{'V'};
    fix_checksum(bytes);
    return bytes;
}

bool renumbers(const SentBlock& block) {
    return block.role == BlockRole::start_of_day || block.role == BlockRole::reset;
}

}  // namespace

nic::UdpRoute route_of(const LineConfig& line, Stream stream, bool disaster_site) {
    nic::UdpRoute route;
    route.destination = line.streams[index_of(stream)];
    route.source_port = route.destination.port;
    route.source_mac = sender_macs[index_of(stream)];
    route.time_to_live = 119;
    route.type_of_service = 0xB8;
    route.dont_fragment = false;
    route.source.value = 0x0A000000 + sender_host;
    if (const auto sources = published_sources(line.number, stream)) {
        route.source.value = (*sources)[disaster_site ? 1 : 0].address.value + sender_host;
    }
    return route;
}

nic::UdpRoute retransmission_route_of(const LineConfig& line, Stream stream, bool disaster_site) {
    nic::UdpRoute route = route_of(line, stream, disaster_site);
    route.destination = line.retransmission[index_of(stream)];
    route.source_port = route.destination.port;
    return route;
}

std::vector<std::byte> frame_of(const LineConfig& line, Stream stream, bool disaster_site,
                                std::span<const std::byte> block) {
    return frame_on(route_of(line, stream, disaster_site), block);
}

Delivery::Delivery(const TrafficConfig& config, std::span<const LineConfig> lines,
                   std::string_view streams, PacketSink& sink, AccountTruth* account)
    : config_(config),
      lines_(lines),
      streams_(streams),
      sink_(sink),
      account_(account),
      random_(scramble(config.seed ^ 0x4641'554C'5453ULL)),
      retransmissions_(scramble(config.seed ^ 0x4147'4149'4EULL)),
      lost_(lines.size()),
      paths_(lines.size()),
      last_first_ns_(lines.size()) {}

const StreamFaults& Delivery::faults(Stream stream) const {
    return stream == Stream::a ? config_.a : config_.b;
}

/// Whether the block determines the line's numbers: it is a start of day, a reset, or the first
/// block of the line that is received.
bool Delivery::is_barrier(const SentBlock& block) const {
    return renumbers(block) || last_first_ns_[block.line] == 0;
}

StreamFate Delivery::decide(Stream stream, bool barrier) {
    StreamFate fate;
    if (streams_.find(stream == Stream::a ? 'A' : 'B') == std::string::npos) {
        return fate;
    }
    const StreamFaults& odds = faults(stream);
    fate.lost = random_.chance(odds.loss);
    if (fate.lost) {
        return fate;
    }
    const unsigned copies = !barrier && random_.chance(odds.duplicate) ? 2 : 1;
    fate.corrupt = random_.chance(odds.corrupt) ? 1 : 0;
    fate.sound = copies - fate.corrupt;
    return fate;
}

/// Removes the faults that StreamFaults excludes. If the earlier stream lost a reset, the data
/// after it would look old; without its reset, a rollover would look like a bare wrap, and a number
/// that a reset uses would look lost. Of a line's first block, the receiver's result depends on
/// which copy arrives first.
void Delivery::spare(const SentBlock& block, std::array<StreamFate, streams_count>& fates) const {
    const bool both = !renumbers(block) || !block.lowers;
    const std::size_t front = config_.b.skew_ns < config_.a.skew_ns ? 1 : 0;
    for (std::size_t i = 0; i < streams_count; ++i) {
        const bool on = streams_.find(i == 0 ? 'A' : 'B') != std::string::npos;
        if (both || i == front || streams_.size() == 1) {
            fates[i] = StreamFate{on ? 1U : 0U, 0, false};
        }
    }
}

void Delivery::block(const SentBlock& block) {
    // Packets sent from now on arrive after this time, so all packets before it are in order.
    deliver_until(block.ts_ns + network_ns);
    const bool barrier = is_barrier(block);
    std::array<StreamFate, streams_count> fates{decide(Stream::a, barrier),
                                                decide(Stream::b, barrier)};
    if (barrier) {
        spare(block, fates);
    }
    first_arrival_ns_ = std::numeric_limits<std::int64_t>::max();
    fly(block, Stream::a, fates[0]);
    fly(block, Stream::b, fates[1]);
    note_hole(block, first_arrival_ns_);
    const bool heard = fates[0].sound + fates[1].sound != 0;
    const bool again = retransmits(block, heard);
    if (account_ != nullptr) {
        account_->block(block, fates, again && !heard);
    }
    if (heard) {
        retransmit_lost(block);
    }
    if (again) {
        Lost lost{marked(block.bytes), block.messages.size(), block.disaster_site};
        if (heard) {
            retransmit(block.line, lost, first_arrival_ns_, false);
        } else {
            lost_[block.line].push_back(std::move(lost));
        }
    }
}

/// Whether the block is retransmitted, because it was lost on both streams or for another
/// subscriber.
bool Delivery::retransmits(const SentBlock& block, bool heard) {
    const double share = heard ? config_.retransmitted_to_others : config_.retransmitted;
    return share > 0 && block.role == BlockRole::data &&
           lines_[block.line].retransmission[0].port != 0 && retransmissions_.chance(share);
}

/// Retransmits the blocks lost before this one, because this block shows that they are missing. A
/// reset does not show it.
void Delivery::retransmit_lost(const SentBlock& block) {
    for (const Lost& lost : lost_[block.line]) {
        if (!renumbers(block)) {
            retransmit(block.line, lost, first_arrival_ns_, true);
        }
    }
    lost_[block.line].clear();
}

/// Sends a block on the retransmission groups.
void Delivery::retransmit(LineIndex line, const Lost& lost, std::int64_t known_ns, bool fills) {
    for (std::size_t i = 0; i < streams_count; ++i) {
        if (streams_.find(i == 0 ? 'A' : 'B') != std::string::npos) {
            const nic::UdpRoute route =
                retransmission_route_of(lines_[line], static_cast<Stream>(i), lost.disaster_site);
            in_transit_.push(
                {known_ns + config_.retransmitted_after_ns, ++order_, frame_on(route, lost.bytes)});
        }
    }
    if (account_ != nullptr) {
        account_->came_again(lines_[line].number, lost.messages,
                             static_cast<unsigned>(streams_.size()), fills);
    }
}

/// If the first undamaged copy of a block arrives later than that of a block after it, the receiver
/// sees a hole for that time.
void Delivery::note_hole(const SentBlock& block, std::int64_t first_ns) {
    if (first_ns == std::numeric_limits<std::int64_t>::max()) {
        return;
    }
    std::int64_t& latest = last_first_ns_[block.line];
    if (latest > first_ns) {
        // An earlier block arrives later, so there is a hole until then.
        longest_hole_ns_ = std::max(longest_hole_ns_, latest - first_ns);
    }
    latest = std::max(latest, first_ns);
}

std::int64_t Delivery::arrival(const SentBlock& block, Stream stream) {
    const StreamFaults& odds = faults(stream);
    Path& path = paths_[block.line][index_of(stream)];
    std::int64_t at = block.ts_ns + network_ns + odds.skew_ns;
    if (is_barrier(block)) {
        at = std::max(at, path.latest_ns + 1);
        path.barrier_ns = at;
    } else if (random_.chance(odds.reorder)) {
        at += random_.between(1, std::max<std::int64_t>(odds.reorder_ns, 1));
    }
    at = std::max(at, path.barrier_ns);
    path.latest_ns = std::max(path.latest_ns, at);
    return at;
}

void Delivery::fly(const SentBlock& block, Stream stream, const StreamFate& fate) {
    if (fate.sound + fate.corrupt == 0) {
        return;
    }
    std::int64_t at = arrival(block, stream);
    std::vector<std::byte> frame =
        frame_of(lines_[block.line], stream, block.disaster_site, block.bytes);
    if (fate.sound != 0) {
        first_arrival_ns_ = std::min(first_arrival_ns_, at);
    }
    for (unsigned copy = 0; copy < fate.sound; ++copy) {
        in_transit_.push({at, ++order_, frame});
        at += duplicate_after_ns;
    }
    for (unsigned copy = 0; copy < fate.corrupt; ++copy) {
        const std::size_t headers = nic::udp_headers_bytes(0);
        const std::size_t where = headers + random_.below(frame.size() - headers);
        frame[where] ^= static_cast<std::byte>(random_.between(1, 255));
        in_transit_.push({at, ++order_, frame});
    }
    Path& path = paths_[block.line][index_of(stream)];
    path.latest_ns = std::max(path.latest_ns, at);
}

void Delivery::deliver_until(std::int64_t ts_ns) {
    while (!in_transit_.empty() && in_transit_.top().ts_ns < ts_ns) {
        sink_.packet(in_transit_.top().frame, in_transit_.top().ts_ns);
        in_transit_.pop();
    }
}

void Delivery::finish() {
    deliver_until(std::numeric_limits<std::int64_t>::max());
}

}  // namespace pinstrike::feed::opra::traffic
