// path: cold
//
// The traffic of a line and the copies of it that arrived, generated from a seed for the property
// tests. The bytes of each message hold a unique identity, so that a test can tell deliveries apart
// even if their numbers are equal.
#pragma once

#include "feed/arbitration/arbiter.h"
#include "tests/feed/numbering.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <tuple>
#include <vector>

namespace pinstrike::feed::test {

/// A block as it was sent.
struct Sent {
    BlockRole role = BlockRole::data;
    std::uint64_t sequence = 0;
    std::uint16_t messages = 0;
    std::uint16_t decodable = 0;
    std::int64_t ts_ns = 0;
    std::size_t epoch = 0;     ///< true index of its epoch; each reset begins an epoch
    std::uint64_t offset = 0;  ///< messages of the epoch up to the end of this block
    std::vector<std::uint32_t> identities;
};

/// One copy of a block that arrives.
struct Copy {
    const Sent* sent = nullptr;
    std::int64_t arrival_ns = 0;
    Source source = Source::a;
    unsigned first = 0;  ///< the part of the block; only repairs carry less than all
    unsigned count = 0;
    std::size_t order = 0;  ///< order among copies that arrive at the same time
};

inline void sort_by_arrival(std::vector<Copy>& copies) {
    for (std::size_t i = 0; i < copies.size(); ++i) {
        copies[i].order = i;
    }
    std::sort(copies.begin(), copies.end(), [](const Copy& a, const Copy& b) {
        return std::tie(a.arrival_ns, a.order) < std::tie(b.arrival_ns, b.order);
    });
}

struct Faults {
    double loss = 0;
    double duplicate = 0;
    double reorder = 0;
    std::int64_t reorder_ns = 0;
    std::int64_t skew_ns = 0;
};

enum class ResetLoss { none, of_one_copy, of_both };

struct TrafficPlan {
    std::size_t blocks = 150;
    double reset_share = 0.03;
    std::size_t reset_spacing = 1;  ///< least number of blocks between resets
    double integrity_share = 0.05;
    double undecodable_share = 0;
    double repair_share = 0;
    std::uint32_t first_number = 1;
    std::int64_t ts_step_ns = 20;  ///< longest step between two stamps; 0: all stamps are equal
    bool reorder_resets = false;
    bool raises = true;  ///< some resets skip numbers
    ResetLoss reset_loss = ResetLoss::none;
    Faults faults[2];
    std::int64_t join_ns = 0;  ///< copies that arrive earlier are dropped
};

class Traffic {
  public:
    Traffic(const TrafficPlan& plan, std::uint64_t seed) : plan_(plan), random_(seed) {
        sent_.reserve(plan.blocks);
        send();
        for (const Sent& sent : sent_) {
            travel(sent);
        }
        sort_by_arrival(copies_);
    }

    [[nodiscard]] const std::vector<Sent>& sent() const { return sent_; }

    [[nodiscard]] const std::vector<Copy>& copies() const { return copies_; }

    [[nodiscard]] std::uint32_t identities() const { return next_identity_; }

    [[nodiscard]] std::size_t epochs() const { return epoch_ + 1; }

  private:
    [[nodiscard]] bool happens(double share) {
        return std::uniform_real_distribution<double>(0, 1)(random_) < share;
    }

    [[nodiscard]] std::uint64_t below(std::uint64_t bound) {
        return bound == 0 ? 0 : random_() % bound;
    }

    void send() {
        // The true positions begin far above 0. Each epoch has its own.
        Position next = numbering.last + plan_.first_number;
        Position begin = next;
        std::int64_t ts = 1'000'000;
        std::size_t since_reset = 0;
        for (std::size_t i = 0; i < plan_.blocks; ++i) {
            ts += plan_.ts_step_ns == 0 ? 0
                                        : 1 + static_cast<std::int64_t>(below(
                                                  static_cast<std::uint64_t>(plan_.ts_step_ns)));
            Sent sent;
            sent.ts_ns = ts;
            if (i > 0 && ++since_reset >= plan_.reset_spacing && happens(plan_.reset_share)) {
                since_reset = 0;
                reset(sent, next);
                begin = next;
            } else if (happens(plan_.integrity_share)) {
                sent.role = BlockRole::line_integrity;
                sent.sequence = next == numbering.last + 1 ? 0 : numbering.number_at(next - 1);
            } else {
                data(sent, next);
                next += sent.messages;
            }
            sent.epoch = epoch_;
            sent.offset = next - begin;
            sent_.push_back(sent);
        }
    }

    void data(Sent& sent, Position next) {
        sent.sequence = numbering.number_at(next);
        sent.messages = sent.decodable = static_cast<std::uint16_t>(1 + below(4));
        if (happens(plan_.undecodable_share)) {
            sent.decodable = static_cast<std::uint16_t>(below(sent.messages));
        }
        for (unsigned i = 0; i < sent.messages; ++i) {
            sent.identities.push_back(next_identity_++);
        }
    }

    /// Makes a start of day, a reset to a number near 0, a raise, or a fall. The new numbers are so
    /// far from the previous ones that no receiver can mistake one for the other.
    void reset(Sent& sent, Position& next) {
        ++epoch_;
        const std::uint64_t last = numbering.number_at(next) - 1;
        sent.role = BlockRole::reset;
        switch (last > 2000 ? below(4) : 2) {
            case 0:
                sent.role = BlockRole::start_of_day;
                break;
            case 1:
                sent.sequence = below(3);
                break;
            case 2:
                sent.sequence =
                    last + (last > 4'000'000'000 || !plan_.raises ? 0 : below(2) * below(5000));
                break;
            default:
                sent.sequence = last - 1000 - below(900);
        }
        next = numbering.last + sent.sequence + 1;
    }

    void travel(const Sent& sent) {
        const bool is_reset = sent.role == BlockRole::reset || sent.role == BlockRole::start_of_day;
        bool lost_before = false;
        const std::uint64_t spared = below(2);
        for (unsigned stream = 0; stream < 2; ++stream) {
            const Faults& faults = plan_.faults[stream];
            bool lost = happens(is_reset ? 0.3 : faults.loss);
            if (is_reset) {
                lost = plan_.reset_loss == ResetLoss::none          ? false
                       : plan_.reset_loss == ResetLoss::of_one_copy ? lost && stream != spared
                                                                    : lost;
            }
            lost_before = lost_before || lost;
            if (lost) {
                continue;
            }
            const bool late = happens(faults.reorder) && (!is_reset || plan_.reorder_resets);
            arrive(sent, stream, late);
            if (happens(faults.duplicate)) {
                arrive(sent, stream, happens(0.5) && (!is_reset || plan_.reorder_resets));
            }
        }
        if (sent.role == BlockRole::data && lost_before && happens(plan_.repair_share)) {
            repair(sent);
        }
    }

    void arrive(const Sent& sent, unsigned stream, bool out_of_order) {
        const Faults& faults = plan_.faults[stream];
        const std::int64_t extra =
            out_of_order ? static_cast<std::int64_t>(
                               below(static_cast<std::uint64_t>(faults.reorder_ns) + 1))
                         : 0;
        add({&sent, when(sent) + faults.skew_ns + extra, static_cast<Source>(stream), 0,
             sent.messages});
    }

    void repair(const Sent& sent) {
        const auto first = static_cast<unsigned>(below(sent.messages));
        const auto count = static_cast<unsigned>(1 + below(sent.messages - first));
        // A receiver requested the repair, so it arrives after the originals.
        const std::int64_t skew_ns = std::max(plan_.faults[0].skew_ns, plan_.faults[1].skew_ns);
        add({&sent, when(sent) + skew_ns + 300 + static_cast<std::int64_t>(below(4000)),
             Source::repair, first, count});
    }

    /// When the block is sent: at its stamp, or, if all stamps are equal, in the order of the
    /// blocks.
    [[nodiscard]] std::int64_t when(const Sent& sent) const {
        return plan_.ts_step_ns != 0 ? sent.ts_ns : 1'000'000 + (&sent - sent_.data()) * 10;
    }

    void add(const Copy& copy) {
        if (copy.arrival_ns >= plan_.join_ns) {
            copies_.push_back(copy);
        }
    }

    TrafficPlan plan_;
    std::mt19937_64 random_;
    std::vector<Sent> sent_;
    std::vector<Copy> copies_;
    std::uint32_t next_identity_ = 0;
    std::size_t epoch_ = 0;
};

/// A capture without resets that is played several times, with a reset or a start of day in
/// between. The first blocks of each turn are never lost, because the arbiter recognises a new turn
/// by them.
class LoopedTraffic {
  public:
    LoopedTraffic(const TrafficPlan& plan, std::uint64_t seed, bool day_first, unsigned turns)
        : once_(plan, seed) {
        reset_.role = day_first ? BlockRole::start_of_day : BlockRole::reset;
        reset_.ts_ns = day_first ? once_.sent().front().ts_ns - 5 : once_.sent().back().ts_ns + 5;
        const std::int64_t turn_ns = once_.sent().back().ts_ns - once_.sent().front().ts_ns + 20;
        for (unsigned turn = 0; turn < turns; ++turn) {
            add_turn(plan, turn * turn_ns);
        }
        sort_by_arrival(copies_);
    }

    [[nodiscard]] const std::vector<Copy>& copies() const { return copies_; }

    /// The number of messages that arrived on either stream, over all turns.
    [[nodiscard]] std::uint64_t brought() const { return brought_; }

  private:
    void add_turn(const TrafficPlan& plan, std::int64_t later_ns) {
        std::vector<const Sent*> came;
        for (Copy copy : once_.copies()) {
            copy.arrival_ns += later_ns;
            copies_.push_back(copy);
            came.push_back(copy.sent);
        }
        for (std::size_t i = 0; i < 4; ++i) {
            for (const unsigned stream : {0U, 1U}) {
                add(plan, once_.sent()[i], stream, later_ns);
                came.push_back(&once_.sent()[i]);
            }
        }
        add(plan, reset_, 0, later_ns);
        add(plan, reset_, 1, later_ns);
        std::sort(came.begin(), came.end());
        came.erase(std::unique(came.begin(), came.end()), came.end());
        for (const Sent* sent : came) {
            brought_ += sent->identities.size();
        }
    }

    void add(const TrafficPlan& plan, const Sent& sent, unsigned stream, std::int64_t later_ns) {
        copies_.push_back({&sent, sent.ts_ns + plan.faults[stream].skew_ns + later_ns,
                           static_cast<Source>(stream), 0, sent.messages});
    }

    Traffic once_;
    Sent reset_;
    std::vector<Copy> copies_;
    std::uint64_t brought_ = 0;
};

}  // namespace pinstrike::feed::test
