// path: hot
//
// Which of the received packets are recorded: those of some lines, or of each packet only the copy
// that came first.
//
// The second copy of a packet has the same line and payload, and came on the other stream. A
// fingerprint of the payload finds it. The arbiter's decisions are not used, because to note them
// for each packet would cost time on the fast path, and because a copy that is damaged behind its
// header differs from the whole one, so both are recorded. A fingerprint that was overwritten
// before the second copy came costs only space on the disk.
//
// The control thread may change the lines while the poller records. It writes the words of a
// bitmap, of which the poller reads one for each packet. Relaxed order is enough, because a word
// guards no other data, and it does not matter which packet is the first of a line.
#pragma once

#include "feed/event/block.h"
#include "nic/packet/packet.h"

#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pinstrike::actors {

/// Lines by number, or by their places in a poller, from 1 on. 0 stands for packets that match no
/// line.
using LineSet = std::bitset<(1 << 16)>;

/// These lines by number; none: all, and 0.
[[nodiscard]] LineSet line_set(const std::vector<std::uint16_t>& numbers);

/// The same lines by their places in a poller that has lines of these numbers. If all lines are
/// wanted, so are those that will be added.
[[nodiscard]] LineSet places_of(const LineSet& lines, std::span<const std::uint16_t> numbers);

/// The numbers of a recording's interfaces: one for packets of no line, then for each line, by its
/// index within the poller, one for each stream and one for repaired blocks. Lines that a reload
/// adds come behind them.
inline constexpr std::uint32_t interface_of_no_line = 0;
inline constexpr std::uint32_t interfaces_each_line = feed::streams_count + 1;

[[nodiscard]] constexpr std::uint32_t interface_of(std::uint32_t line, feed::Stream stream) {
    return 1 + interfaces_each_line * line + static_cast<std::uint32_t>(stream);
}

[[nodiscard]] constexpr std::uint32_t interface_of_repairs(std::uint32_t line) {
    return 1 + interfaces_each_line * line + static_cast<std::uint32_t>(feed::streams_count);
}

class RecordFilter {
  public:
    /// `places`: of the lines. `copies_slots`: fingerprints that are kept, a power of two; 0: both
    /// copies are recorded.
    explicit RecordFilter(const LineSet& places, std::size_t copies_slots = 0);

    /// Control thread. Only packets of the lines at these places are recorded from now on.
    void want(const LineSet& places) noexcept;

    /// Whether any line is wanted.
    [[nodiscard]] bool wants_any() const noexcept { return some() != Some::none; }

    /// Whether wants() would be true of every packet, without a mark.
    [[nodiscard]] bool wants_all() const noexcept { return some() == Some::all && copies_.empty(); }

    /// A fingerprint of the payload, its line and its stream.
    struct Mark {
        std::uint64_t value = 0;  ///< the lowest bit tells the streams apart; 0: there is no mark
        std::size_t slot = 0;
    };

    /// Whether a packet is to be recorded. `interface`: its number in the recording. Sets `mark`,
    /// if note_recorded() needs it.
    [[nodiscard]] bool wants(const nic::Packet& packet, std::uint32_t interface,
                             Mark& mark) noexcept {
        return wants_place((interface + interfaces_each_line - 1) / interfaces_each_line) &&
               (copies_.empty() || interface % interfaces_each_line == 0 ||
                is_first(packet, interface, mark));
    }

    /// The packet of this mark was recorded, so its second copy is not wanted.
    void note_recorded(const Mark& mark) noexcept {
        if (mark.value != 0) {
            copies_[mark.slot] = mark.value;
        }
    }

  private:
    static constexpr std::size_t word_bits = 64;

    enum class Some : std::uint8_t { none, some, all };

    [[nodiscard]] Some some() const noexcept {
        return some_->load(std::memory_order_relaxed);  // the head of this file says why
    }

    using Words = std::array<std::atomic<std::uint64_t>, LineSet{}.size() / word_bits>;

    [[nodiscard]] bool wants_place(std::size_t place) const noexcept {
        // The head of this file says why this order is enough.
        const std::uint64_t word = (*places_)[place / word_bits].load(std::memory_order_relaxed);
        return (word >> place % word_bits & 1) != 0;
    }

    /// Each packet is compared with one earlier packet at most, which it then takes the place of,
    /// so repetitions on one stream are recorded.
    [[nodiscard]] bool is_first(const nic::Packet& packet, std::uint32_t interface,
                                Mark& mark) noexcept;

    std::unique_ptr<Words> places_;            ///< a bit for each
    std::unique_ptr<std::atomic<Some>> some_;  ///< of the places
    std::vector<std::uint64_t> copies_;        ///< marks of recorded packets; 0: none
};

}  // namespace pinstrike::actors
