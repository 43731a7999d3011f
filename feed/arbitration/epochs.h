// path: hot
//
// The epochs of a line's numbering. Each start of day and each reset begins one. The two streams
// carry a reset at different times, so for a while one stream is still in the epoch before, and
// missing messages of that epoch may come late. Therefore the last few epochs are kept.
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

/// The number of resets of a line since the program's start. Epoch 0 is before the first reset.
using EpochIndex = std::uint64_t;

/// The fields that are equal in both copies of a reset.
struct ResetIdentity {
    BlockRole role = BlockRole::reset;
    std::uint64_t sequence = 0;
    std::int64_t ts_exchange_ns = 0;

    friend bool operator==(const ResetIdentity&, const ResetIdentity&) = default;

    [[nodiscard]] static ResetIdentity of(const Block& block) {
        return {block.role, block.sequence, block.ts_exchange_ns};
    }
};

/// Resets and epochs that are remembered: copies of more than these in a row are not recognised.
/// While it is unknown where a line begins, an outage may send half a dozen resets in a row.
inline constexpr std::size_t resets_kept = 16;

struct Epoch {
    Position begin = 0;
    Position end = 0;       ///< after the last known number; not valid for the current epoch
    bool numbered = false;  ///< `begin` and `end` are valid
    bool repeats = false;   ///< its block times repeat earlier ones (a capture played in a loop)
    bool by_reset = false;  ///< false: it began at the start of the program, or was inferred
    bool inferred = false;
    Forget forget = Forget::nothing;
    ResetIdentity reset;  ///< if by_reset
    std::array<ResetIdentity, resets_kept>
        reported_late;  ///< the latest reported in it that did not begin it
    std::size_t reported_late_count = 0;
    /// No block of the epoch is stamped earlier, unless `repeats`.
    std::int64_t begin_ts_ns = std::numeric_limits<std::int64_t>::min();
    /// The block time of the block that set `begin`, if no reset did.
    std::int64_t first_ts_ns = std::numeric_limits<std::int64_t>::min();
    /// The latest block time that the epoch delivered; valid if the epoch has ended.
    std::int64_t newest_ts_ns = std::numeric_limits<std::int64_t>::min();

    void note_reported_late(const ResetIdentity& identity) {
        reported_late[reported_late_count++ % reported_late.size()] = identity;
    }

    [[nodiscard]] bool was_reported_late(const ResetIdentity& identity) const {
        const std::size_t kept = std::min(reported_late_count, reported_late.size());
        return std::any_of(reported_late.begin(), reported_late.begin() + kept,
                           [&identity](const ResetIdentity& known) { return known == identity; });
    }
};

/// The current epoch and the last few before it.
class EpochHistory {
  public:
    static constexpr std::size_t kept = resets_kept;

    [[nodiscard]] EpochIndex current_index() const { return current_; }

    [[nodiscard]] EpochIndex oldest_index() const {
        return current_ < kept ? 0 : current_ - kept + 1;
    }

    [[nodiscard]] Epoch& current() { return at(current_); }

    [[nodiscard]] const Epoch& current() const { return epochs_[current_ % kept]; }

    /// `index` must be from oldest_index() to current_index().
    [[nodiscard]] Epoch& at(EpochIndex index) { return epochs_[index % kept]; }

    Epoch& open() {
        ++current_;
        return current() = Epoch{};
    }

    /// The newest epoch after `behind` that this reset began; 0: there is none.
    [[nodiscard]] EpochIndex begun_by(const ResetIdentity& reset, EpochIndex behind) {
        for (EpochIndex i = current_; i > behind && i >= oldest_index(); --i) {
            if (at(i).by_reset && at(i).reset == reset) {
                return i;
            }
        }
        return 0;
    }

    /// Whether the reset began an epoch that is kept.
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

    /// Whether there were messages, up to the end of this epoch, that no reset up to then made
    /// consumers forget.
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
