// path: cold
#pragma once

#include <cstddef>
#include <cstdint>

namespace pinstrike::feed::opra {

enum class PacketShape : std::uint8_t {
    full,      ///< blocks filled to 1000 bytes, as in bursts: about 33 messages
    ordinary,  ///< geometric distribution, on average 2.26 messages per packet
    blend,     ///< both: bursts within ordinary traffic
};

/// Faults of one stream on the network. Probabilities are per packet, 0 to 1.
///
/// Starts of day and cold restarts are lost or damaged only on the later stream, the first block of
/// a line and other resets on neither stream. No packet is reordered across any of them. The
/// expected result would be undefined otherwise, because no document says what a receiver could
/// know of such a day.
struct StreamFaults {
    double loss = 0;
    double duplicate = 0;
    double reorder = 0;
    double corrupt = 0;                 ///< one byte of the UDP payload differs
    std::int64_t skew_ns = 0;           ///< delay against the other stream
    std::int64_t reorder_ns = 200'000;  ///< the longest delay of a reordered packet
};

/// The traffic that `generate` and the sim port generate. The same seed gives the same bytes.
struct TrafficConfig {
    std::uint64_t seed = 1;
    PacketShape shape = PacketShape::blend;
    unsigned messages_per_packet = 0;  ///< as many as fit, up to this; 0: as the shape says
    std::size_t lines_count = 96;  ///< how many of the configured lines are used, from the first
    std::size_t roots_count = 4000;
    std::size_t series_count = 1'500'000;
    std::uint64_t messages_count = 1'000'000;
    std::uint64_t packets_count = 0;  ///< ends the session too; 0: no limit
    double rate_messages_per_second = 1'000'000;
    double mix = 1;                    ///< 0: plain short quotes only; 1: the realistic mix
    double test_symbols = 0;           ///< share of quotes in reserved test symbols
    bool session = true;               ///< with start of day, open interest, end of day ...
    std::uint64_t maps_count = 0;      ///< series maps at the start of day; 0: 1 % of the messages
    double burst_factor = 10;          ///< blend: rate in bursts divided by the ordinary rate
    double burst_share = 0.1;          ///< blend: share of the time spent in bursts
    std::uint32_t first_sequence = 1;  ///< of the first data; a session reaches it by a reset
    unsigned restarts_count = 0;       ///< cold restarts (K with sequence 1, zero quotes)
    bool disaster = false;             ///< the disaster site takes over once (K, K, P)
    bool rollover_reset = false;       ///< a K announces the wrap; false: a bare wrap
    bool end_with_reset = false;       ///< K with sequence 0 at the end, for a capture in a loop
    std::int64_t start_ns = 1'773'667'800'000'000'000;  ///< stream time: 2026-03-16 13:30 UTC
    StreamFaults a;
    StreamFaults b;
    double retransmitted = 0;  ///< share of the blocks lost on both streams that are retransmitted
    double retransmitted_to_others = 0;               ///< share of all other blocks
    std::int64_t retransmitted_after_ns = 1'000'000;  ///< counted from when the loss shows
};

}  // namespace pinstrike::feed::opra
