// path: cold
//
// Checks the books series by series: against a model that was fed the same events, and against the
// truth in all that they do not mark as stale or unknown.
#include "actors/book/book_json.h"
#include "feed/opra/traffic/reserved_symbols.h"
#include "feed/opra/traffic/truth_book.h"
#include "tests/actors/book/model.h"
#include "tests/sim/oracle.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace pinstrike::sim {

namespace {

using Json = nlohmann::json;

/// Symbol, expiration, right, strike, session.
std::string key_of(const Json& series) {
    const int line = series["line"].get<int>();
    return fmt::format("{} {} {} {}{}", series["symbol"].get<std::string>(),
                       series["expiration"].get<std::string>(), series["right"].get<std::string>(),
                       series["strike"].get<std::string>(),
                       line >= 201 && line <= 204 ? " GTH" : "");
}

/// The expectations of the twin's lines for each run of the twin; empty if no state is copied.
using TwinLives = std::span<const std::vector<LineExpectation>>;

/// Whether a host knows of a block: it received the block, or declared it lost.
bool knows(const LineExpectation& line, const Block& block) {
    const Fate fate = line.blocks[block.index].fate;
    return line.heard && block.index >= line.begin_block && (delivers(fate) || fate == Fate::lost);
}

/// The end of the line's blocks that a host knows of; all blocks if it never received the line.
std::size_t known_end(const LineTruth& truth, const LineExpectation& line) {
    std::size_t end = truth.blocks.size();
    while (line.heard && end != 0 && !knows(line, *truth.blocks[end - 1])) {
        --end;
    }
    return end;
}

/// The place behind the message that a state covers: the first message of this number behind the
/// reset that the state names, because not every reset restarts the numbers; or the place behind a
/// reset, which has the number before its first message. `first`: the first block received, in case
/// the core had received no reset. Returns a place behind the line's end if there is no such
/// message.
Place covered_end(const LineTruth& line, const Truth& truth, const actors::CoveredPlace& covered,
                  const Block& first) {
    const Block* reset = truth.stamped(covered.reset_ts_ns);
    for (std::size_t i = (reset == nullptr ? first : *reset).epoch; i < line.epochs.size(); ++i) {
        const Epoch& epoch = line.epochs[i];
        const std::uint64_t into = steps_between(epoch.first_number, covered.sequence);
        if (into < epoch.end - epoch.begin) {
            return epoch.begin + into + 1;
        }
        if (steps_between(covered.sequence, epoch.first_number) == 1) {
            return epoch.begin;
        }
    }
    return line.messages.size() + 1;
}

/// The blocks that a host knows of: from its own streams, and from states that its twin sent. A
/// state may also cover blocks that were sent before the host started, or whose loss the host
/// cannot detect, such as the last ones before a reset. (A state is applied only once the streams
/// have reached it.)
class KnownBlocks {
  public:
    KnownBlocks(const Truth& truth, const std::vector<LineExpectation>& lines, TwinLives twin)
        : truth_(truth), lines_(lines), twin_(twin) {
        for (std::size_t i = 0; i < lines.size(); ++i) {
            ends_.push_back(known_end(truth.lines()[i], lines[i]));
        }
    }

    [[nodiscard]] bool by_streams(const Block& block) const {
        return knows(lines_[block.line], block);
    }

    /// Known from the streams, or from the twin: up to the place of a state, or, without one, all
    /// blocks that the twin ever knew of.
    [[nodiscard]] bool by_twin(const Block& block, const Twin::SentState* state = nullptr) const {
        const auto knew = [&](const std::vector<LineExpectation>& life) {
            return knows(life[block.line], block) &&
                   (state == nullptr || reaches(*state, life[block.line], block));
        };
        return by_streams(block) ||
               (block.index < ends_[block.line] && std::ranges::any_of(twin_, knew));
    }

    /// As by_twin(), but for blocks that the state covers, only the twin counts: the state replaces
    /// what the host knew, even if the twin missed some of the blocks without detecting it.
    [[nodiscard]] bool by_state(const Block& block, const Twin::SentState& state) const {
        const auto covers = [&](const std::vector<LineExpectation>& life) {
            return state.line == block.line_number && reaches(state, life[block.line], block);
        };
        const auto knew = [&](const std::vector<LineExpectation>& life) {
            return covers(life) && knows(life[block.line], block);
        };
        return std::ranges::any_of(twin_, covers) ? std::ranges::any_of(twin_, knew)
                                                  : by_twin(block, &state);
    }

  private:
    /// Whether the state covers the block; true for a block of another line than the state's.
    [[nodiscard]] bool reaches(const Twin::SentState& state, const LineExpectation& heard,
                               const Block& block) const {
        const LineTruth& line = truth_.lines()[block.line];
        const Block& first = *line.blocks[heard.begin_block];
        return state.line != block.line_number ||
               block.begin < covered_end(line, truth_, state.covered, first);
    }

    const Truth& truth_;
    const std::vector<LineExpectation>& lines_;
    TwinLives twin_;
    std::vector<std::size_t> ends_;  ///< known_end of each line
};

/// The true book of all blocks before this time that satisfy `is_known`.
template <class IsKnown>
std::map<std::string, Json> true_series(const Truth& truth, IsKnown is_known,
                                        std::int64_t before_ns) {
    feed::opra::traffic::BookTruth book;
    for (const Block& block : truth.blocks()) {
        if (block.ts_ns >= before_ns || block.test || !is_known(block)) {
            continue;
        }
        feed::opra::traffic::SentBlock sent;
        sent.line = static_cast<feed::opra::traffic::LineIndex>(block.line);
        sent.line_number = block.line_number;
        sent.header = block.header;
        sent.ts_ns = block.ts_ns;
        sent.role = block.role;
        sent.lowers = block.lowers;
        sent.messages = std::span{block.messages}.first(block.decodable);
        sent.bytes = block.bytes;
        book.block(sent);
    }
    std::ostringstream out;
    book.write(out);
    std::istringstream in{out.str()};
    std::map<std::string, Json> series;
    for (std::string text; std::getline(in, text);) {
        Json json = Json::parse(text);
        std::string key = key_of(json);
        series.emplace(std::move(key), std::move(json));
    }
    return series;
}

void check_against_model(std::size_t core, const Host& host, Findings& findings) {
    actors::test::Model model;
    const auto& records = host.recorder(core).records();
    for (std::size_t at = 0; at < records.size(); at += records[at].header.records) {
        model.apply(records[at]);
    }
    const actors::Book& book = host.book(core);
    std::size_t count = 0;
    book.for_each_series([&](const feed::SeriesKey& key) {
        ++count;
        const auto mine = book.find(key);
        const auto wanted = model.find(key);
        const std::string a = mine ? actors::series_json(*mine) : "nothing";
        const std::string b = wanted ? actors::series_json(*wanted) : "nothing";
        if (a != b) {
            findings.add(
                fmt::format("core {}: the book says\n    {}\n  the model\n    {}", core, a, b));
        }
    });
    if (count != model.series_count()) {
        findings.add(fmt::format("core {}: the book has {} series, the model {}", core, count,
                                 model.series_count()));
    }
}

/// Which properties a book must have, line by line.
class BookRequirements {
  public:
    /// `state_whole`: the state transfer reported that it copied all of the twin's state.
    BookRequirements(const Plan& plan, const Truth& truth,
                     const std::vector<LineExpectation>& lines, TwinLives twin, bool state_whole)
        : truth_(truth),
          lines_(lines),
          twin_(twin),
          whole_days_(plan.days.size() > 1),
          state_taken_(plan.state.taken),
          state_whole_(state_whole) {}

    /// Fresh sides must equal the truth.
    [[nodiscard]] bool exact(std::size_t line) const {
        return everywhere(line, [](const LineExpectation& one) { return one.exact; });
    }

    /// All fields must equal the truth, because nothing was lost. A state is stale if no original
    /// message of its line was received.
    [[nodiscard]] bool whole(std::size_t line) const {
        return complete(line) && (!state_taken_ || heard_original(line));
    }

    /// Every series must be present, because nothing was lost; if state was copied, neither by the
    /// twin, which must have run from the first block on.
    [[nodiscard]] bool complete(std::size_t line) const {
        const bool known = !state_taken_ || (state_whole_ && twin_.size() == 1);
        return known && everywhere(line, [](const LineExpectation& one) { return one.whole(); }) &&
               (!state_taken_ || std::ranges::all_of(twin_[0], [](const LineExpectation& one) {
                   return one.begin_block == 0;
               }));
    }

  private:
    /// Whether a message other than a test was received.
    [[nodiscard]] bool heard_original(std::size_t line) const {
        return std::ranges::any_of(truth_.lines()[line].blocks, [&](const Block* block) {
            return !block->test && delivers(lines_[line].blocks[block->index].fate);
        });
    }

    /// Whether `is` holds for the line. Over several days it must hold for all lines, because
    /// series move between lines.
    template <class Is>
    [[nodiscard]] bool everywhere(std::size_t line, Is is) const {
        const auto holds = [&](const std::vector<LineExpectation>& all) {
            return whole_days_ ? std::ranges::all_of(all, is) : is(all[line]);
        };
        return holds(lines_) && std::ranges::all_of(twin_, holds);
    }

    const Truth& truth_;
    const std::vector<LineExpectation>& lines_;
    TwinLives twin_;
    bool whole_days_;
    bool state_taken_;
    bool state_whole_;
};

class TruthCheck {
  public:
    TruthCheck(const Plan& plan, const Truth& truth, const KnownBlocks& heard, const Twin* twin,
               const BookRequirements& requirements, Findings& findings, Coverage& coverage)
        : truth_(truth),
          known_blocks_(heard),
          twin_(twin),
          requirements_(requirements),
          series_(by_streams_before(never_ns)),
          findings_(findings),
          coverage_(coverage) {
        if (plan.state.taken) {
            by_state_ = by_twin_before(never_ns);
        }
        for (std::size_t i = 1; i < plan.days.size(); ++i) {
            note_moved(by_streams_before(plan.days[i].start_ns));
            if (plan.state.taken) {
                note_moved(by_twin_before(plan.days[i].start_ns));
            }
        }
        if (twin != nullptr) {
            const auto misplaced = [&](const Block& block) { return twin->misplaced(block); };
            for (const auto& [key, state] : true_series(truth, misplaced, never_ns)) {
                moved_.insert(key);
            }
        }
    }

    /// `refused`: the core's ring refused events of any line.
    void check(const feed::SeriesKey& series, const Json& mine, bool refused) {
        const std::string key = key_of(mine);
        found_.insert(key);
        const std::size_t line = truth_.line_index(mine["line"].get<std::uint16_t>());
        const bool test =
            feed::opra::traffic::is_reserved_symbol(mine["symbol"].get<std::string>());
        if (!requirements_.exact(line) || test) {
            return;  // true_series() leaves out tests
        }
        if (moved_.contains(key)) {
            return;  // the order in which its two lines arrive is not determined
        }
        std::vector<Json> wanted = wanted_of(key);
        if (wanted.empty()) {
            // If only the twin received the next start of day, the host keeps a state that the twin
            // sent before.
            add_states(series, key, mine["line"].get<std::uint16_t>(), wanted);
        }
        if (wanted.empty()) {
            return findings_.add("a book has a series that was never sent: " + mine.dump());
        }
        const bool whole = requirements_.whole(line) && !refused;
        count(mine, whole);
        // The entries before the last one are by the streams alone.
        const std::size_t most = wanted.size() - 1;
        const auto is_true = [&] {
            return agrees(mine, wanted, "bid") && agrees(mine, wanted, "offer") &&
                   (!whole || std::ranges::count(wanted.begin() + static_cast<std::ptrdiff_t>(most),
                                                 wanted.end(), mine) != 0);
        };
        if (!is_true()) {
            add_states(series, key, mine["line"].get<std::uint16_t>(), wanted);
        }
        if (!is_true() && !matches_state(series, key, mine, wanted)) {
            findings_.add(fmt::format("{}, and a book says\n    {}\n  the truth\n    {}",
                                      whole ? "nothing was lost" : "what is called fresh differs",
                                      mine.dump(), wanted[most].dump()));
        }
    }

    /// Reports series that must be in a book and are in none. Must be called after all check()
    /// calls.
    void check_none_missing() {
        for (const auto& [key, series] : by_state_.empty() ? series_ : by_state_) {
            const std::size_t line = truth_.line_index(series["line"].get<std::uint16_t>());
            const bool expected =
                requirements_.complete(line) && !found_.contains(key) && !moved_.contains(key);
            if (expected && (by_state_.empty() || was_known(key, line))) {
                findings_.add("nothing was lost, and no book has a series: " + series.dump());
            }
        }
    }

  private:
    static constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();

    /// The allowed states: by the host's streams, and by these together with all the twin knew.
    [[nodiscard]] std::vector<Json> wanted_of(const std::string& key) const {
        std::vector<Json> wanted;
        for (const auto* known : {&series_, &by_state_}) {
            if (const auto at = known->find(key); at != known->end()) {
                wanted.push_back(at->second);
            }
        }
        return wanted;
    }

    /// Adds the allowed state for each state of the series that the twin sent, which may cover less
    /// than all that the twin knew. If it sent none, the twin had received no message of the series
    /// up to the place of its latest state of the line.
    void add_states(const feed::SeriesKey& series, const std::string& key, std::uint16_t line,
                    std::vector<Json>& wanted) const {
        if (twin_ == nullptr) {
            return;
        }
        const auto states = twin_->states_sent(series);
        for (const Twin::SentState& state : states) {
            add(key, wanted,
                [&](const Block& block) { return known_blocks_.by_twin(block, &state); });
        }
        if (states.empty()) {
            add_by_latest(key, line, wanted);
        }
    }

    void add_by_latest(const std::string& key, std::uint16_t line,
                       std::vector<Json>& wanted) const {
        const Twin::SentState* state = twin_->latest_state(line);
        add(key, wanted, [&](const Block& block) {
            return state == nullptr ? known_blocks_.by_streams(block)
                                    : known_blocks_.by_twin(block, state);
        });
    }

    /// Whether the streams, or the twin up to its latest state, knew of the series: no book has
    /// what the twin received later and the streams missed without detecting it.
    [[nodiscard]] bool was_known(const std::string& key, std::size_t line) const {
        std::vector<Json> wanted;
        add_by_latest(key, truth_.lines()[line].number, wanted);
        return !wanted.empty();
    }

    /// Whether the series equals a state that the twin sent, with later messages, in all but its
    /// sides, and its sides are allowed.
    [[nodiscard]] bool matches_state(const feed::SeriesKey& series, const std::string& key,
                                     const Json& mine, const std::vector<Json>& wanted) const {
        std::vector<Json> by_state;
        for (const Twin::SentState& state :
             twin_ == nullptr ? std::span<const Twin::SentState>{} : twin_->states_sent(series)) {
            add(key, by_state,
                [&](const Block& block) { return known_blocks_.by_state(block, state); });
        }
        return agrees(mine, wanted, "bid") && agrees(mine, wanted, "offer") &&
               std::ranges::any_of(by_state, [&mine](const Json& one) {
                   return without_sides(one) == without_sides(mine);
               });
    }

    [[nodiscard]] static Json without_sides(Json series) {
        for (const char* const name : {"best_bid", "best_offer", "bid_state", "offer_state"}) {
            series.erase(name);
        }
        return series;
    }

    template <class IsKnown>
    void add(const std::string& key, std::vector<Json>& wanted, IsKnown is_known) const {
        const auto known = true_series(truth_, is_known, never_ns);
        if (const auto at = known.find(key); at != known.end()) {
            wanted.push_back(at->second);
        }
    }

    [[nodiscard]] std::map<std::string, Json> by_streams_before(std::int64_t before_ns) const {
        const auto by_streams = [this](const Block& block) {
            return known_blocks_.by_streams(block);
        };
        return true_series(truth_, by_streams, before_ns);
    }

    [[nodiscard]] std::map<std::string, Json> by_twin_before(std::int64_t before_ns) const {
        const auto by_twin = [this](const Block& block) { return known_blocks_.by_twin(block); };
        return true_series(truth_, by_twin, before_ns);
    }

    /// Notes the series of an earlier day that are on another line at the end.
    void note_moved(const std::map<std::string, Json>& earlier) {
        for (const auto& [key, state] : earlier) {
            const auto now = series_.find(key);
            if (now != series_.end() && now->second["line"] != state["line"]) {
                moved_.insert(key);
            }
        }
    }

    /// Whether a fresh side equals that of one of the allowed states.
    static bool agrees(const Json& mine, const std::vector<Json>& wanted, const std::string& side) {
        const std::string best = "best_" + side;
        const std::string state = side + "_state";
        return mine[state] != "fresh" || std::ranges::any_of(wanted, [&](const Json& one) {
                   return mine[best] == one[best] && one[state] == "fresh";
               });
    }

    void count(const Json& mine, bool whole) {
        for (const char* const state : {"bid_state", "offer_state"}) {
            if (mine[state] == "fresh") {
                ++coverage_.sides_fresh;
            } else {
                coverage_.sides_vague += whole ? 0 : 1;
            }
        }
        coverage_.series_whole += whole ? 1 : 0;
    }

    const Truth& truth_;
    const KnownBlocks& known_blocks_;
    const Twin* twin_;
    const BookRequirements& requirements_;
    std::map<std::string, Json> series_;
    std::map<std::string, Json> by_state_;  ///< by streams and twin; empty if no state is copied
    std::set<std::string> moved_;           ///< series that several lines carried
    std::set<std::string> found_;           ///< series that a book has
    Findings& findings_;
    Coverage& coverage_;
};

}  // namespace

void check_books(const Plan& plan, const Truth& truth, const std::vector<LineExpectation>& lines,
                 TwinLives twin, Host& host, Findings& findings, Coverage& coverage) {
    const actors::peer::StateTransfer* transfer = host.transfer();
    const bool state_whole = transfer != nullptr && transfer->whole().read() == 1;
    const BookRequirements requirements{plan, truth, lines, twin, state_whole};
    const KnownBlocks heard{truth, lines, twin};
    TruthCheck check{plan, truth, heard, host.twin(), requirements, findings, coverage};
    if (transfer != nullptr) {
        coverage.states_taken += transfer->counts().read(actors::peer::StateCount::taken);
    }
    bool refused_any = false;
    for (std::size_t core = 0; core < host.cores_count(); ++core) {
        if (!plan.state.taken) {
            check_against_model(core, host, findings);
        }
        std::uint64_t refused = 0;
        for (std::size_t i = 0; i < plan.host.pollers; ++i) {
            refused += host.poller(i).router().counters(core).read(actors::RingCount::refused);
        }
        refused_any = refused_any || refused != 0;
        const actors::Book& book = host.book(core);
        book.for_each_series([&](const feed::SeriesKey& key) {
            check.check(key, Json::parse(actors::series_json(*book.find(key))), refused != 0);
        });
    }
    if (!refused_any) {
        check.check_none_missing();
    }
}

}  // namespace pinstrike::sim
