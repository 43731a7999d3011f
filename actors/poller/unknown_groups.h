// path: hot
//
// The most frequent destinations of packets that no line listens to, so that an operator can add
// them to the config or filter them before the port. Memory and time are bounded for any traffic.
//
// The hash of a destination selects a bucket of four entries. A destination that finds no entry
// lowers the score of the entry with the lowest score, and replaces that entry when its score is 0
// (the Boyer-Moore majority vote algorithm): rare destinations do not replace frequent ones. The
// packet count of an entry starts when its destination enters it, so it is never too high.
//
// The poll thread counts; cold threads read, rarely. Relaxed order is enough, because each figure
// is used on its own. While an entry changes its destination, a reader may see the new destination
// with figures of the old one. The next read shows the right ones.
#pragma once

#include "config/counter.h"
#include "nic/packet/address.h"
#include "nic/packet/datagram.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pinstrike::actors {

/// A destination that no line listens to.
struct UnknownGroup {
    nic::Group group;
    nic::Ipv4 from;  ///< the last sender
    std::uint64_t packets = 0;
};

class UnknownGroups {
  public:
    /// The most destinations that are reported.
    static constexpr std::size_t reported_max = 8;

    /// Poll thread.
    [[gnu::noinline]] void count(const nic::Datagram& datagram) noexcept {
        const std::uint64_t key = std::uint64_t{datagram.group_ip} << 16 | datagram.port;
        Place& place = place_of(key);
        if (place.key.load(std::memory_order_relaxed) != key) {
            if (place.score != 0) {
                --place.score;
                return;
            }
            place.key.store(key, std::memory_order_relaxed);
            place.packets.set(0);
        }
        ++place.score;
        place.from.store(datagram.source_ip, std::memory_order_relaxed);
        place.packets.add();
    }

    /// Any thread. The most frequent destination comes first.
    [[nodiscard]] std::vector<UnknownGroup> most_frequent() const;

  private:
    static constexpr std::size_t bucket_places = 4;
    static constexpr unsigned bucket_bits = 6;

    struct Place {
        std::atomic<std::uint64_t> key{0};
        std::atomic<std::uint32_t> from{0};
        Counter packets;
        std::uint64_t score = 0;  ///< used by the poll thread only
    };

    /// The entry of this destination, or the entry of its bucket with the lowest score.
    [[nodiscard]] Place& place_of(std::uint64_t key) noexcept {
        const std::uint64_t bucket = key * 0x9E37'79B9'7F4A'7C15ULL >> (64 - bucket_bits);
        Place* const first = places_.data() + bucket * bucket_places;
        Place* lowest = first;
        for (Place* place = first; place != first + bucket_places; ++place) {
            if (place->key.load(std::memory_order_relaxed) == key) {
                return *place;
            }
            lowest = place->score < lowest->score ? place : lowest;
        }
        return *lowest;
    }

    std::array<Place, bucket_places << bucket_bits> places_{};
};

/// "239.1.4.4:31004 from 162.69.44.4, 21 packets; 239.1.4.5:31005 from ..."
[[nodiscard]] std::string to_text(const std::vector<UnknownGroup>& groups);

}  // namespace pinstrike::actors
