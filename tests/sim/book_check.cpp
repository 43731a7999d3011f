// path: cold
//
// The books: series by series beside a model that was told the same events, and beside the truth
// wherever they do not say that they cannot know.
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

/// The twin's lines, each time that it was started; empty where no state is taken.
using TwinLives = std::span<const std::vector<LineExpectation>>;

/// Whether a host came to know of a block: it was heard, or known to be lost.
bool knows(const LineExpectation& line, const Block& block) {
    const Fate fate = line.blocks[block.index].fate;
    return line.heard && block.index >= line.begin_block && (delivers(fate) || fate == Fate::lost);
}

/// The line's blocks that came before the last that a host knew of; all of a line that it never
/// heard.
std::size_t known_end(const LineTruth& truth, const LineExpectation& line) {
    std::size_t end = truth.blocks.size();
    while (line.heard && end != 0 && !knows(line, *truth.blocks[end - 1])) {
        --end;
    }
    return end;
}

/// Behind the message that a core had come to, as it says with a series' state: the first of this
/// number behind the reset that it names, for not every reset begins its numbers anew; or a reset,
/// which bears the number before the first behind it. `first`: the block that it heard first,
/// should it have heard no reset. Behind the line's end: there is none.
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

/// What a host was told: by its own streams, and by a state of its twin's, which also speaks of
/// what was sent before the host began, or was missed unawares, as the last ones before a reset may
/// be. (It waits for the streams to come as far as it does.)
class HeardOf {
  public:
    HeardOf(const Truth& truth, const std::vector<LineExpectation>& lines, TwinLives twin)
        : truth_(truth), lines_(lines), twin_(twin) {
        for (std::size_t i = 0; i < lines.size(); ++i) {
            ends_.push_back(known_end(truth.lines()[i], lines[i]));
        }
    }

    [[nodiscard]] bool by_streams(const Block& block) const {
        return knows(lines_[block.line], block);
    }

    /// By these, or by the twin: as far as its word of a series went, or, without one, at most: all
    /// that it ever came to know.
    [[nodiscard]] bool by_twin(const Block& block, const Twin::Said* word = nullptr) const {
        const auto knew = [&](const std::vector<LineExpectation>& life) {
            return knows(life[block.line], block) &&
                   (word == nullptr || reaches(*word, life[block.line], block));
        };
        return by_streams(block) ||
               (block.index < ends_[block.line] && std::ranges::any_of(twin_, knew));
    }

    /// Up to the place that the twin's word of a series covers, by the twin alone: that stands for
    /// what the host had heard, also where the twin had missed some unawares.
    [[nodiscard]] bool by_word(const Block& block, const Twin::Said& word) const {
        const auto covers = [&](const std::vector<LineExpectation>& life) {
            return word.line == block.line_number && reaches(word, life[block.line], block);
        };
        const auto knew = [&](const std::vector<LineExpectation>& life) {
            return covers(life) && knows(life[block.line], block);
        };
        return std::ranges::any_of(twin_, covers) ? std::ranges::any_of(twin_, knew)
                                                  : by_twin(block, &word);
    }

  private:
    /// It says nothing against what is of another line than its own.
    [[nodiscard]] bool reaches(const Twin::Said& word, const LineExpectation& heard,
                               const Block& block) const {
        const LineTruth& line = truth_.lines()[block.line];
        const Block& first = *line.blocks[heard.begin_block];
        return word.line != block.line_number ||
               block.begin < covered_end(line, truth_, word.covered, first);
    }

    const Truth& truth_;
    const std::vector<LineExpectation>& lines_;
    TwinLives twin_;
    std::vector<std::size_t> ends_;  ///< known_end of each line
};

/// The book of all blocks before this time that were heard of.
template <class IsHeardOf>
std::map<std::string, Json> true_series(const Truth& truth, IsHeardOf heard_of,
                                        std::int64_t before_ns) {
    feed::opra::traffic::BookTruth book;
    for (const Block& block : truth.blocks()) {
        if (block.ts_ns >= before_ns || block.test || !heard_of(block)) {
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

/// What a book can be held to, line by line.
class Standards {
  public:
    /// `state_whole`: a host that takes state was given all that its twin had.
    Standards(const Plan& plan, const Truth& truth, const std::vector<LineExpectation>& lines,
              TwinLives twin, bool state_whole)
        : truth_(truth),
          lines_(lines),
          twin_(twin),
          whole_days_(plan.days.size() > 1),
          state_taken_(plan.state.taken),
          state_whole_(state_whole) {}

    /// What is called fresh must be the truth.
    [[nodiscard]] bool exact(std::size_t line) const {
        return everywhere(line, [](const LineExpectation& one) { return one.exact; });
    }

    /// Everything must be: nothing was lost. A state that joined nothing that was heard of its line
    /// is stale.
    [[nodiscard]] bool whole(std::size_t line) const {
        return complete(line) && (!state_taken_ || heard_original(line));
    }

    /// Every series must be there: nothing was lost; nor, where state was taken, by a twin that was
    /// there from the first block on.
    [[nodiscard]] bool complete(std::size_t line) const {
        const bool known = !state_taken_ || (state_whole_ && twin_.size() == 1);
        return known && everywhere(line, [](const LineExpectation& one) { return one.whole(); }) &&
               (!state_taken_ || std::ranges::all_of(twin_[0], [](const LineExpectation& one) {
                   return one.begin_block == 0;
               }));
    }

  private:
    /// Something that is no test: of tests no core is told.
    [[nodiscard]] bool heard_original(std::size_t line) const {
        return std::ranges::any_of(truth_.lines()[line].blocks, [&](const Block* block) {
            return !block->test && delivers(lines_[line].blocks[block->index].fate);
        });
    }

    /// Of the line; over several days, of all lines, since series move from one to another.
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
    TruthCheck(const Plan& plan, const Truth& truth, const HeardOf& heard, const Twin* twin,
               const Standards& standards, Findings& findings, Weight& weight)
        : truth_(truth),
          heard_(heard),
          twin_(twin),
          standards_(standards),
          series_(by_streams_before(never_ns)),
          findings_(findings),
          weight_(weight) {
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

    /// `refused`: the core was refused something, on any line.
    void check(const feed::SeriesKey& series, const Json& mine, bool refused) {
        const std::string key = key_of(mine);
        found_.insert(key);
        const std::size_t line = truth_.line_index(mine["line"].get<std::uint16_t>());
        const bool test =
            feed::opra::traffic::is_reserved_symbol(mine["symbol"].get<std::string>());
        if (!standards_.exact(line) || test) {
            return;  // the truth of books leaves tests out
        }
        if (moved_.contains(key)) {
            return;  // which line's messages of it count, or are heard first, is by chance
        }
        std::vector<Json> wanted = wanted_of(key);
        if (wanted.empty()) {
            return findings_.add("a book has a series that nobody spoke of: " + mine.dump());
        }
        const bool whole = standards_.whole(line) && !refused;
        count(mine, whole);
        const std::size_t most = wanted.size() - 1;  // from here on: all that it was told
        const auto is_true = [&] {
            return agrees(mine, wanted, "bid") && agrees(mine, wanted, "offer") &&
                   (!whole || std::ranges::count(wanted.begin() + static_cast<std::ptrdiff_t>(most),
                                                 wanted.end(), mine) != 0);
        };
        if (!is_true()) {
            add_words(series, key, mine["line"].get<std::uint16_t>(), wanted);
        }
        if (!is_true() && !stands_by_word(series, key, mine, wanted)) {
            findings_.add(fmt::format("{}, and a book says\n    {}\n  the truth\n    {}",
                                      whole ? "nothing was lost" : "what is called fresh differs",
                                      mine.dump(), wanted[most].dump()));
        }
    }

    /// Where everything must be known, no book may be without a series; all were checked.
    void check_none_missing() {
        for (const auto& [key, series] : by_state_.empty() ? series_ : by_state_) {
            const std::size_t line = truth_.line_index(series["line"].get<std::uint16_t>());
            const bool expected =
                standards_.complete(line) && !found_.contains(key) && !moved_.contains(key);
            if (expected && (by_state_.empty() || was_told(key, line))) {
                findings_.add("nothing was lost, and no book has a series: " + series.dump());
            }
        }
    }

  private:
    static constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();

    /// By what the host's streams told it, and by what the twin's state may have told beside them.
    [[nodiscard]] std::vector<Json> wanted_of(const std::string& key) const {
        std::vector<Json> wanted;
        for (const auto* known : {&series_, &by_state_}) {
            if (const auto at = known->find(key); at != known->end()) {
                wanted.push_back(at->second);
            }
        }
        return wanted;
    }

    /// What the twin's word of it makes of it, each time: it may have gone less far than all that
    /// the twin came to know. Where it says nothing of the series, it had heard nothing of it as
    /// far as its words of the line's others go.
    void add_words(const feed::SeriesKey& series, const std::string& key, std::uint16_t line,
                   std::vector<Json>& wanted) const {
        if (twin_ == nullptr) {
            return;
        }
        const auto words = twin_->said_of(series);
        for (const Twin::Said& said : words) {
            add(key, wanted, [&](const Block& block) { return heard_.by_twin(block, &said); });
        }
        if (words.empty()) {
            add_by_latest(key, line, wanted);
        }
    }

    void add_by_latest(const std::string& key, std::uint16_t line,
                       std::vector<Json>& wanted) const {
        const Twin::Said* said = twin_->latest_of(line);
        add(key, wanted, [&](const Block& block) {
            return said == nullptr ? heard_.by_streams(block) : heard_.by_twin(block, said);
        });
    }

    /// By the streams, or by the twin before it gave its state: what it came to know later, and the
    /// streams missed unawares, is in no book.
    [[nodiscard]] bool was_told(const std::string& key, std::size_t line) const {
        std::vector<Json> told;
        add_by_latest(key, truth_.lines()[line].number, told);
        return !told.empty();
    }

    /// The twin's word of it stands for what the host had heard, but for the sides of which it says
    /// nothing.
    [[nodiscard]] bool stands_by_word(const feed::SeriesKey& series, const std::string& key,
                                      const Json& mine, const std::vector<Json>& wanted) const {
        std::vector<Json> by_word;
        for (const Twin::Said& said :
             twin_ == nullptr ? std::span<const Twin::Said>{} : twin_->said_of(series)) {
            add(key, by_word, [&](const Block& block) { return heard_.by_word(block, said); });
        }
        return agrees(mine, wanted, "bid") && agrees(mine, wanted, "offer") &&
               std::ranges::any_of(by_word, [&mine](const Json& one) {
                   return without_sides(one) == without_sides(mine);
               });
    }

    [[nodiscard]] static Json without_sides(Json series) {
        for (const char* const name : {"best_bid", "best_offer", "bid_state", "offer_state"}) {
            series.erase(name);
        }
        return series;
    }

    template <class IsHeardOf>
    void add(const std::string& key, std::vector<Json>& wanted, IsHeardOf heard_of) const {
        const auto known = true_series(truth_, heard_of, never_ns);
        if (const auto at = known.find(key); at != known.end()) {
            wanted.push_back(at->second);
        }
    }

    [[nodiscard]] std::map<std::string, Json> by_streams_before(std::int64_t before_ns) const {
        const auto by_streams = [this](const Block& block) { return heard_.by_streams(block); };
        return true_series(truth_, by_streams, before_ns);
    }

    [[nodiscard]] std::map<std::string, Json> by_twin_before(std::int64_t before_ns) const {
        const auto by_twin = [this](const Block& block) { return heard_.by_twin(block); };
        return true_series(truth_, by_twin, before_ns);
    }

    /// Those of an earlier day that are on another line at the end.
    void note_moved(const std::map<std::string, Json>& earlier) {
        for (const auto& [key, state] : earlier) {
            const auto now = series_.find(key);
            if (now != series_.end() && now->second["line"] != state["line"]) {
                moved_.insert(key);
            }
        }
    }

    /// What it calls fresh of a side is what somebody may have told it.
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
                ++weight_.sides_fresh;
            } else {
                weight_.sides_vague += whole ? 0 : 1;
            }
        }
        weight_.series_whole += whole ? 1 : 0;
    }

    const Truth& truth_;
    const HeardOf& heard_;
    const Twin* twin_;
    const Standards& standards_;
    std::map<std::string, Json> series_;
    std::map<std::string, Json> by_state_;  ///< where state is taken
    std::set<std::string> moved_;           ///< series that came on several lines
    std::set<std::string> found_;           ///< series that some book has
    Findings& findings_;
    Weight& weight_;
};

}  // namespace

void check_books(const Plan& plan, const Truth& truth, const std::vector<LineExpectation>& lines,
                 TwinLives twin, Host& host, Findings& findings, Weight& weight) {
    const actors::peer::StateTransfer* transfer = host.transfer();
    const bool state_whole = transfer != nullptr && transfer->whole().read() == 1;
    const Standards standards{plan, truth, lines, twin, state_whole};
    const HeardOf heard{truth, lines, twin};
    TruthCheck check{plan, truth, heard, host.twin(), standards, findings, weight};
    if (transfer != nullptr) {
        weight.states_taken += transfer->counts().read(actors::peer::StateCount::taken);
    }
    bool refused_any = false;
    for (std::size_t core = 0; core < host.cores_count(); ++core) {
        if (!plan.state.taken) {
            check_against_model(core, host, findings);
        }
        std::uint64_t refused = 0;
        for (std::size_t i = 0; i < plan.host.pollers; ++i) {
            refused += host.poller(i).router().counters(core).refused.read();
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
