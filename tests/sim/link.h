// path: cold
//
// The link of one stream from OPRA to a NIC: single and burst loss, duplicates, delay, reordering,
// corruption and outages; and foreign packets. Each packet keeps a reference to its block, so that
// the oracle knows which blocks arrived intact without the program's results.
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
    /// Burst loss (Gilbert-Elliott model): the probabilities per packet that a bad period begins
    /// and ends, and that a packet is lost in it.
    double bad_begins = 0;
    double bad_ends = 0.1;
    double bad_loss = 0.8;
    double duplicate = 0;
    double reorder = 0;
    std::int64_t reorder_ns = 0;  ///< maximum
    std::int64_t delay_ns = 25'000;
    std::int64_t jitter_ns = 0;  ///< mean; keeps the order
    double corrupt = 0;          ///< one byte is changed
    double truncate = 0;
    double pad = 0;  ///< bytes follow the packet, which stays valid
    std::vector<Outage> outages;
};

/// What is wrong with a packet.
enum class Fault : std::uint8_t {
    none,
    changed,          ///< one byte
    cut,              ///< at the end
    foreign_group,    ///< garbage in a sound datagram to a group or port of no line
    garbage_to_line,  ///< garbage in a sound datagram to a line
    garbage,          ///< no frame at all
};

/// A packet that arrives.
struct Flight {
    std::int64_t ts_ns = 0;
    const Block* block = nullptr;  ///< null: foreign or garbage
    std::size_t line = 0;          ///< index; also set for garbage on a line's group
    feed::Stream stream = feed::Stream::a;
    bool whole = false;
    bool to_line = false;  ///< its headers are valid: counts as a packet of the line
    bool repair = false;   ///< on a retransmission group: does not count for a stream
    Fault fault = Fault::none;
    std::size_t changed_at = 0;  ///< offset of the changed byte in the frame
    std::vector<std::byte> frame;
};

class Link {
  public:
    Link(const LinkFaults& faults, std::span<const feed::LineConfig> lines, feed::Stream stream,
         std::int64_t start_ns, std::uint64_t seed);

    /// Must be called in the order of sending.
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

/// Adds blocks that others requested, intact, on the retransmission groups.
void add_retransmissions(const Plan& plan, const Truth& truth, Random& random,
                         std::vector<Flight>& flights);

/// Adds `count` foreign packets amid the flights: other groups, other protocols, garbage, and
/// garbage on a line's address.
void add_noise(std::span<const feed::LineConfig> lines, std::size_t count, Random& random,
               std::vector<Flight>& flights);

}  // namespace pinstrike::sim
