// path: cold
//
// The books: series by series beside a model that was told the same events, and beside the truth
// wherever they do not say that they cannot know.
#include "actors/book/book_json.h"
#include "feed/opra/traffic/reserved_symbols.h"
#include "feed/opra/traffic/truth_book.h"
#include "tests/book/model.h"
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

/// What a book had to know at most before this time: what was heard, or known to be lost, from the
/// first block on.
std::map<std::string, Json> true_series(const Truth& truth,
                                        const std::vector<LineExpectation>& lines,
                                        std::int64_t before_ns) {
    feed::opra::traffic::BookTruth book;
    for (const Block& block : truth.blocks()) {
        const LineExpectation& line = lines[block.line];
        if (!line.heard || block.index < line.begin_block || block.ts_ns >= before_ns ||
            block.test) {
            continue;
        }
        const Fate fate = line.blocks[block.index].fate;
        if (!delivers(fate) && fate != Fate::lost) {
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

class TruthCheck {
  public:
    TruthCheck(const Plan& plan, const Truth& truth, const std::vector<LineExpectation>& lines,
               Findings& findings, Weight& weight)
        : truth_(truth),
          lines_(lines),
          series_(true_series(truth, lines, std::numeric_limits<std::int64_t>::max())),
          one_day_(plan.days.size() == 1),
          findings_(findings),
          weight_(weight) {
        for (std::size_t i = 1; i < plan.days.size(); ++i) {
            for (const auto& [key, state] : true_series(truth, lines, plan.days[i].start_ns)) {
                const auto now = series_.find(key);
                if (now != series_.end() && now->second["line"] != state["line"]) {
                    moved_.insert(key);
                }
            }
        }
    }

    /// `refused`: the core was refused something, on any line.
    void check(const Json& mine, bool refused) {
        const LineExpectation& line = lines_[truth_.line_index(mine["line"].get<std::uint16_t>())];
        const auto all_of_them = [this](auto&& is) { return std::ranges::all_of(lines_, is); };
        const bool test =
            feed::opra::traffic::is_reserved_symbol(mine["symbol"].get<std::string>());
        const bool exact =
            one_day_ ? line.exact : all_of_them([](const auto& one) { return one.exact; });
        if (!exact || test) {
            return;  // the truth of books leaves tests out
        }
        if (moved_.contains(key_of(mine))) {
            return;  // who is heard first, its old line's next day or its new line, is by chance
        }
        const auto at = series_.find(key_of(mine));
        if (at == series_.end()) {
            return findings_.add("a book has a series that nobody spoke of: " + mine.dump());
        }
        const bool whole =
            (one_day_ ? line.whole() : all_of_them([](const auto& one) { return one.whole(); })) &&
            !refused;
        check_side(mine, at->second, "bid", whole);
        check_side(mine, at->second, "offer", whole);
        if (whole && mine != at->second) {
            findings_.add(
                fmt::format("nothing was lost, and a book says\n    {}\n  the truth\n    "
                            "{}",
                            mine.dump(), at->second.dump()));
        }
    }

  private:
    void check_side(const Json& mine, const Json& wanted, const std::string& side, bool whole) {
        const std::string state = mine[side + "_state"].get<std::string>();
        if (state != "fresh") {
            weight_.sides_vague += whole ? 0 : 1;
            return;
        }
        ++weight_.sides_fresh;
        const std::string best = "best_" + side;
        if (mine[best] != wanted[best] || wanted[side + "_state"] != "fresh") {
            findings_.add(
                fmt::format("the {} is called fresh, and differs: a book says\n    {}\n  "
                            "the truth\n    {}",
                            side, mine.dump(), wanted.dump()));
        }
    }

    const Truth& truth_;
    const std::vector<LineExpectation>& lines_;
    std::map<std::string, Json> series_;
    std::set<std::string> moved_;  ///< series that came on another line on a day before
    bool one_day_;
    Findings& findings_;
    Weight& weight_;
};

}  // namespace

void check_books(const Plan& plan, const Truth& truth, const std::vector<LineExpectation>& lines,
                 Host& host, Findings& findings, Weight& weight) {
    TruthCheck check{plan, truth, lines, findings, weight};
    for (std::size_t core = 0; core < host.cores_count(); ++core) {
        check_against_model(core, host, findings);
        std::uint64_t refused = 0;
        for (std::size_t i = 0; i < plan.host.pollers; ++i) {
            refused += host.poller(i).router().counters(core).refused.read();
        }
        const actors::Book& book = host.book(core);
        book.for_each_series([&](const feed::SeriesKey& key) {
            check.check(Json::parse(actors::series_json(*book.find(key))), refused != 0);
        });
    }
}

}  // namespace pinstrike::sim
