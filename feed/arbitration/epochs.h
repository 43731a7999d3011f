// path: hot
//
// Epochs of a line's numbering: each start of day and each reset begins one. The two streams bring
// a reset at different times, so for a while one stream is in the epoch before; and what the epoch
// before still lacks may come late. The last few epochs are therefore remembered.
#pragma once

#include "feed/event/block.h"
#include "feed/event/event.h"
#include "feed/event/position.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace pinstrike::feed {

/// Counts the resets of a line since the program's start; epoch 0 is what was before the first.
using EpochIndex = std::uint64_t;

/// What is equal in both copies of a reset.
struct ResetIdentity {
    BlockRole role = BlockRole::reset;
    std::uint64_t sequence = 0;
    std::int64_t ts_exchange_ns = 0;

    friend bool operator==(const ResetIdentity&, const ResetIdentity&) = default;

    [[nodiscard]] static ResetIdentity of(const Block& block) {
        return {block.role, block.sequence, block.ts_exchange_ns};
    }
};

struct Epoch {
    Position begin = 0;
    Position end = 0;       ///< behind the last known number; of the current one: see Arbiter
    bool numbered = false;  ///< begin and end hold
    bool repeats = false;   ///< its blocks are stamped like earlier ones (a capture in a loop)
    bool by_reset = false;  ///< else it began where the program started, or was inferred
    bool inferred = false;
    Forget forget = Forget::nothing;
    ResetIdentity reset;                     ///< if by_reset
    std::array<ResetIdentity, 4> told_late;  ///< the latest that were told, but did not begin it
    std::size_t told_late_count = 0;
    /// No block of the epoch is stamped earlier, unless it repeats.
    std::int64_t begin_ts_ns = std::numeric_limits<std::int64_t>::min();
    /// Of the block that set `begin`, where no reset did.
    std::int64_t first_ts_ns = std::numeric_limits<std::int64_t>::min();
    /// Of an epoch that is over: the newest of what it delivered.
    std::int64_t newest_ts_ns = std::numeric_limits<std::int64_t>::min();

    void note_told_late(const ResetIdentity& identity) {
        told_late[told_late_count++ % told_late.size()] = identity;
    }

    [[nodiscard]] bool has_told_late(const ResetIdentity& identity) const {
        const std::size_t kept = std::min(told_late_count, told_late.size());
        return std::any_of(told_late.begin(), told_late.begin() + kept,
                           [&identity](const ResetIdentity& told) { return told == identity; });
    }
};

/// The current epoch and the last few before it.
class EpochHistory {
  public:
    static constexpr std::size_t kept = 16;

    [[nodiscard]] EpochIndex current_index() const { return current_; }

    [[nodiscard]] EpochIndex oldest_index() const {
        return current_ < kept ? 0 : current_ - kept + 1;
    }

    [[nodiscard]] Epoch& current() { return at(current_); }

    [[nodiscard]] const Epoch& current() const { return epochs_[current_ % kept]; }

    /// Only from oldest_index() to current_index().
    [[nodiscard]] Epoch& at(EpochIndex index) { return epochs_[index % kept]; }

    Epoch& open() {
        ++current_;
        return current() = Epoch{};
    }

    /// The newest epoch behind `behind` that this reset began; 0 if none did.
    [[nodiscard]] EpochIndex begun_by(const ResetIdentity& reset, EpochIndex behind) {
        for (EpochIndex i = current_; i > behind && i >= oldest_index(); --i) {
            if (at(i).by_reset && at(i).reset == reset) {
                return i;
            }
        }
        return 0;
    }

    /// Whether it began any of those remembered.
    [[nodiscard]] bool knows(const ResetIdentity& reset) const {
        return std::any_of(epochs_.begin(), epochs_.end(), [&reset](const Epoch& epoch) {
            return epoch.by_reset && epoch.reset == reset;
        });
    }

    /// The most that any reset since this epoch made consumers forget.
    [[nodiscard]] Forget forgotten_since(EpochIndex index) {
        Forget most = Forget::nothing;
        for (EpochIndex i = std::max(index + 1, oldest_index()); i <= current_; ++i) {
            most = std::max(most, at(i).forget);
        }
        return most;
    }

    /// Whether anything up to the end of this epoch came that no reset since made consumers forget.
    [[nodiscard]] bool has_unforgotten(EpochIndex index) {
        for (EpochIndex i = index; i > oldest_index(); --i) {
            if (at(i).end != at(i).begin || at(i).forget != Forget::nothing) {
                return at(i).end != at(i).begin;
            }
        }
        return at(oldest_index()).numbered;
    }

  private:
    std::array<Epoch, kept> epochs_{};
    EpochIndex current_ = 0;
};

}  // namespace pinstrike::feed
