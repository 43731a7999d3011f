// path: cold
//
// The phases of the day and their messages. Packing and time are in session_blocks.cpp.
#include "feed/opra/traffic/traffic_session.h"

#include "config/check.h"

#include <algorithm>
#include <chrono>

namespace pinstrike::feed::opra::traffic {

namespace {

// Shares of all messages, at mix 1. Nearly all messages of OPRA are quotes. The shares of the other
// kinds are large enough for each kind to occur in a session of ten thousand messages.
constexpr double trade_share = 0.01;
constexpr double underlying_share = 0.004;
constexpr double text_share = 0.0005;
constexpr double new_series_share = 0.0005;
constexpr double gth_share = 0.05;

constexpr double maps_share = 0.01;
constexpr double open_interest_share = 0.01;
constexpr double summaries_share = 0.01;
constexpr unsigned summarizing_exchanges = 3;
constexpr std::size_t zero_quotes_max = 2'000;
constexpr std::uint64_t warm_up_quotes_max = 500'000;

std::uint8_t weekday_of(std::int64_t ts_ns) {
    using namespace std::chrono;
    const weekday day{floor<days>(sys_time<nanoseconds>{nanoseconds{ts_ns}})};
    return static_cast<std::uint8_t>(std::clamp(day.iso_encoding(), 1U, 5U));
}

}  // namespace

TrafficSession::TrafficSession(const TrafficConfig& config, std::span<const LineConfig> lines,
                               BlockSink& sink)
    : config_(config),
      sink_(sink),
      random_(scramble(config.seed ^ 0x5345'5353ULL)),
      universe_(config, lines.first(std::min(lines.size(), config.lines_count))),
      curve_(std::max<std::size_t>(universe_.tests_begin(), 1)),
      market_(config, universe_),
      now_ns_(config.start_ns),
      housekeep_ns_(config.start_ns),
      burst_switch_ns_(config.start_ns),
      trade_weekday_(weekday_of(config.start_ns)) {
    PINSTRIKE_CHECK(!lines.empty() && config.lines_count > 0);
    for (const LineConfig& from : lines.first(std::min(lines.size(), config.lines_count))) {
        Line line;
        line.number = from.number;
        line.use = use_of_line(from.number);
        line.sent_ns = now_ns_;
        auto& group = line.use == LineUse::regular ? regular_
                      : line.use == LineUse::gth   ? gth_
                                                   : maps_;
        group.push_back(static_cast<LineIndex>(lines_.size()));
        lines_.push_back(std::move(line));
    }
}

/// For a capture from the middle of a day: gives the series the quotes sent before the capture.
void TrafficSession::warm_up() {
    const std::uint64_t count = 2 * std::min(config_.messages_count, warm_up_quotes_max);
    for (std::uint64_t i = 0; i < count && config_.mix > 0; ++i) {
        static_cast<void>(market_.quote(choose_series()));
    }
    market_.begin_record();
}

void TrafficSession::run_start() {
    if (config_.session) {
        start_of_day();
    } else {
        warm_up();
    }
    renumber();
    if (config_.session) {
        send_maps();
        send_open_interest();
    }
    flush_all();
}

void TrafficSession::run() {
    run_start();
    run_trading();
    if (config_.session) {
        summarize();
        end_of_day();
    }
    flush_all();
    if (config_.end_with_reset) {
        for (const LineIndex i : indices_of(lines_)) {
            restart_number(i, 'K', 0);
        }
    }
}

void TrafficSession::start_of_day() {
    for (const LineIndex i : indices_of(lines_)) {
        if (lines_[i].use != LineUse::maps) {
            restart_number(i, 'C', 0);
        }
    }
}

/// Applies config.first_sequence. A session reaches it by a reset, a capture from the middle of a
/// day begins with it.
void TrafficSession::renumber() {
    if (config_.first_sequence <= 1) {
        return;
    }
    for (const LineIndex i : indices_of(lines_)) {
        if (config_.session && lines_[i].use != LineUse::maps) {
            restart_number(i, 'K', config_.first_sequence - 1);
        } else if (!config_.session) {
            lines_[i].next = config_.first_sequence;
            lines_[i].last = config_.first_sequence - 1;
        }
    }
}

std::size_t TrafficSession::share_of_messages(double share) const {
    return static_cast<std::size_t>(share * config_.mix *
                                    static_cast<double>(config_.messages_count));
}

void TrafficSession::say_map(SeriesIndex index) {
    const LineIndex line = universe_.series()[index].line;
    if (lines_[line].use != LineUse::regular) {
        return;
    }
    const wire::Message map = market_.series_map(index, lines_[line].number);
    post(line, map);
    for (const LineIndex at : maps_) {
        if (lines_[at].number == 220) {
            post(at, map);
        }
    }
}

void TrafficSession::send_maps() {
    if (regular_.empty()) {
        return;
    }
    const std::size_t all = universe_.tests_begin();
    const std::size_t wanted =
        config_.maps_count != 0 ? config_.maps_count : share_of_messages(maps_share);
    const std::size_t count = std::min(wanted, all);
    for (std::size_t i = 0; i < count && !finished(); ++i) {
        say_map(static_cast<SeriesIndex>(i * all / count));
        advance();
    }
    flush_all();
}

void TrafficSession::send_open_interest() {
    for (const LineIndex line : regular_) {
        control(line, 'L');
    }
    const std::size_t all = regular_.empty() ? 0 : universe_.tests_begin();
    const std::size_t count = std::min(share_of_messages(open_interest_share), all);
    for (std::size_t i = 0; i < count && !finished(); ++i) {
        // Every second series is among the most active, so that the book has it.
        const auto index = static_cast<SeriesIndex>((i & 1) == 0 ? i / 2 : i * all / count);
        post(universe_.series()[index].line, market_.open_interest(index));
        advance();
    }
    for (const LineIndex line : regular_) {
        control(line, 'M');
    }
}

SeriesIndex TrafficSession::choose_series() {
    const std::size_t tests = universe_.gth_begin() - universe_.tests_begin();
    const std::size_t gth = universe_.series().size() - universe_.gth_begin();
    if (regular_.empty() || (gth != 0 && random_.chance(gth_share))) {
        PINSTRIKE_CHECK(gth != 0);  // lines that carry only maps have no traffic to generate
        return static_cast<SeriesIndex>(universe_.gth_begin() + random_.below(gth));
    }
    if (config_.test_symbols > 0 && random_.chance(config_.test_symbols)) {
        return static_cast<SeriesIndex>(universe_.tests_begin() + random_.below(tests));
    }
    SeriesIndex index = curve_.pick(random_);
    while (config_.mix <= 0 && !market_.plain(index)) {
        index = curve_.pick(random_);
    }
    return index;
}

void TrafficSession::say_something() {
    const SeriesIndex index = choose_series();
    const LineIndex line = universe_.series()[index].line;
    double dice = random_.unit();
    const auto falls = [&dice, this](double share) {
        const bool fell = dice >= 0 && dice < share * config_.mix;
        dice -= share * config_.mix;
        return fell;
    };
    if (falls(trade_share)) {
        post(line, market_.trade(index));
    } else if (falls(underlying_share)) {
        post(line, market_.underlying());
    } else if (falls(text_share)) {
        post_alone(line, market_.text());
    } else if (falls(new_series_share) && market_.venues(index).empty()) {
        say_map(index);
        post(line, market_.quote(index));
    } else {
        post(line, market_.quote(index));
    }
}

bool TrafficSession::finished() const {
    return messages_ >= config_.messages_count ||
           (config_.packets_count != 0 && blocks_ >= config_.packets_count);
}

/// Restarts come at equal distances, the disaster at two thirds of the messages.
void TrafficSession::run_trading() {
    const std::uint64_t begin = messages_;
    const std::uint64_t span = config_.messages_count > begin ? config_.messages_count - begin : 0;
    const std::uint64_t part = span / (config_.restarts_count + 1);
    std::uint64_t restart_at = config_.restarts_count != 0 ? begin + part : UINT64_MAX;
    std::uint64_t disaster_at = config_.disaster ? begin + span * 2 / 3 : UINT64_MAX;
    unsigned restarts_left = config_.restarts_count;
    while (!finished()) {
        if (messages_ >= restart_at) {
            restart(false);
            restart_at = --restarts_left != 0 ? restart_at + part : UINT64_MAX;
        }
        if (messages_ >= disaster_at) {
            restart(true);
            disaster_at = UINT64_MAX;
        }
        say_something();
        advance();
    }
    flush_all();
}

/// Sends a cold restart: numbers begin anew, no best persists, and every known quote is zeroed. If
/// the disaster site takes over, several resets precede its announcement, and no zero quotes are
/// sent.
void TrafficSession::restart(bool disaster) {
    flush_all();

    struct Known {
        SeriesIndex index;
        char participant;
    };

    std::vector<Known> known;
    for (const SeriesIndex index : market_.touched()) {
        for (const VenueQuote& venue : market_.venues(index)) {
            if (known.size() < zero_quotes_max) {
                known.push_back({index, venue.participant});
            }
        }
    }
    disaster_site_ = disaster_site_ || disaster;
    for (const LineIndex i : indices_of(lines_)) {
        if (lines_[i].use == LineUse::maps) {
            continue;
        }
        restart_number(i, 'K', 1);
        if (disaster) {
            resets_lower_ = false;
            restart_number(i, 'K', 2);
            resets_lower_ = true;
            control(i, 'P');
        }
    }
    market_.forget_quotes();
    if (disaster || config_.mix <= 0) {
        return;
    }
    for (const Known& quote : known) {
        post(universe_.series()[quote.index].line,
             market_.zero_quote(quote.index, quote.participant));
        advance();
    }
}

/// Sends, for one exchange after the other, the start of its summaries, the summaries of the series
/// that it quoted, and their end.
void TrafficSession::summarize() {
    const std::size_t each = share_of_messages(summaries_share) / summarizing_exchanges;
    for (unsigned i = 0; i < summarizing_exchanges; ++i) {
        const char exchange = exchange_ids[i * 2];
        for (const LineIndex line : regular_) {
            control(line, 'E', exchange);
        }
        std::size_t left = each;
        for (const SeriesIndex index : market_.touched()) {
            const bool quotes = std::ranges::any_of(
                market_.venues(index),
                [=](const VenueQuote& venue) { return venue.participant == exchange; });
            const LineIndex line = universe_.series()[index].line;
            if (left != 0 && quotes && lines_[line].use == LineUse::regular) {
                post(line, market_.end_of_day(index, exchange));
                advance();
                --left;
            }
        }
        for (const LineIndex line : regular_) {
            control(line, 'F', exchange);
        }
    }
}

void TrafficSession::end_of_day() {
    flush_all();
    for (const LineIndex i : indices_of(lines_)) {
        if (lines_[i].use != LineUse::maps) {
            control(i, 'J');
        }
    }
}

}  // namespace pinstrike::feed::opra::traffic
