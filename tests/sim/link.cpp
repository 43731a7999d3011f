// path: cold
#include "tests/sim/link.h"

#include "feed/opra/encode.h"
#include "feed/opra/layout.h"
#include "feed/opra/traffic/delivery.h"
#include "nic/packet/udp_frame_writer.h"
#include "tests/sim/plan.h"

#include <algorithm>
#include <cstddef>

namespace pinstrike::sim {

namespace {

constexpr std::size_t udp_checksum_offset = nic::ethernet_header_bytes + 20 + 6;

std::vector<std::byte> random_bytes(std::size_t count, Random& random) {
    std::vector<std::byte> bytes(count);
    for (std::byte& byte : bytes) {
        byte = static_cast<std::byte>(random.next());
    }
    return bytes;
}

std::vector<std::byte> udp_frame(const nic::UdpRoute& route, std::span<const std::byte> payload) {
    const std::size_t headers = nic::udp_headers_bytes(route.vlan);
    std::vector<std::byte> frame(headers + payload.size());
    std::copy(payload.begin(), payload.end(), frame.begin() + static_cast<std::ptrdiff_t>(headers));
    nic::write_udp_headers(frame.data(), route, payload.size(), nic::UdpChecksumSent::computed);
    return frame;
}

}  // namespace

Link::Link(const LinkFaults& faults, std::span<const feed::LineConfig> lines, feed::Stream stream,
           std::int64_t start_ns, std::uint64_t seed)
    : faults_(faults), lines_(lines), stream_(stream), start_ns_(start_ns), random_(seed) {}

bool Link::loses(std::int64_t ts_ns) {
    bad_ = random_.chance(bad_ ? 1 - faults_.bad_ends : faults_.bad_begins);
    const bool lost = random_.chance(faults_.loss) || (bad_ && random_.chance(faults_.bad_loss));
    const std::int64_t since_ns = ts_ns - start_ns_;
    return lost || std::ranges::any_of(faults_.outages, [=](const Outage& outage) {
               return since_ns >= outage.at_ns && since_ns - outage.at_ns < outage.for_ns;
           });
}

Flight Link::flight_of(const Block& block) {
    Flight flight;
    flight.block = &block;
    flight.line = block.line;
    flight.stream = stream_;
    flight.whole = flight.to_line = true;
    flight.frame = feed::opra::traffic::frame_of(lines_[block.line], stream_, block.disaster_site,
                                                 block.bytes);
    flight.ts_ns = block.ts_ns + faults_.delay_ns;
    if (faults_.jitter_ns > 0) {
        flight.ts_ns +=
            static_cast<std::int64_t>(random_.exponential(static_cast<double>(faults_.jitter_ns)));
    }
    flight.ts_ns = std::max(flight.ts_ns, latest_ns_);
    if (faults_.reorder > 0 && random_.chance(faults_.reorder)) {
        flight.ts_ns += random_.between(1, std::max<std::int64_t>(faults_.reorder_ns, 1));
    } else {
        latest_ns_ = flight.ts_ns;
    }
    damage(flight);
    return flight;
}

/// Changes one byte from the Ethernet type on, but never of the UDP checksum, because 0 there means
/// no checksum. A corrupted packet is therefore always detected.
void Link::damage(Flight& flight) {
    std::vector<std::byte>& frame = flight.frame;
    if (random_.chance(faults_.corrupt)) {
        std::size_t at = 0;
        do {
            at = 12 + random_.below(frame.size() - 12);
        } while (at == udp_checksum_offset || at == udp_checksum_offset + 1);
        frame[at] ^= static_cast<std::byte>(random_.between(1, 255));
        flight.whole = flight.to_line = false;
        flight.fault = Fault::changed;
        flight.changed_at = at;
    } else if (random_.chance(faults_.truncate)) {
        frame.resize(random_.below(frame.size()));
        flight.whole = flight.to_line = false;
        flight.fault = Fault::cut;
    } else if (random_.chance(faults_.pad)) {
        frame.resize(frame.size() + random_.below(64));
    }
}

void Link::carry(const Block& block, std::vector<Flight>& flights) {
    if (loses(block.ts_ns)) {
        return;
    }
    flights.push_back(flight_of(block));
    if (random_.chance(faults_.duplicate)) {
        flights.push_back(flight_of(block));
    }
}

void add_retransmissions(const Plan& plan, const Truth& truth, Random& random,
                         std::vector<Flight>& flights) {
    const RetransmissionPlan& how = plan.retransmission;
    for (const Block& block : truth.blocks()) {
        if (!block.numbered() || !random.chance(how.share)) {
            continue;
        }
        std::vector<std::byte> bytes = block.bytes;
        if (random.chance(how.marked)) {
            bytes[feed::opra::block::retransmission.at] = std::byte{'V'};
            feed::opra::fix_checksum(bytes);
        }
        Flight flight;
        flight.block = &block;
        flight.line = block.line;
        flight.stream = random.chance(0.5) ? feed::Stream::a : feed::Stream::b;
        flight.whole = flight.repair = true;
        flight.ts_ns = block.ts_ns + random.between(1, std::max<std::int64_t>(how.after_ns_max, 1));
        flight.frame = udp_frame(feed::opra::traffic::retransmission_route_of(
                                     plan.lines[block.line], flight.stream, block.disaster_site),
                                 bytes);
        flights.push_back(std::move(flight));
    }
}

void add_noise(std::span<const feed::LineConfig> lines, std::size_t count, Random& random,
               std::vector<Flight>& flights) {
    constexpr std::int64_t apart_ns = 1'000'000;
    const std::size_t real = flights.size();
    for (std::size_t i = 0; i < count && real != 0; ++i) {
        Flight flight;
        flight.ts_ns = flights[random.below(real)].ts_ns + random.between(0, apart_ns);
        flight.line = random.below(lines.size());
        flight.stream = random.chance(0.5) ? feed::Stream::a : feed::Stream::b;
        nic::UdpRoute route =
            feed::opra::traffic::route_of(lines[flight.line], flight.stream, false);
        switch (random.below(4)) {
            case 0:  // a foreign group
                route.destination.address.value ^= 0x0001'0000U;
                flight.fault = Fault::foreign_group;
                flight.frame = udp_frame(route, random_bytes(random.below(500), random));
                break;
            case 1:  // the right group, another port
                route.destination.port ^= 0x4000;
                flight.fault = Fault::foreign_group;
                flight.frame = udp_frame(route, random_bytes(random.below(500), random));
                break;
            case 2:  // garbage on a line's address
                flight.frame = udp_frame(route, random_bytes(random.below(500), random));
                flight.to_line = true;
                flight.fault = Fault::garbage_to_line;
                break;
            default:
                flight.frame = random_bytes(random.below(1500), random);
                flight.fault = Fault::garbage;
                break;
        }
        flights.push_back(std::move(flight));
    }
}

}  // namespace pinstrike::sim
