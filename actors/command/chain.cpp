// path: cold
//
// `pinstrike chain`: the series of underlyings as a running feed or a replay publishes them.
#include "actors/command/chain_output.h"
#include "actors/command/command.h"
#include "actors/publish/pinstrike.hpp"
#include "actors/publish/publish_folder.h"
#include "config/joined.h"
#include "config/units.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace pinstrike::command {
namespace {

struct ChainArguments {
    std::vector<std::string> roots;
    std::string feed;
    std::string expiration;
    std::string strikes = "20";
    double watch_seconds = 0;  ///< 0: print once
    bool csv = false;
    bool json = false;
};

bool runs(const std::string& name) {
    try {
        const pinstrike_condition condition = client::feed{name}.condition();
        return condition == PINSTRIKE_FEED_LIVE || condition == PINSTRIKE_FEED_STARTING ||
               condition == PINSTRIKE_FEED_STUCK;
    } catch (const client::error&) {
        return false;  // it has ended meanwhile, or this user may not read it
    }
}

/// The only feed that runs here. If none runs, the only one that is published: it died, or a replay
/// was kept. Ends the command if there is none, or several.
std::string only_feed() {
    std::vector<std::string> names = client::feed::names();
    std::vector<std::string> running;
    std::ranges::copy_if(names, std::back_inserter(running), runs);
    const bool any_runs = !running.empty();
    names = any_runs ? running : names;
    if (names.size() == 1) {
        return names.front();
    }
    if (names.empty() && ::access(actors::published_shm_folder, X_OK) != 0 && errno == EACCES) {
        complain("{}: this user is not in the group that may read published memory",
                 actors::published_shm_folder);
    } else if (names.empty()) {
        complain("no feed publishes its state here: see publish.memory (pinstrike explain)");
    } else {
        complain("several feeds {} here ({}): name one with --feed", any_runs ? "run" : "publish",
                 joined(names, " "));
    }
    throw Ended{};
}

/// "2026-12-18" as 20261218.
std::optional<std::uint32_t> parse_date(std::string text) {
    std::erase(text, '-');
    const std::int64_t date = parse_integer(text).value_or(0);
    const std::int64_t month = date / 100 % 100;
    const std::int64_t day = date % 100;
    const bool valid = text.size() == 8 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
    return valid ? std::optional{static_cast<std::uint32_t>(date)} : std::nullopt;
}

struct Strikes {
    std::int64_t from_e8 = 0;
    std::int64_t to_e8 = 0;
    std::size_t around = 0;  ///< so many around the money; 0: all
};

std::optional<std::int64_t> parse_strike(std::string_view text) {
    const auto value = parse_number(text);
    const bool valid = value && *value >= 0 && *value < 1e9;
    return valid ? std::optional{std::int64_t{std::llround(*value * 1e8)}} : std::nullopt;
}

/// "100-120", "20" (so many around the money), or "all".
std::optional<Strikes> parse_strikes(const std::string& text) {
    if (text == "all") {
        return Strikes{};
    }
    if (const std::size_t dash = text.find('-'); dash != std::string::npos) {
        const auto from = parse_strike(std::string_view{text}.substr(0, dash));
        const auto to = parse_strike(std::string_view{text}.substr(dash + 1));
        return from && to && *from <= *to && *to > 0 ? std::optional{Strikes{*from, *to, 0}}
                                                     : std::nullopt;
    }
    const std::int64_t count = parse_integer(text).value_or(0);
    return count > 0 ? std::optional{Strikes{0, 0, static_cast<std::size_t>(count)}} : std::nullopt;
}

ChainForm form_of(const ChainArguments& given) {
    return given.csv ? ChainForm::csv : given.json ? ChainForm::json : ChainForm::table;
}

/// Prints the chain once. Ends the command if nothing is listed, and it will not be printed again.
void print_once(const ChainArguments& given, client::feed& feed, const client::filter& filter,
                const ChainView& view) {
    const std::vector<pinstrike_value> values = feed.chain(filter);
    const std::string none = fmt::format("{} lists no such series", feed.name());
    if (values.empty() && given.watch_seconds <= 0) {
        complain("{}", none);
        throw Ended{};
    }
    // A feed that has just started lists no series yet.
    const std::string text = values.empty() ? none + '\n' : chain_text(feed, values, view);
    const bool clears = given.watch_seconds > 0 && view.terminal;
    if (std::fputs(((clears ? "\x1b[H\x1b[2J" : "") + text).c_str(), stdout) < 0 ||
        std::fflush(stdout) != 0) {
        throw Ended{};
    }
}

Exit chain(const ChainArguments& given) {
    const auto strikes = parse_strikes(given.strikes);
    const auto expiration =
        given.expiration.empty() || given.expiration == "all" ? 0 : parse_date(given.expiration);
    if (!strikes || !expiration) {
        complain("found {}, expected {}", strikes ? given.expiration : given.strikes,
                 strikes ? "a date such as 2026-12-18, or all"
                         : "a range such as 100-120, a number of strikes, or all");
        return Exit::usage;
    }
    if (given.roots.empty() && form_of(given) == ChainForm::table) {
        complain("found no ROOT, expected an underlying such as SPY");
        return Exit::usage;
    }
    client::feed feed{given.feed.empty() ? only_feed() : given.feed};
    client::filter filter;
    filter.roots = given.roots;
    filter.expiration_from = filter.expiration_to = expiration;
    if (strikes->to_e8 != 0) {
        filter.strike_from_e8 = strikes->from_e8;
        filter.strike_to_e8 = strikes->to_e8;
    }
    const ChainForm form = form_of(given);
    const bool table = form == ChainForm::table;
    const ChainView view{.form = form,
                         .terminal = table && ::isatty(STDOUT_FILENO) == 1,
                         .nearest_only = table && given.expiration.empty(),
                         .around = table ? strikes->around : 0};
    while (true) {
        print_once(given, feed, filter, view);
        if (given.watch_seconds <= 0) {
            return Exit::ok;
        }
        std::this_thread::sleep_for(std::chrono::duration<double>(given.watch_seconds));
        try {
            feed.reattach();
        } catch (const client::error&) {
            continue;  // a newer start cannot be read, and the values of this one stay readable
        }
    }
}

}  // namespace

void add_chain(CLI::App& app, Outcome& outcome) {
    const auto [command, given] =
        add_command(app, outcome, "chain", "Calls and puts of an underlying, as published", chain);
    command->footer(
        "Reads the memory that a feed (publish.memory) or `replay --publish` publishes, without\n"
        "disturbing it. ROOT: SPX and SPXW are two. Prices are the best bid and\n"
        "offer with size and participant; AGE is the time since the latest message of the series.\n"
        "?: no quote stated the side yet; -: there is no best quote; *: stale, messages were lost\n"
        "after the quote; old: the feed has ended or died.\n"
        "Exit status: 0 success, 1 nothing is published or listed, 2 wrong use.\n\n"
        "Examples:\n"
        "  pinstrike chain SPY\n"
        "  pinstrike chain SPX SPXW --expiration 2026-12-18 --strikes 6500-7000 --watch\n"
        "  pinstrike chain AAPL --csv > aapl.csv");
    command->add_option("ROOT", given->roots,
                        "Underlyings, by root; of csv and json all if none is named");
    command->add_option("--feed", given->feed,
                        "Name of the feed (default: the only one that runs)");
    command->add_option("--expiration", given->expiration,
                        "YYYY-MM-DD, or all (default: the nearest, for csv and json all)");
    command
        ->add_option("--strikes", given->strikes,
                     "FROM-TO, a number of strikes around the money, or all; csv and json have all "
                     "or FROM-TO")
        ->capture_default_str();
    command->add_option("--watch", given->watch_seconds, "Print again every so many seconds")
        ->expected(0, 1)
        ->default_str("1")
        ->check(CLI::Range(0.05, 3600.0));
    CLI::Option* const csv =
        command->add_flag("--csv", given->csv, "A header and a row per series");
    command->add_flag("--json", given->json, "An object per series, one on each line")
        ->excludes(csv);
}

}  // namespace pinstrike::command
