// path: cold
//
// The way of one stream from OPRA to a NIC: what it loses, one by one or in runs, doubles, delays,
// reorders, damages and cuts off; and what else is on the wire. Each packet on its way remembers
// what it was, so that the oracle knows what arrived whole without asking the program.
#pragma once

#include "feed/event/block.h"
#include "feed/lines/line_config.h"
#include "feed/opra/traffic/random.h"
#include "tests/sim/truth.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pinstrike::sim {

using feed::opra::traffic::Random;

struct Plan;

/// The link carries nothing for this long, counted from the start of the traffic.
struct Outage {
    std::int64_t at_ns = 0;
    std::int64_t for_ns = 0;
};

struct LinkFaults {
    double loss = 0;
    /// Runs of loss (Gilbert and Elliott): how often a bad time begins and ends, by packet, and
    /// what is lost in it.
    double bad_begins = 0;
    double bad_ends = 0.1;
    double bad_loss = 0.8;
    double duplicate = 0;
    double reorder = 0;
    std::int64_t reorder_ns = 0;  ///< at most
    std::int64_t delay_ns = 25'000;
    std::int64_t jitter_ns = 0;  ///< mean, in order
    double corrupt = 0;          ///< one byte differs
    double truncate = 0;
    double pad = 0;  ///< bytes behind the packet: whole nevertheless
    std::vector<Outage> outages;
};

/// A packet that arrives.
struct Flight {
    std::int64_t ts_ns = 0;
    const Block* block = nullptr;  ///< null: foreign or garbage
    std::size_t line = 0;          ///< index, of garbage on a line's group as well
    feed::Stream stream = feed::Stream::a;
    bool whole = false;
    bool to_line = false;  ///< reaches the line's counts: its headers are right
    bool repair = false;   ///< on a retransmission group: reaches no stream's counts
    std::vector<std::byte> frame;
};

class Link {
  public:
    Link(const LinkFaults& faults, std::span<const feed::LineConfig> lines, feed::Stream stream,
         std::int64_t start_ns, std::uint64_t seed);

    /// Blocks in the order of sending.
    void carry(const Block& block, std::vector<Flight>& flights);

  private:
    [[nodiscard]] bool loses(std::int64_t ts_ns);
    [[nodiscard]] Flight flight_of(const Block& block);
    void damage(Flight& flight);

    const LinkFaults& faults_;
    std::span<const feed::LineConfig> lines_;
    feed::Stream stream_;
    std::int64_t start_ns_;
    Random random_;
    bool bad_ = false;
    std::int64_t latest_ns_ = 0;
};

/// Blocks that others asked for, on the groups of retransmission, whole.
void add_retransmissions(const Plan& plan, const Truth& truth, Random& random,
                         std::vector<Flight>& flights);

/// What a host gets that is no line's: other groups, other protocols, garbage, and garbage that
/// bears a line's address. `count` packets amid the flights that are there.
void add_noise(std::span<const feed::LineConfig> lines, std::size_t count, Random& random,
               std::vector<Flight>& flights);

}  // namespace pinstrike::sim
