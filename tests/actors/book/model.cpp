// path: cold
#include "tests/actors/book/model.h"

#include "feed/event/position.h"

#include <algorithm>

namespace pinstrike::actors::test {

namespace {

bool after(std::uint32_t a, std::uint32_t b) {
    return a != b && a - b < 0x8000'0000U;
}

/// Of a late message, which has at most 2^30 newer ones.
bool late_after(std::uint32_t late, std::uint32_t other) {
    return late != other && !(other - late < 0x4000'0000U);
}

bool is_late(const feed::Event& event) {
    return (event.header.flags & feed::flag_late) != 0;
}

bool before_flush(const feed::Event& event) {
    return (event.header.flags & feed::flag_before_flush) != 0;
}

}  // namespace

void Model::apply(const feed::Event& event) {
    using feed::EventKind;
    if ((event.header.flags & feed::flag_before_day) != 0) {
        return;
    }
    switch (event.header.kind) {
        case EventKind::quote:
            quote(event);
            break;
        case EventKind::trade:
            trade(event);
            break;
        case EventKind::open_interest: {
            ModelSeries& series = arrive(event);
            if (newest(series, series.open_interest_stamp, event)) {
                series.open_interest = event.body.open_interest.open_interest;
                series.open_interest_stamp = stamp_of(event);
            }
            break;
        }
        case EventKind::end_of_day:
            if (series_.contains(event.body.series)) {
                arrive(event);
            }
            break;
        case EventKind::control:
            control(event);
            break;
        case EventKind::gap:
            gap(event);
            break;
        default:
            break;
    }
}

Stamp Model::stamp_of(const feed::Event& event) const {
    const auto line = lines_.find(event.header.line);
    const unsigned numbering = line == lines_.end() ? 0 : line->second.numbering;
    return {event.header.line, before_flush(event) ? ~0U : numbering, event.header.sequence, true};
}

ModelSeries& Model::arrive(const feed::Event& event) {
    const auto [at, inserted] = series_.try_emplace(event.body.series);
    ModelSeries& series = at->second;
    if (inserted) {
        series.line = event.header.line;
    } else if (!is_late(event) && series.line != event.header.line) {
        for (ModelSide* side : {&series.bid, &series.offer}) {
            side->stale = side->stale || waits(*side);
            side->late = false;
        }
        for (Stamp* stamp : {&series.bid.stamp, &series.offer.stamp, &series.last_stamp,
                             &series.open_stamp, &series.open_interest_stamp}) {
            stamp->line = 0;  // also if it returns: its numbers are not comparable
        }
        series.line = event.header.line;
    }
    return series;
}

bool Model::waits(const ModelSide& side) const {
    const auto line = lines_.find(side.stamp.line);
    return side.late && line != lines_.end() && line->second.missing_last &&
           after(*line->second.missing_last, side.stamp.sequence);
}

bool Model::newest(const ModelSeries& series, const Stamp& stamp, const feed::Event& event) const {
    if (!is_late(event) || !stamp.said) {
        return true;
    }
    if (before_flush(event) || event.header.line != series.line) {
        return false;
    }
    const Stamp mine = stamp_of(event);
    if (stamp.line != mine.line || stamp.numbering != mine.numbering) {
        return true;
    }
    return late_after(mine.sequence, stamp.sequence);
}

void Model::quote(const feed::Event& event) {
    ModelSeries& series = arrive(event);
    ++series.quotes;
    const char indicator = event.header.indicator;
    if (indicator < 'A' || indicator > 'P') {
        return;
    }
    if (is_late(event) && (before_flush(event) || event.header.line != series.line)) {
        return;
    }
    const auto flush = lines_[event.header.line].late_flush;
    if (is_late(event) && flush && !late_after(event.header.sequence, *flush)) {
        return;
    }
    const auto i = static_cast<unsigned>(indicator - 'A');
    const feed::Quote& quote = event.body.quote;
    const feed::QuoteBest best =
        event.header.records > 1 ? feed::rest_of<feed::QuoteBest>(event) : feed::QuoteBest{};
    const char who = event.header.participant;
    const char code = event.header.code;
    constexpr unsigned none = 2;
    constexpr unsigned appendage = 3;  // as for bids
    const unsigned offer = i % 4 == 2 ? appendage : i % 4 == 3 ? none : i % 4;
    state(series, series.bid, i / 4, event, {who, {quote.bid, code}, quote.bid_size}, best.bid);
    state(series, series.offer, offer, event, {who, {quote.offer, code}, quote.offer_size},
          best.offer);
}

void Model::state(ModelSeries& series, ModelSide& side, unsigned effect, const feed::Event& event,
                  const BestQuote& own, const feed::Best& appendage) {
    if (effect == 0 || !newest(series, side.stamp, event)) {
        return;
    }
    side = {};
    side.known = true;
    side.late = is_late(event);
    side.stamp = stamp_of(event);
    if (effect == 1) {
        side.best = own;
    } else if (effect == 3) {
        side.best =
            BestQuote{appendage.participant, {appendage.price, appendage.code}, appendage.size};
    }
}

void Model::trade(const feed::Event& event) {
    ModelSeries& series = arrive(event);
    const char type = event.header.type;
    if (type == 'A' || type == 'C' || type == 'E' || type == 'G') {
        cancel(series, event);
    } else {
        report(series, event);
    }
}

void Model::report(ModelSeries& series, const feed::Event& event) {
    const char type = event.header.type;
    const feed::Trade& trade = event.body.trade;
    const Price price{trade.price, event.header.code};
    ++series.trades;
    series.volume += trade.volume;
    if (type == 'u' || type == 'v') {
        return;
    }
    if (!series.high || price.e8() > series.high->e8()) {
        series.high = price;
    }
    if (!series.low || price.e8() < series.low->e8()) {
        series.low = price;
    }
    if (type != 'F' && type != 'B' && newest(series, series.last_stamp, event)) {
        series.last = LastTrade{event.header.participant, price, trade.volume, type};
        series.last_stamp = stamp_of(event);
    }
    if (type == 'B') {
        return;
    }
    const bool opening = type == 'F' || type == 'H';
    const bool of_trade = series.open && !series.open_stated;
    const bool is_newest = newest(series, series.open_stamp, event);
    const bool sets =
        opening ? is_newest || of_trade : (!series.open && is_newest) || (of_trade && !is_newest);
    if (sets) {
        series.open = price;
        series.open_stated = opening;
        series.open_stamp = stamp_of(event);
    }
}

void Model::cancel(ModelSeries& series, const feed::Event& event) {
    const char type = event.header.type;
    series.volume -= std::min<std::uint64_t>(series.volume, event.body.trade.volume);
    const bool newest_of_last = newest(series, series.last_stamp, event);
    const bool newest_of_open = newest(series, series.open_stamp, event);
    const bool all = type == 'G' && newest_of_last && newest_of_open;
    if (all) {
        series.volume = 0;
        series.high = series.low = std::nullopt;
    }
    if (all || (type == 'C' && newest_of_last)) {
        series.last = std::nullopt;
        series.last_stamp = stamp_of(event);
    }
    if (all || (type == 'E' && newest_of_open)) {
        series.open = std::nullopt;
        series.open_stated = false;
        series.open_stamp = stamp_of(event);
    }
}

void Model::control(const feed::Event& event) {
    const feed::Forget forget = event.body.control.forget;
    Line& line = lines_[event.header.line];
    if (forget == feed::Forget::day) {
        ++line.numbering;
        line.missing_last = std::nullopt;
        line.late_flush = std::nullopt;
        std::erase_if(series_,
                      [&](const auto& item) { return item.second.line == event.header.line; });
    }
    if (forget != feed::Forget::quotes || before_flush(event)) {
        return;
    }
    if (is_late(event) &&
        (!line.late_flush || late_after(event.header.sequence, *line.late_flush))) {
        line.late_flush = event.header.sequence;
    }
    for (auto& [key, series] : series_) {
        if (series.line != event.header.line) {
            continue;
        }
        for (ModelSide* side : {&series.bid, &series.offer}) {
            const bool outlives = is_late(event) && side->stamp.line == series.line &&
                                  !late_after(event.header.sequence, side->stamp.sequence);
            if (!outlives) {
                *side = {};
            }
        }
    }
    if (!is_late(event)) {
        ++line.numbering;
        line.missing_last = std::nullopt;
        line.late_flush = std::nullopt;
    }
}

void Model::gap(const feed::Event& event) {
    const feed::Gap& gap = event.body.gap;
    const std::uint32_t first = feed::serial_of(gap.first);
    const std::uint32_t last = feed::serial_of(gap.last);
    Line& line = lines_[event.header.line];
    if (gap.cause == feed::GapCause::repaired) {
        if (!before_flush(event) && line.missing_last && !after(line.missing_first, first) &&
            !after(last, *line.missing_last)) {
            line.missing -= std::min<std::uint64_t>(line.missing, last - first + 1);
            if (line.missing == 0) {
                line.missing_last = std::nullopt;
            } else if (line.missing_last == last) {
                line.missing_last = first - 1;
            }
        }
        return;
    }
    line.missing =
        (line.missing_last ? line.missing : 0) + std::max<std::uint64_t>(gap.messages, 1);
    line.missing_first =
        line.missing_last && !after(line.missing_first, first) ? line.missing_first : first;
    line.missing_last =
        line.missing_last && !after(last, *line.missing_last) ? *line.missing_last : last;
    for (auto& [key, series] : series_) {
        if (series.line == event.header.line) {
            for (ModelSide* side : {&series.bid, &series.offer}) {
                side->stale = side->known;
                side->late = false;
            }
        }
    }
}

std::optional<SeriesState> Model::find(const feed::SeriesKey& key) const {
    const auto at = series_.find(key);
    if (at == series_.end()) {
        return std::nullopt;
    }
    const ModelSeries& series = at->second;
    const auto state_of = [this](const ModelSide& side) {
        return !side.known                 ? SideState::unknown
               : side.stale || waits(side) ? SideState::stale
                                           : SideState::fresh;
    };
    SeriesState state;
    state.key = key;
    state.line = series.line;
    state.bid = series.bid.best;
    state.offer = series.offer.best;
    state.bid_state = state_of(series.bid);
    state.offer_state = state_of(series.offer);
    state.open = series.open;
    state.high = series.high;
    state.low = series.low;
    state.last = series.last;
    state.volume = series.volume;
    state.trades = series.trades;
    state.quotes = series.quotes;
    state.open_interest = series.open_interest;
    return state;
}

}  // namespace pinstrike::actors::test
