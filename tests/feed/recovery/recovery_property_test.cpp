// path: cold
//
// Recovery against a trivial model, a set of numbers. Under random notes, answers, refusals,
// missing answers and times: no number is requested while it is in flight, after it was found or
// given up, or before it is due; no second exceeds the budget; every number noted is counted under
// exactly one outcome; all sizes stay bounded.
#include "config/time_units.h"
#include "feed/recovery/recovery.h"
#include "tests/feed/numbering.h"
#include "tests/feed/recovery/recovery_fakes.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace pinstrike::feed::test {
namespace {

constexpr Position base = 2 * numbering.last;

enum class Step { missing, found, wait, answer, finish, refuse, disconnect };

struct Act {
    Step step;
    std::size_t line;
    std::uint64_t where;  ///< a number, counted from 0; for an answer, the index of the request
    std::uint64_t count;
    std::int64_t ns;
};

Act any_act() {
    Act act{};
    act.step = *rc::gen::weightedElement<Step>({{6, Step::missing},
                                                {3, Step::found},
                                                {6, Step::wait},
                                                {3, Step::answer},
                                                {1, Step::finish},
                                                {2, Step::refuse},
                                                {1, Step::disconnect}});
    act.line = *rc::gen::inRange<std::size_t>(0, 2);
    act.where = *rc::gen::inRange<std::uint64_t>(0, 100'000);
    act.count =
        *rc::gen::weightedOneOf<std::uint64_t>({{5, rc::gen::inRange<std::uint64_t>(1, 20)},
                                                {1, rc::gen::inRange<std::uint64_t>(900, 3000)}});
    act.ns = *rc::gen::weightedOneOf<std::int64_t>(
        {{5, rc::gen::inRange<std::int64_t>(0, 3'000'000)},
         {1, rc::gen::inRange<std::int64_t>(0, 300'000'000)}});
    return act;
}

/// Follows what is missing, number by number, and checks each request when it is made.
class Model {
  public:
    Model(const RecoveryConfig& config, std::array<Asked, 2>& asked)
        : config_(config), asked_(asked) {
        for (Asked& each : asked_) {
            each.watch = [this](const RepairRequest& request, std::int64_t now_ns) {
                check(request, now_ns);
            };
        }
    }

    /// False if some of them were missing before: an arbiter notes each number only once.
    [[nodiscard]] bool missing(std::size_t line, Position begin, Position end,
                               std::int64_t now_ns) {
        const auto noted = ever_[line].lower_bound(begin);
        if (noted != ever_[line].end() && *noted < end) {
            return false;
        }
        for (; begin < end; ++begin) {
            ever_[line].insert(begin);
            open_[line].emplace(begin, now_ns);
        }
        return true;
    }

    void found(std::size_t line, Position begin, Position end) {
        open_[line].erase(open_[line].lower_bound(begin), open_[line].lower_bound(end));
    }

    std::uint64_t requests = 0;

  private:
    void check(const RepairRequest& request, std::int64_t now_ns) {
        ++requests;
        RC_ASSERT(request.messages >= 1 && request.messages <= repair_messages_max);
        RC_ASSERT(ids_.insert(request.id).second);
        const std::size_t line = request.line - 1U;
        const Position begin = numbering.nearest(base + 50'000, request.first);
        for (Position position = begin; position < begin + request.messages; ++position) {
            const auto open = open_[line].find(position);
            RC_ASSERT(open != open_[line].end());
            RC_ASSERT(now_ns >= open->second + config_.request_after_ns);
            RC_ASSERT(now_ns < open->second + config_.give_up_after_ns);
        }
        std::size_t in_flight = 0;
        for (const Asked& each : asked_) {
            for (const auto& [id, other] : each.in_flight) {
                ++in_flight;
                const Position from = numbering.nearest(base + 50'000, other.first);
                RC_ASSERT(id == request.id || other.line != request.line ||
                          from + other.messages <= begin || begin + request.messages <= from);
            }
        }
        RC_ASSERT(in_flight <= Recovery::in_flight_max);
        budget(request, now_ns);
    }

    void budget(const RepairRequest& request, std::int64_t now_ns) {
        past_.emplace_back(now_ns, request.messages);
        messages_ += request.messages;
        while (past_.front().first <= now_ns - second_ns) {
            messages_ -= past_.front().second;
            past_.pop_front();
        }
        RC_ASSERT(past_.size() <= config_.requests_per_second);
        RC_ASSERT(messages_ <= config_.messages_per_second);
    }

    const RecoveryConfig& config_;
    std::array<Asked, 2>& asked_;
    std::array<std::map<Position, std::int64_t>, 2> open_;
    std::array<std::set<Position>, 2> ever_;
    std::set<std::uint64_t> ids_;
    std::deque<std::pair<std::int64_t, std::uint64_t>> past_;
    std::uint64_t messages_ = 0;
};

class Play {
  public:
    explicit Play(const RecoveryConfig& config, std::size_t sources)
        : config_(config), model_(config_, asked_) {
        std::vector<std::unique_ptr<RepairSource>> list;
        for (std::size_t i = 0; i < sources; ++i) {
            list.push_back(std::make_unique<FakeSource>("fake", asked_[i]));
        }
        const std::array<std::uint16_t, 2> lines{1, 2};
        recovery_ = std::make_unique<Recovery>(config_, lines, std::move(list), sink_, Numbering{});
        recovery_->step(0);
    }

    void play(const Act& act) {
        const Position begin = base + 1 + act.where;
        switch (act.step) {
            case Step::missing:
                if (model_.missing(act.line, begin, begin + act.count, now_ns_)) {
                    recovery_->missing(act.line, begin, begin + act.count, 1, 2, now_ns_);
                }
                break;
            case Step::found:
                found(act.line, begin, begin + act.count);
                break;
            case Step::wait:
                pass(act.ns);
                break;
            case Step::disconnect:
                asked_[act.where % 2].refuses =
                    act.count % 2 == 0 ? std::nullopt : std::optional{Refusal::not_connected};
                break;
            default:
                answer(act);
        }
        check();
    }

    /// Runs until every number was found or given up, and checks the totals.
    void end() {
        for (Asked& asked : asked_) {
            asked.refuses.reset();
        }
        const std::int64_t until_ns = now_ns_ + config_.give_up_after_ns;
        while (recovery_->next_deadline_ns() != Recovery::never_ns) {
            RC_ASSERT(recovery_->next_deadline_ns() <= until_ns);
            pass(std::max<std::int64_t>(recovery_->next_deadline_ns() - now_ns_, 0));
        }
        check();
        RC_ASSERT(count(RecoveryCount::open) == 0U);
        RC_ASSERT(recovery_->in_flight() == 0U);
        RC_ASSERT(asked_[0].in_flight.empty() && asked_[1].in_flight.empty());
        RC_ASSERT(count(RecoveryCount::requests) == model_.requests);
    }

    [[nodiscard]] std::uint64_t count(RecoveryCount which) const {
        return recovery_->counters().read(which);
    }

  private:
    /// Steps at every deadline, as the recovery thread does.
    void pass(std::int64_t ns) {
        const std::int64_t until_ns = now_ns_ + ns;
        for (std::size_t steps = 0; recovery_->next_deadline_ns() <= until_ns; ++steps) {
            RC_ASSERT(steps < 100'000U);
            now_ns_ = std::max(now_ns_, recovery_->next_deadline_ns());
            recovery_->step(now_ns_);
        }
        now_ns_ = until_ns;
        recovery_->step(now_ns_);
    }

    void found(std::size_t line, Position begin, Position end) {
        recovery_->found(line, begin, end);
        model_.found(line, begin, end);
    }

    /// Answers or refuses one of the requests in flight.
    void answer(const Act& act) {
        Asked& asked = asked_[act.count % 2];
        if (asked.in_flight.empty()) {
            return;
        }
        auto chosen = asked.in_flight.begin();
        std::advance(chosen, act.where % asked.in_flight.size());
        const RepairRequest request = chosen->second;
        const std::uint64_t id = request.id;
        if (act.step == Step::answer) {
            const Position begin = numbering.nearest(base + 50'000, request.first);
            found(request.line - 1U, begin, begin + 1 + act.count % request.messages);
        } else if (act.step == Step::finish) {
            asked.next_answers.push_back([id](RepairAnswers& answers) { answers.finished(id); });
        } else {
            asked.in_flight.erase(id);
            asked.next_answers.push_back(
                [id](RepairAnswers& answers) { answers.refused(id, Refusal::over_budget); });
        }
    }

    void check() {
        RC_ASSERT(imbalance(*recovery_) == "");
        RC_ASSERT(recovery_->in_flight() <= Recovery::in_flight_max);
    }

    RecoveryConfig config_;
    std::array<Asked, 2> asked_;
    Model model_;
    FakeSink sink_;
    std::unique_ptr<Recovery> recovery_;
    std::int64_t now_ns_ = 0;
};

RecoveryConfig any_config() {
    RecoveryConfig config;
    config.request_after_ns = *rc::gen::element<std::int64_t>(0, 500'000, 5'000'000);
    config.answer_within_ns = *rc::gen::element<std::int64_t>(1'000'000, 20'000'000, 200'000'000);
    config.give_up_after_ns = *rc::gen::element<std::int64_t>(10'000'000, 2'000'000'000);
    config.requests_per_second = *rc::gen::element(10U, 50U, 500U);
    config.messages_per_second = *rc::gen::element(10'000U, 200'000U);
    config.ranges_max = *rc::gen::element<std::size_t>(1, 5, 1000);
    return config;
}

TEST(RecoveryProperty, KeepsItsRules) {
    const bool held = rc::check("recovery", [] {
        Play run{any_config(), *rc::gen::inRange<std::size_t>(1, 3)};
        const auto length = *rc::gen::inRange<std::size_t>(1, 150);
        for (std::size_t i = 0; i < length; ++i) {
            run.play(any_act());
        }
        run.end();
    });
    EXPECT_TRUE(held);
}

/// If enough ranges may be open, the budget suffices and a source accepts every request, every
/// number is requested.
TEST(RecoveryProperty, AsksForEverythingThatIsMissing) {
    const bool held = rc::check("everything is asked for", [] {
        RecoveryConfig config;
        config.ranges_max = 100'000;
        Play run{config, 1};
        const auto length = *rc::gen::inRange<std::size_t>(1, 60);
        for (std::size_t i = 0; i < length; ++i) {
            Act act = any_act();
            if (act.step == Step::missing || act.step == Step::wait || act.step == Step::answer) {
                run.play(act);
            }
        }
        run.end();
        RC_ASSERT(run.count(RecoveryCount::never_asked) == 0U);
        RC_ASSERT(run.count(RecoveryCount::untracked) == 0U);
        RC_ASSERT(run.count(RecoveryCount::filled) == 0U);
    });
    EXPECT_TRUE(held);
}

}  // namespace
}  // namespace pinstrike::feed::test
