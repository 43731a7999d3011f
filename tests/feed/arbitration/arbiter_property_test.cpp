// path: cold
//
// Tests the arbiter against a simple model. The model knows the traffic and the copies that
// arrived, and derives which messages must be delivered and which are missing.
#include "feed/arbitration/arbiter.h"
#include "tests/feed/arbitration/arbiter_script.h"
#include "tests/feed/arbitration/arbiter_traffic.h"
#include "tests/feed/numbering.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace pinstrike::feed::test {
namespace {

struct Told {
    enum class Kind { message, gap, found, reset };
    Kind kind;
    std::uint64_t first = 0;  // of a message: identity; of a gap: number; of a reset: sequence
    std::uint64_t last = 0;
    unsigned detail = 0;  // of a message: flags; of a gap: cause; of a reset: forget
    bool inferred = false;

    friend bool operator==(const Told&, const Told&) = default;
};

/// Records all events of the arbiter.
class Recorder : public ArbiterSink {
  public:
    std::vector<Told> reported;
    std::uint64_t lost = 0;  ///< messages reported as lost and not found since

    void deliver(const Block& block, unsigned first, unsigned count, DeliveryFlags flags) override {
        ASSERT_LE(first + count, block.decodable);
        ASSERT_EQ(block.bytes.size(), block.messages * sizeof(std::uint32_t));
        for (unsigned i = first; i < first + count; ++i) {
            std::uint32_t identity = 0;
            std::memcpy(&identity, block.bytes.data() + i * sizeof identity, sizeof identity);
            reported.push_back({Told::Kind::message, identity, 0, flags});
        }
    }

    void gap(std::uint64_t first, std::uint64_t last, std::uint64_t messages, GapCause cause,
             std::int64_t /*ts_exchange_ns*/, DeliveryFlags /*flags*/) override {
        const bool repaired = cause == GapCause::repaired;
        EXPECT_EQ(numbering.number_at(numbering.last + first + messages - 1), last);
        reported.push_back({repaired ? Told::Kind::found : Told::Kind::gap, first, last,
                            static_cast<unsigned>(cause)});
        EXPECT_TRUE(!repaired || messages <= lost) << "found more than was lost";
        lost += repaired ? 0 - messages : messages;
    }

    void reset(const Block& block, Forget forget, bool inferred) override {
        reported.push_back(
            {Told::Kind::reset, block.sequence, 0, static_cast<unsigned>(forget), inferred});
    }

    struct Missing {
        Position end;
        std::int64_t ts_before_ns;  ///< the messages were sent between these times
        std::int64_t ts_behind_ns;
    };

    /// The missing numbers according to the notes, by the start of each range.
    std::map<Position, Missing> missed;

    void missing(Position begin, Position end, std::int64_t ts_before_ns,
                 std::int64_t ts_behind_ns) override {
        cut(begin);
        cut(end);
        EXPECT_EQ(missed.lower_bound(begin), missed.lower_bound(end)) << "noted twice";
        missed[begin] = {end, ts_before_ns, ts_behind_ns};
    }

    void found(Position begin, Position end) override {
        cut(begin);
        cut(end);
        missed.erase(missed.lower_bound(begin), missed.lower_bound(end));
    }

  private:
    /// Splits a range that contains this position inside, so that no range spans it.
    void cut(Position position) {
        const auto behind = missed.lower_bound(position);
        if (behind != missed.begin() && std::prev(behind)->second.end > position) {
            Missing& before = std::prev(behind)->second;
            missed[position] = before;
            before.end = position;
        }
    }
};

/// Plays the copies into an arbiter as a poller would.
class Trial {
  public:
    using After = std::function<void(const Copy&, const Recorder&)>;

    template <class Source>
    Trial(
        const Source& traffic, const ArbitrationConfig& config,
        const After& after = [](const Copy&, const Recorder&) {})
        : arbiter(config, numbering) {
        std::int64_t now = 0;
        for (const Copy& copy : traffic.copies()) {
            now = copy.arrival_ns;
            while (arbiter.next_deadline_ns() <= now) {
                const std::int64_t deadline = arbiter.next_deadline_ns();
                arbiter.step(deadline, sink);
                EXPECT_GT(arbiter.next_deadline_ns(), deadline);
            }
            admit(copy);
            EXPECT_EQ(sink.lost, arbiter.counters().read(LineCount::lost));
            trace(copy);
            after(copy, sink);
        }
        arbiter.finish(now, sink);
        EXPECT_EQ(sink.lost, arbiter.counters().read(LineCount::lost));
    }

    Recorder sink;
    Arbiter arbiter;

  private:
    /// If a single seed is run, prints each copy that arrived and the events that followed.
    void trace(const Copy& copy) {
        if (std::getenv("PINSTRIKE_SEED") == nullptr) {
            return;
        }
        const Sent& sent = *copy.sent;
        std::printf("%6lld %c %c e%zu %lu+%u/%u ts %lld id %d:", at_ns(copy.arrival_ns),
                    "abV"[static_cast<int>(copy.source)], "dNCK"[static_cast<int>(sent.role)],
                    sent.epoch, sent.sequence, sent.messages, sent.decodable, at_ns(sent.ts_ns),
                    sent.identities.empty() ? -1 : static_cast<int>(sent.identities[0]));
        for (; traced_ < sink.reported.size(); ++traced_) {
            const Told& reported = sink.reported[traced_];
            std::printf(" %c%lu-%lu/%u", "mgfr"[static_cast<int>(reported.kind)], reported.first,
                        reported.last, reported.detail);
        }
        std::printf("  E %lu\n", arbiter.expected());
    }

    static long long at_ns(std::int64_t ns) { return ns - 1'000'000; }

    std::size_t traced_ = 0;

    void admit(const Copy& copy) {
        const Sent& sent = *copy.sent;
        const bool repair = copy.source == Source::repair;
        Block block;
        block.role = sent.role;
        block.sequence = sent.sequence;
        block.messages = block.decodable = 1;
        block.retransmitted = repair;
        block.ts_exchange_ns = sent.ts_ns;
        block.ts_receive_ns = copy.arrival_ns;
        if (sent.role == BlockRole::data) {
            block.sequence = numbering.number_at(numbering.last + sent.sequence + copy.first);
            block.messages = static_cast<std::uint16_t>(copy.count);
            block.decodable = static_cast<std::uint16_t>(std::clamp<int>(
                sent.decodable - static_cast<int>(copy.first), 0, static_cast<int>(copy.count)));
            block.bytes = std::as_bytes(std::span(sent.identities).subspan(copy.first, copy.count));
        }
        // The bytes become invalid when the call returns, as those of a port do.
        std::vector<std::byte> bytes(block.bytes.begin(), block.bytes.end());
        block.bytes = bytes;
        const auto stream = repair ? Stream::a : static_cast<Stream>(copy.source);
        switch (arbiter.commit(block, stream)) {
            case Verdict::deliver_all:
                sink.deliver(block, 0, block.messages, 0);
                break;
            case Verdict::duplicate_all:
                break;
            case Verdict::slow:
                arbiter.commit_slow(block, stream, copy.arrival_ns, sink);
                break;
        }
    }
};

/// The results that follow from the traffic and the copies that arrived.
struct Model {
    std::set<std::uint64_t> brought;          // identities of decodable messages in original blocks
    std::set<std::uint64_t> repairable;       // ... and in retransmissions
    std::map<std::uint64_t, const Sent*> of;  // block of each identity
    std::vector<std::uint64_t> known;         // identities known to have existed, in order
    std::set<std::size_t> resets;             // epochs whose reset arrived
    bool all_resets_came = true;              // of each epoch of which a block arrived

    explicit Model(const Traffic& traffic) {
        std::size_t first_epoch = 0;
        std::uint64_t begin = 0;
        bool begun = false;
        std::map<std::size_t, std::uint64_t> known_to;
        for (const Copy& copy : traffic.copies()) {
            const Sent& sent = *copy.sent;
            const bool data = sent.role == BlockRole::data;
            const bool reset =
                sent.role == BlockRole::reset || sent.role == BlockRole::start_of_day;
            if (copy.source == Source::repair) {
                for (unsigned i = copy.first;
                     i < std::min<unsigned>(copy.first + copy.count, sent.decodable); ++i) {
                    repairable.insert(sent.identities[i]);
                }
                continue;
            }
            if (!begun) {
                begun = true;
                first_epoch = sent.epoch;
                begin = data ? sent.offset - sent.messages : sent.offset;
            }
            if (reset && sent.epoch >= first_epoch) {
                resets.insert(sent.epoch);
            }
            known_to[sent.epoch] = std::max(known_to[sent.epoch], sent.offset);
            for (unsigned i = 0; i < sent.decodable && data; ++i) {
                brought.insert(sent.identities[i]);
            }
        }
        for (const auto& [epoch, end] : known_to) {
            all_resets_came = all_resets_came && (epoch <= first_epoch || resets.contains(epoch));
        }
        for (const Sent& sent : traffic.sent()) {
            for (unsigned i = 0; i < sent.identities.size(); ++i) {
                const std::uint64_t offset = sent.offset - sent.messages + i;
                of[sent.identities[i]] = &sent;
                const bool before_start =
                    sent.epoch < first_epoch || (sent.epoch == first_epoch && offset < begin);
                if (!before_start && offset < known_to[sent.epoch]) {
                    known.push_back(sent.identities[i]);
                }
            }
        }
        std::set<std::uint64_t> existing(known.begin(), known.end());
        std::erase_if(brought, [&](std::uint64_t id) { return !existing.contains(id); });
        std::erase_if(repairable, [&](std::uint64_t id) { return !existing.contains(id); });
    }

    [[nodiscard]] std::uint64_t number_of(std::uint64_t identity) const {
        const Sent& sent = *of.at(identity);
        return numbering.number_at(numbering.last + sent.sequence +
                                   (identity - sent.identities[0]));
    }
};

/// Checks that every message is delivered at most once, and in order unless it is late, and that
/// the account balances. Returns the identities delivered.
std::set<std::uint64_t> check_always(Trial& trial) {
    std::set<std::uint64_t> delivered;
    std::int64_t newest = -1;
    for (const Told& reported : trial.sink.reported) {
        if (reported.kind != Told::Kind::message) {
            continue;
        }
        EXPECT_TRUE(delivered.insert(reported.first).second) << "twice: " << reported.first;
        if ((reported.detail & flag_late) == 0) {
            EXPECT_GT(static_cast<std::int64_t>(reported.first), newest) << "out of order";
            newest = static_cast<std::int64_t>(reported.first);
        }
    }
    EXPECT_EQ(imbalance(trial.arbiter), "");
    EXPECT_EQ(trial.arbiter.counters().read(LineCount::delivered), delivered.size());
    return delivered;
}

/// Checks that the gaps are exactly the messages that are known to have existed and were not
/// delivered.
void check_gaps(const Model& model, const std::set<std::uint64_t>& delivered, Trial& trial) {
    std::vector<std::uint64_t> missing;
    for (const std::uint64_t identity : model.known) {
        if (!delivered.contains(identity)) {
            missing.push_back(model.number_of(identity));
        }
    }
    std::vector<std::uint64_t> listed;
    for (const Arbiter::NumberRange& gap : trial.arbiter.gaps()) {
        ASSERT_LE(gap.first, gap.last);
        ASSERT_LT(gap.last - gap.first, 100'000U);
        for (std::uint64_t number = gap.first; number <= gap.last; ++number) {
            listed.push_back(number);
        }
    }
    for (std::size_t i = 0; i < std::max(listed.size(), missing.size()); ++i) {
        if (i >= listed.size() || i >= missing.size() || listed[i] != missing[i]) {
            ADD_FAILURE() << "the " << i << "th missing number is "
                          << (i < missing.size() ? std::to_string(missing[i]) : "none")
                          << ", listed is "
                          << (i < listed.size() ? std::to_string(listed[i]) : "none");
            break;
        }
    }
    EXPECT_EQ(trial.arbiter.counters().read(LineCount::highest), model.known.size());
}

/// The missing messages that a repair may fill, updated with each copy: they are known to have
/// existed, and since then they were in no original block and in no decodable part of a repair.
class MissingModel {
  public:
    explicit MissingModel(const Traffic& traffic) : traffic_(traffic) {}

    void check(const Copy& copy, const Recorder& reported) {
        hear(copy);
        EXPECT_EQ(noted(reported), missing_);
    }

    void check_end(const Recorder& reported) { EXPECT_EQ(noted(reported), missing_); }

  private:
    [[nodiscard]] std::multiset<std::uint64_t> noted(const Recorder& reported) const {
        std::multiset<std::uint64_t> noted;
        for (const auto& [begin, range] : reported.missed) {
            for (Position position = begin; position < range.end; ++position) {
                noted.insert(identity_of(numbering.number_at(position), range));
            }
        }
        return noted;
    }

    void hear(const Copy& copy) {
        const Sent& sent = *copy.sent;
        if (copy.source == Source::repair) {
            for (unsigned i = copy.first;
                 i < std::min<unsigned>(copy.first + copy.count, sent.decodable); ++i) {
                missing_.erase(sent.identities[i]);
            }
            return;
        }
        const std::uint64_t begin = sent.offset - sent.identities.size();
        if (known_to_.empty()) {
            first_epoch_ = sent.epoch;
            known_to_[sent.epoch] = begin;
        }
        if (sent.epoch < first_epoch_) {
            return;
        }
        std::uint64_t& known_to = known_to_[sent.epoch];
        for (const Sent& other : traffic_.sent()) {
            const std::uint64_t other_begin = other.offset - other.identities.size();
            for (std::size_t i = 0; i < other.identities.size(); ++i) {
                if (other.epoch == sent.epoch && other_begin + i >= known_to &&
                    other_begin + i < sent.offset) {
                    missing_.insert(other.identities[i]);  // was not known to exist before
                }
            }
        }
        known_to = std::max(known_to, sent.offset);
        for (const std::uint64_t identity : sent.identities) {
            missing_.erase(identity);
        }
    }

    /// The message that a note refers to. Its number and stamps determine exactly one.
    [[nodiscard]] std::uint64_t identity_of(std::uint64_t number,
                                            const Recorder::Missing& range) const {
        std::vector<std::uint64_t> candidates;
        for (const Sent& sent : traffic_.sent()) {
            for (std::size_t i = 0; i < sent.identities.size(); ++i) {
                if (numbering.number_at(numbering.last + sent.sequence + i) == number &&
                    range.ts_before_ns <= sent.ts_ns && sent.ts_ns <= range.ts_behind_ns) {
                    candidates.push_back(sent.identities[i]);
                }
            }
        }
        EXPECT_EQ(candidates.size(), 1U) << number;
        return candidates.empty() ? ~0U : candidates[0];
    }

    const Traffic& traffic_;
    std::size_t first_epoch_ = 0;
    std::map<std::size_t, std::uint64_t> known_to_;
    std::multiset<std::uint64_t> missing_;  ///< so that a message inserted twice is found
};

/// Checks at the end that all numbers that are still noted as missing are listed as lost. If all
/// messages were decodable, no other numbers are lost.
void check_notes(Trial& trial, bool all_decodable) {
    const std::vector<Arbiter::NumberRange> listed = trial.arbiter.gaps();
    auto gap = listed.begin();
    std::uint64_t noted = 0;
    for (const auto& [begin, range] : trial.sink.missed) {
        for (Position position = begin; position < range.end;) {
            const Position end =
                std::min(range.end, numbering.turn_of(position) + numbering.last + 1);
            const std::uint64_t first = numbering.number_at(position);
            const std::uint64_t last = numbering.number_at(end - 1);
            gap = std::find_if(gap, listed.end(), [first, last](const auto& candidate) {
                return candidate.first <= first && last <= candidate.last;
            });
            ASSERT_NE(gap, listed.end()) << "missing, not listed: " << first << "-" << last;
            noted += end - position;
            position = end;
        }
    }
    if (all_decodable) {
        LineCounters& counts = trial.arbiter.counters();
        EXPECT_EQ(noted + counts.read(LineCount::gaps_unlisted), counts.read(LineCount::lost));
    }
}

/// Checks that each reset is reported once, and that late messages are marked with what consumers
/// forgot since they were sent.
void check_resets(const Model& model, const Traffic& traffic, Trial& trial) {
    std::vector<std::pair<std::size_t, Forget>> told_resets;  // epoch, forget
    std::vector<const Sent*> due;
    std::size_t begun = 0;
    for (const Sent& sent : traffic.sent()) {
        if (sent.epoch != begun && model.resets.contains(sent.epoch)) {
            due.push_back(&sent);
        }
        begun = sent.epoch;
    }
    std::size_t next = 0;
    for (const Told& reported : trial.sink.reported) {
        if (reported.kind == Told::Kind::reset) {
            if (told_resets.empty() && reported.detail == static_cast<unsigned>(Forget::nothing) &&
                (next == due.size() || due[next]->sequence != reported.first)) {
                continue;  // a reset before the start, on the slower stream
            }
            ASSERT_FALSE(reported.inferred);
            ASSERT_LT(next, due.size()) << "a reset too many";
            ASSERT_EQ(due[next]->sequence, reported.first);
            told_resets.emplace_back(due[next]->epoch, static_cast<Forget>(reported.detail));
            ++next;
        } else if (reported.kind == Told::Kind::message && (reported.detail & flag_late) != 0) {
            Forget most = Forget::nothing;
            for (const auto& [epoch, forget] : told_resets) {
                if (epoch > model.of.at(reported.first)->epoch) {
                    most = std::max(most, forget);
                }
            }
            EXPECT_EQ((reported.detail & flag_before_day) != 0, most == Forget::day);
            EXPECT_EQ((reported.detail & flag_before_flush) != 0, most != Forget::nothing);
        }
    }
    EXPECT_EQ(next, due.size());
}

void check_exactly(const Traffic& traffic, Trial& trial) {
    const Model model(traffic);
    const std::set<std::uint64_t> delivered = check_always(trial);
    for (const std::uint64_t identity : model.brought) {
        EXPECT_TRUE(delivered.contains(identity)) << "not delivered: " << identity;
    }
    for (const std::uint64_t identity : delivered) {
        EXPECT_TRUE(model.brought.contains(identity) || model.repairable.contains(identity));
    }
    check_gaps(model, delivered, trial);
    check_notes(trial, false);
    check_resets(model, traffic, trial);
}

class Dice {
  public:
    explicit Dice(std::uint64_t seed) : random_(seed ^ 0xA5A5'5A5A'1234'4321ULL) {}

    template <class T>
    T one_of(std::initializer_list<T> values) {
        return *(values.begin() + random_() % values.size());
    }

  private:
    std::mt19937_64 random_;
};

TrafficPlan random_plan(Dice& dice) {
    TrafficPlan plan;
    plan.blocks = dice.one_of<std::size_t>({20, 60, 200});
    plan.reset_share = dice.one_of({0.0, 0.02, 0.1});
    plan.reset_spacing = 10;  // the largest skew spans fewer resets than an arbiter remembers
    plan.integrity_share = dice.one_of({0.0, 0.05, 0.2});
    plan.undecodable_share = dice.one_of({0.0, 0.0, 0.05});
    plan.first_number = dice.one_of<std::uint32_t>({1, 3000, 4'000'000'000U, 4'294'967'000U});
    for (Faults& faults : plan.faults) {
        faults.loss = dice.one_of({0.0, 0.02, 0.2, 0.6});
        faults.duplicate = dice.one_of({0.0, 0.1});
        faults.reorder = dice.one_of({0.0, 0.1});
        faults.reorder_ns = dice.one_of({30, 300});
        faults.skew_ns = dice.one_of({0, 5, 100, 1000});
    }
    return plan;
}

constexpr std::int64_t wide_ns = 1'000'000;  // longer than any delay

/// Spaces the resets so that both streams have passed one before the next is sent.
void separate_resets(TrafficPlan& plan) {
    plan.reset_share *= 2;
    plan.reset_spacing = 60;
    for (Faults& faults : plan.faults) {
        faults.reorder_ns = 30;
        faults.skew_ns = std::min<std::int64_t>(faults.skew_ns, 100);
    }
}

/// Runs the body with each seed. Stops at the first seed that fails, and names it. The variable
/// PINSTRIKE_SEED selects a single seed, PINSTRIKE_SEEDS the number of seeds.
void for_each_seed(std::uint64_t count, const std::function<void(std::uint64_t)>& body) {
    const char* only = std::getenv("PINSTRIKE_SEED");
    const char* many = std::getenv("PINSTRIKE_SEEDS");
    const std::uint64_t from = only == nullptr ? 0 : std::stoull(only);
    const std::uint64_t to = only != nullptr   ? from + 1
                             : many != nullptr ? std::stoull(many)
                                               : count;
    for (std::uint64_t seed = from; seed < to; ++seed) {
        SCOPED_TRACE("PINSTRIKE_SEED=" + std::to_string(seed));
        body(seed);
        if (testing::Test::HasFailure()) {
            return;
        }
    }
}

/// Resets arrive on both streams with any skew. The window has any length.
TEST(ArbiterProperty, DeliversWhatCameAndListsTheRest) {
    for_each_seed(2000, [](std::uint64_t seed) {
        Dice dice(seed);
        const TrafficPlan plan = random_plan(dice);
        const ArbitrationConfig config{
            .window_ns = dice.one_of<std::int64_t>({0, 20, 200, wide_ns}),
            .hold_bytes = dice.one_of<std::size_t>({0, 1000, 1 << 20}),
            .gap_ranges = 1024};
        const Traffic traffic(plan, seed);
        Trial trial(traffic, config);
        check_exactly(traffic, trial);
    });
}

/// One copy of a reset may be lost and resets may be out of order, as long as the window is longer
/// than the delays.
TEST(ArbiterProperty, ALostCopyOfAResetShutsNobodyOut) {
    for_each_seed(2000, [](std::uint64_t seed) {
        Dice dice(seed);
        TrafficPlan plan = random_plan(dice);
        plan.reset_loss = ResetLoss::of_one_copy;
        plan.reorder_resets = dice.one_of({false, true});
        separate_resets(plan);
        const ArbitrationConfig config{
            .window_ns = wide_ns, .hold_bytes = 1 << 20, .gap_ranges = 1024};
        const Traffic traffic(plan, seed);
        Trial trial(traffic, config);
        check_exactly(traffic, trial);
    });
}

/// The program starts amid the traffic, when one stream may have passed a reset that the other has
/// not.
TEST(ArbiterProperty, WhatIsBeforeTheStartIsNotMissing) {
    for_each_seed(2000, [](std::uint64_t seed) {
        Dice dice(seed);
        TrafficPlan plan = random_plan(dice);
        plan.join_ns = 1'000'000 + dice.one_of({50, 300, 500, 700});
        separate_resets(plan);
        const ArbitrationConfig config{
            .window_ns = wide_ns, .hold_bytes = 1 << 20, .gap_ranges = 1024};
        const Traffic traffic(plan, seed);
        if (!Model(traffic).all_resets_came) {
            // Both copies of a reset were sent before the start, but older data arrived later.
            return;
        }
        Trial trial(traffic, config);
        check_exactly(traffic, trial);
    });
}

/// Retransmissions fill missing messages and nothing else.
TEST(ArbiterProperty, RepairsFillGapsOnly) {
    for_each_seed(2000, [](std::uint64_t seed) {
        Dice dice(seed);
        TrafficPlan plan = random_plan(dice);
        plan.repair_share = dice.one_of({0.3, 1.0});
        const ArbitrationConfig config{.window_ns = dice.one_of<std::int64_t>({0, 200, wide_ns}),
                                       .hold_bytes = 1 << 20,
                                       .gap_ranges = 1024};
        const Traffic traffic(plan, seed);
        Trial trial(traffic, config);
        check_exactly(traffic, trial);
        std::uint64_t repairs = 0;
        for (const Copy& copy : traffic.copies()) {
            repairs += copy.source == Source::repair ? copy.count : 0;
        }
        EXPECT_EQ(repairs, trial.arbiter.counters().read(LineCount::repaired) +
                               trial.arbiter.counters().read(LineCount::unasked));
    });
}

/// At any time, the notes together are the missing messages, and their stamps identify the
/// messages.
TEST(ArbiterProperty, TheNotesAreWhatIsMissing) {
    for_each_seed(1000, [](std::uint64_t seed) {
        Dice dice(seed);
        TrafficPlan plan = random_plan(dice);
        plan.blocks = std::min<std::size_t>(plan.blocks, 60);
        plan.repair_share = dice.one_of({0.0, 0.5, 1.0});
        const ArbitrationConfig config{
            .window_ns = dice.one_of<std::int64_t>({0, 20, 200, wide_ns}),
            .hold_bytes = dice.one_of<std::size_t>({0, 1000, 1 << 20}),
            .gap_ranges = 1024};
        const Traffic traffic(plan, seed);
        MissingModel model(traffic);
        Trial trial(traffic, config, [&](const Copy& copy, const Recorder& reported) {
            if (!testing::Test::HasFailure()) {
                model.check(copy, reported);
            }
        });
        if (!testing::Test::HasFailure()) {
            model.check_end(trial.sink);
        }
    });
}

/// In every case, even if resets are lost on both streams, no message is delivered twice or out of
/// order, and the account balances.
TEST(ArbiterProperty, AlwaysBalances) {
    for_each_seed(2000, [](std::uint64_t seed) {
        Dice dice(seed);
        TrafficPlan plan = random_plan(dice);
        plan.reset_loss = dice.one_of({ResetLoss::of_one_copy, ResetLoss::of_both});
        plan.reorder_resets = dice.one_of({false, true});
        plan.raises = false;  // otherwise, repairs might fill numbers that were skipped unnoticed
        separate_resets(plan);
        plan.repair_share = dice.one_of({0.0, 0.3});
        const ArbitrationConfig config{
            .window_ns = dice.one_of<std::int64_t>({0, 20, 200, wide_ns}),
            .hold_bytes = dice.one_of<std::size_t>({0, 1000, 1 << 20}),
            .gap_ranges = dice.one_of<std::size_t>({1024, 1024, 4})};
        const Traffic traffic(plan, seed);
        Trial trial(traffic, config);
        check_always(trial);
        check_notes(trial, plan.undecodable_share == 0);
    });
}

/// A capture is played in a loop: the same blocks with the same stamps, again and again. Each turn
/// ends with a reset to 0 or begins with a start of day. One stream lags the other by less than a
/// turn.
TEST(ArbiterProperty, ALoopedCaptureIsDeliveredEachTime) {
    for_each_seed(1000, [](std::uint64_t seed) {
        Dice dice(seed);
        TrafficPlan plan;
        plan.blocks = dice.one_of<std::size_t>({30, 100});
        plan.reset_share = 0;
        plan.integrity_share = dice.one_of({0.0, 0.1});
        for (Faults& faults : plan.faults) {
            faults.loss = dice.one_of({0.0, 0.1});
            faults.duplicate = dice.one_of({0.0, 0.1});
            faults.skew_ns = dice.one_of({0, 10, 100});
        }
        const bool day_first = dice.one_of({false, true});
        const LoopedTraffic traffic(plan, seed, day_first, 4);
        Trial trial(traffic, {.window_ns = wide_ns,
                              .hold_bytes = 1 << 20,
                              .gap_ranges = 1024,
                              .looped_captures = true});
        std::uint64_t delivered = 0;
        std::uint64_t resets = 0;
        for (const Told& reported : trial.sink.reported) {
            delivered += reported.kind == Told::Kind::message ? 1 : 0;
            resets += reported.kind == Told::Kind::reset ? 1 : 0;
        }
        EXPECT_EQ(imbalance(trial.arbiter), "");
        EXPECT_EQ(resets, 4U);
        EXPECT_EQ(delivered, traffic.brought());
    });
}

TEST(ArbiterProperty, TheSameInputGivesTheSameOutput) {
    for_each_seed(200, [](std::uint64_t seed) {
        Dice dice(seed);
        TrafficPlan plan = random_plan(dice);
        plan.reset_loss = ResetLoss::of_both;
        plan.repair_share = 0.3;
        const ArbitrationConfig config{.window_ns = 200, .hold_bytes = 4000, .gap_ranges = 1024};
        const Traffic once(plan, seed);
        const Traffic again(plan, seed);
        Trial first(once, config);
        Trial second(again, config);
        EXPECT_EQ(first.sink.reported, second.sink.reported);
    });
}

}  // namespace
}  // namespace pinstrike::feed::test
