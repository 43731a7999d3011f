// path: mixed, hot: events
#include "actors/bridge/feed_sender.h"

#include "actors/core/series_fields.h"
#include "actors/publish/reader/error.h"
#include "actors/publish/reader/series_reader.h"
#include "actors/publish/reader/shared_words.h"
#include "config/check.h"
#include "feed/event/event.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pinstrike::actors::bridge {
namespace {

using reader::CoreCursor;
using reader::CoreView;
using reader::Patience;

constexpr std::int64_t attach_every_ns = 50'000'000;
/// A joining host that is too slow gets no more states than one in this time.
constexpr std::int64_t begin_every_ns = 1'000'000'000;
constexpr std::size_t asked_max = 65'536;
constexpr std::uint32_t series_each_frame = 64;
/// Tries to read a series that is being written. It is tried again later, so that no other series
/// waits long for it.
constexpr unsigned patience_tries = 4096;
constexpr std::size_t lines_each_frame = 128;

// Room for the largest frame is also room for the `ready` frames of all cores.
static_assert(cores_max * sizeof(FrameHeader) <= sizeof(FrameHeader) + body_bytes_max);

/// Copies the lines of a core on which something happened. False: a line has an event newer than
/// the stamp.
bool copy_lines(const CoreView& view, std::uint64_t stamp, std::vector<LineBody>& lines) {
    Patience patience;
    lines.clear();
    for (std::size_t number = 0; number < view.lines.size(); ++number) {
        LineBody line;
        if (reader::load_relaxed(view.lines[number].version) == 0) {
            continue;
        }
        if (!reader::read_line(view, static_cast<std::uint16_t>(number), patience, line)) {
            throw reader::WriteUnfinished("the writer stopped in the middle of a write");
        }
        if (stamp_after(line.changed, stamp)) {
            return false;
        }
        line.version = number;
        lines.push_back(line);
    }
    return true;
}

}  // namespace

void FeedSender::select(std::uint32_t kinds, std::vector<std::uint64_t> roots) {
    kinds_ = kinds | feed::line_event_bits;
    roots_ = std::move(roots);
    std::ranges::sort(roots_);
}

/// A question above the limit is asked again by the other side.
void FeedSender::ask(std::uint16_t core, const feed::SeriesKey& key) {
    if (asked_.size() < asked_max) {
        asked_.emplace_back(core, key);
    }
}

bool FeedSender::is_current() const {
    return !cores_.empty() && std::ranges::all_of(cores_, [](const auto& core) {
        return core->stage == Stage::current;
    });
}

std::size_t FeedSender::produce(std::int64_t now_ns) {
    now_ns_ = now_ns;
    std::size_t done = 0;
    try {
        if (mapping_ == nullptr && !attach()) {
            return 0;
        }
        put_ids();
        done += put_ready();  // first, because a step may use all the room
        for (std::size_t i = 0; i < cores_.size() && mapping_ != nullptr && outlet_.has_room();
             ++i) {
            done += step(*cores_[next_core_++ % cores_.size()]);
        }
        if (done == 0 && mapping_ != nullptr) {
            look_for_end();
        }
    } catch (const reader::Error& error) {
        outlet_.writer.drop();  // the frame that was being made
        detach(error.what());
    }
    return done;
}

/// The events before the end were published before it, and are taken first. If some of them were
/// missed, the last state is sent first.
void FeedSender::look_for_end() {
    if (waits_ || !outlet_.has_room() || now_ns_ < attach_due_ns_) {
        return;
    }
    attach_due_ns_ = now_ns_ + attach_every_ns;
    const bool ended = reader::load_acquire(mapping_->shared().state) == PINSTRIKE_ENDED;
    if (std::exchange(over_, ended || !mapping_->has_writer()) && over_) {
        detach(ended ? "the feed has ended" : "the feed has died");
    }
}

bool FeedSender::attach() {
    if (now_ns_ < attach_due_ns_ || !outlet_.has_room()) {
        return false;
    }
    PINSTRIKE_CHECK(mapping_ == nullptr && cores_.empty());
    attach_due_ns_ = now_ns_ + attach_every_ns;
    if (const std::string obstacle = open_feed(); !obstacle.empty()) {
        detach(obstacle);
        return false;
    }
    begin();
    obstacle_.clear();
    return true;
}

/// Maps the feed's memory. Returns why it cannot be followed.
std::string FeedSender::open_feed() {
    try {
        auto mapping = reader::Mapping::open(feed_);
        const auto state = reader::load_acquire(mapping->shared().state);
        if (state == PINSTRIKE_STARTING) {
            return "the feed is starting";
        }
        if (state != PINSTRIKE_LIVE) {
            return "the feed has ended";
        }
        if (!mapping->has_writer()) {
            return "the feed has died";
        }
        const auto& views = mapping->cores();
        if (views.size() > cores_max || views.front().stream.empty()) {
            return "the feed publishes no stream (publish.stream: on)";
        }
        mapping_ = std::move(mapping);
        return {};
    } catch (const reader::Error& error) {
        return error.what();
    }
}

/// Begins a state of all cores. Throws WriteUnfinished, and changes nothing, if it is to be tried
/// again.
void FeedSender::begin() {
    PINSTRIKE_CHECK(outlet_.has_room());
    const auto& views = mapping_->cores();
    std::vector<std::unique_ptr<Core>> cores;
    for (const CoreView& view : views) {
        cores.push_back(std::make_unique<Core>(view));
        note_begin(*cores.back());
    }
    cores_ = std::move(cores);
    FrameHeader header;
    header.type = FrameType::start;
    header.count = static_cast<std::uint32_t>(views.size());
    header.value = static_cast<std::uint64_t>(mapping_->start_ns());
    StartBody body;
    feed_.copy(body.feed.data(), body.feed.size() - 1);
    body.trade_date = mapping_->trade_date();
    body.sharding = mapping_->shared().sharding;
    body.series = static_cast<std::uint32_t>(views.front().series.size() - 1);
    body.slots = static_cast<std::uint32_t>(views.front().entries.size());
    body.stream_records = views.front().stream.size();
    body.number_last = mapping_->shared().number_last;
    outlet_.writer.begin(header);
    outlet_.writer.append(&body, sizeof body);
    for (const CoreView& view : views) {
        StartCore core;
        std::memcpy(core.name.data(), view.shared->name, core.name.size() - 1);
        outlet_.writer.append(&core, sizeof core);
    }
    outlet_.writer.end(header);
    begin_due_ns_ = now_ns_ + begin_every_ns;
    over_ = waits_ = false;
    counters_.bump(ServeCount::states);
}

/// Notes the position of the stream, and the lines as they were then: if a line has an event that
/// is newer, both are taken again. The other side could not tell that such an event, which comes
/// behind the position, is in the line already.
void FeedSender::note_begin(Core& core) {
    constexpr unsigned tries_max = 10;
    const CoreView& view = core.cursor.core();
    for (unsigned i = 0; i < tries_max; ++i) {
        Patience patience;
        reader::Tail tail;
        if (!reader::read_tail(view, patience, tail)) {
            throw reader::WriteUnfinished("the writer stopped in the middle of a write");
        }
        if (copy_lines(view, tail.stamp, core.lines)) {
            core.cursor.start(tail);
            core.newest = tail.stamp;
            return;
        }
    }
    throw reader::WriteUnfinished("the writer has not published the latest events of lines yet");
}

void FeedSender::detach(const std::string& why) {
    mapping_ = nullptr;
    cores_.clear();
    asked_.clear();
    attach_due_ns_ = now_ns_ + attach_every_ns;
    if (std::exchange(obstacle_, why) != why) {
        static_cast<void>(outlet_.writer.put_text(FrameType::ended, why));
    }
}

std::size_t FeedSender::step(Core& core) {
    switch (core.stage) {
        case Stage::lines:
            return put_lines(core);
        case Stage::series: {
            const std::size_t series = put_series(core);
            return series + (outlet_.has_room() ? put_stamped(core) : 0);
        }
        case Stage::catching_up:
            return put_stamped(core);
        case Stage::current:
            return put_events(core);
    }
    return 0;
}

std::size_t FeedSender::put_lines(Core& core) {
    const std::size_t count = std::min(core.lines.size() - core.next_line, lines_each_frame);
    if (count == 0) {
        core.lines = {};
        core.stage = Stage::series;
        return 1;
    }
    FrameHeader header;
    header.type = FrameType::lines;
    header.core = core.cursor.core().index;
    header.count = static_cast<std::uint32_t>(count);
    outlet_.writer.begin(header);
    outlet_.writer.append(&core.lines[core.next_line], count * sizeof(LineBody));
    outlet_.writer.end(header);
    core.next_line += count;
    return count;
}

std::size_t FeedSender::put_series(Core& core) {
    const CoreView& view = core.cursor.core();
    const std::uint32_t end =
        std::min<std::uint32_t>(reader::load_acquire(view.shared->series_count) + 1,
                                static_cast<std::uint32_t>(view.series.size()));
    FrameHeader header;
    header.type = FrameType::series;
    header.core = view.index;
    outlet_.writer.begin(header);
    Patience patience{patience_tries};
    const std::uint32_t first = core.next_series;
    std::uint32_t stop = std::min(end, first + series_each_frame);
    for (std::uint32_t i = first; i < stop; ++i) {
        const pinstrike_series& listed = view.series[i];
        const feed::SeriesKey key{reader::load_acquire(listed.name),
                                  reader::load_relaxed(listed.strike_e8)};
        reader::SeriesParts parts;
        if (key.name == 0 || !wants_root(key.symbol_word())) {
            continue;
        }
        const reader::ReadResult result = reader::read_series(view, key, patience, parts);
        if (result == reader::ReadResult::unreadable) {
            stop = i;  // the writer does not run in the middle of a write: this one comes later
            break;
        }
        const bool forgotten = stamp_after(parts.line.day, parts.entry.stamp);
        const std::uint32_t bits = parts.entry.record & ~std::uint32_t{PINSTRIKE_INDEX};
        if (result == reader::ReadResult::absent ||
            (forgotten && (bits & ~std::uint32_t{PINSTRIKE_TRADES}) == 0)) {
            continue;
        }
        SeriesBody series{parts.entry, parts.trades};
        series.entry.record = bits | (parts.id <= PINSTRIKE_INDEX ? parts.id : 0);
        const std::uint64_t stamp =
            parts.entry.stamp / PINSTRIKE_STAMP_PLACE * PINSTRIKE_STAMP_PLACE;
        core.newest = stamp_after(stamp, core.newest) ? stamp : core.newest;
        clear_unwanted(series);
        outlet_.writer.append(&series, sizeof series);
        ++header.count;
    }
    if (header.count == 0) {
        outlet_.writer.drop();
    } else {
        outlet_.writer.end(header);
    }
    counters_.bump(ServeCount::series, header.count);
    core.next_series = stop;
    if (stop == end) {
        core.stage = Stage::catching_up;
    }
    return stop - first;
}

/// Values that no event will keep current are not sent.
void FeedSender::clear_unwanted(SeriesBody& series) const {
    if ((kinds_ & feed::bit_of(feed::EventKind::quote)) == 0) {
        series.entry.bid = series.entry.offer = {};
        series.entry.quotes = 0;
    }
    pinstrike_trades& trades = series.trades;
    if ((kinds_ & feed::bit_of(feed::EventKind::open_interest)) == 0) {
        trades.open_interest = trades.open_interest_sequence = 0;
        trades.flags =
            static_cast<std::uint16_t>(trades.flags & ~unsigned{PINSTRIKE_HAS_OPEN_INTEREST});
    }
    if ((kinds_ & feed::bit_of(feed::EventKind::trade)) == 0) {
        constexpr unsigned kept =
            has_open_interest | open_interest_touched | open_interest_touched << elsewhere_shift;
        const pinstrike_trades all = std::exchange(trades, {});
        trades.open_interest = all.open_interest;
        trades.open_interest_sequence = all.open_interest_sequence;
        trades.flags = static_cast<std::uint16_t>(all.flags & kept);
        if (trades.flags == 0) {
            series.entry.record &= ~std::uint32_t{PINSTRIKE_TRADES};
        }
    }
}

/// The other side takes events as they are once it has the state of all cores, so all go on
/// together. A core that has caught up sends stamps until then. Returns how many frames it put.
std::size_t FeedSender::put_ready() {
    const bool all = std::ranges::all_of(cores_, [](const auto& core) {
        return core->stage == Stage::catching_up &&
               !stamp_after(core->newest, core->cursor.clock().stamp());
    });
    if (!all || !outlet_.has_room()) {
        return 0;
    }
    for (const auto& core : cores_) {
        PINSTRIKE_CHECK(core->lines.empty());
        FrameHeader header;
        header.type = FrameType::ready;
        header.core = core->cursor.core().index;
        header.position = core->cursor.position();
        const StampClock& clock = core->cursor.clock();
        header.stamp = clock.stamp();
        header.base_ms = clock.base_ms();
        header.ms = clock.ms();
        const bool put = outlet_.writer.put(header);
        PINSTRIKE_CHECK(put);
        core->left_out = 0;
        core->stage = Stage::current;
    }
    return cores_.size();
}

void FeedSender::put_ids() {
    while (!asked_.empty() && outlet_.has_room()) {
        FrameHeader header;
        header.type = FrameType::ids;
        header.core = asked_.front().first;
        const bool exists = header.core < mapping_->cores().size();
        outlet_.writer.begin(header);
        constexpr std::uint32_t ids_each_frame = 256;
        Patience patience;
        while (!asked_.empty() && asked_.front().first == header.core &&
               header.count < ids_each_frame) {
            IdBody answer{.key = asked_.front().second};
            asked_.pop_front();
            reader::SeriesParts parts;
            if (exists && reader::read_series(mapping_->cores()[header.core], answer.key, patience,
                                              parts) == reader::ReadResult::read) {
                answer.id = parts.id;
            }
            outlet_.writer.append(&answer, sizeof answer);
            ++header.count;
        }
        outlet_.writer.end(header);
        counters_.bump(ServeCount::ids, header.count);
    }
}

/// Records were overwritten, or the state changed other than by events: another state is sent.
bool FeedSender::begin_again() {
    waits_ = now_ns_ < begin_due_ns_;
    if (waits_) {
        return false;
    }
    std::vector<std::uint64_t> positions;
    for (const auto& core : cores_) {
        positions.push_back(core->cursor.position());
    }
    try {
        begin();
    } catch (const reader::WriteUnfinished&) {
        if (!mapping_->has_writer()) {
            throw;  // it never ends
        }
        begin_due_ns_ = now_ns_ + attach_every_ns;
        return false;
    }
    for (std::size_t i = 0; i < cores_.size(); ++i) {
        counters_.bump(ServeCount::missed, cores_[i]->cursor.position() - positions[i]);
    }
    return true;
}

// --- hot ---

bool FeedSender::wants_root(std::uint64_t symbol) const {
    return roots_.empty() || std::ranges::binary_search(roots_, symbol);
}

bool FeedSender::wants(const feed::Event& event) const {
    const feed::EventKind kind = event.header.kind;
    if ((kinds_ >> static_cast<unsigned>(kind) & 1U) == 0) {
        return false;
    }
    const bool of_symbol = feed::has_series(kind) || kind == feed::EventKind::underlying;
    return !of_symbol || wants_root(feed::symbol_word_of(event));
}

void FeedSender::put_event_at(const Core& core, const feed::Event& event, std::uint64_t stamp) {
    FrameHeader header;
    header.type = FrameType::event_at;
    header.core = core.cursor.core().index;
    header.count = event.header.records;
    header.stamp = stamp;
    outlet_.writer.begin(header);
    outlet_.writer.append(&event, event.header.records * sizeof event);
    outlet_.writer.end(header);
}

std::size_t FeedSender::put_stamped(Core& core) {
    std::size_t done = 0;
    constexpr std::size_t events_max = 1024;
    while (done < events_max && outlet_.has_room()) {
        const CoreCursor::State state = core.cursor.load();
        if (state == CoreCursor::State::nothing) {
            return done;
        }
        if (state != CoreCursor::State::event) {
            return done + (begin_again() ? 1 : 0);
        }
        core.cursor.take([&](const feed::Event& event, std::uint64_t stamp) {
            ++done;
            counters_.bump(ServeCount::read, event.header.records);
            if (!wants(event)) {
                counters_.bump(ServeCount::filtered, event.header.records);
            } else {
                put_event_at(core, event, stamp);
                counters_.bump(ServeCount::sent, event.header.records);
            }
            return outlet_.has_room();
        });
    }
    return done;
}

/// Events as they are. Counts once for a frame.
std::size_t FeedSender::put_events(Core& core) {
    std::size_t done = 0;
    constexpr std::size_t frames_max = 8;
    for (std::size_t i = 0; i < frames_max && outlet_.has_room(); ++i) {
        const CoreCursor::State state = core.cursor.load();
        if (state == CoreCursor::State::nothing) {
            break;
        }
        if (state != CoreCursor::State::event) {
            return done + (begin_again() ? 1 : 0);
        }
        FrameHeader header;
        header.type = FrameType::events;
        header.core = core.cursor.core().index;
        outlet_.writer.begin(header);
        std::size_t passed = 0;
        std::size_t bytes = 0;
        const bool all = roots_.empty() && kinds_ == ~0U;
        core.cursor.take([&](const feed::Event& event, std::uint64_t /*stamp*/) {
            const std::size_t records = event.header.records;
            passed += records;
            if (all || wants(event)) {
                outlet_.writer.append(&event, records * sizeof event);
                bytes += records * sizeof event;
            }
            return true;  // a copy of the cursor has no more records than a frame
        });
        header.count = static_cast<std::uint32_t>(bytes / sizeof(feed::Event));
        core.left_out += passed - header.count;
        counters_.bump(ServeCount::read, passed);
        counters_.bump(ServeCount::filtered, passed - header.count);
        counters_.bump(ServeCount::sent, header.count);
        done += passed;
        if (header.count == 0) {
            outlet_.writer.drop();
            continue;
        }
        header.position = core.cursor.position();
        header.left_out = std::exchange(core.left_out, 0);
        outlet_.writer.end(header);
    }
    return done;
}

}  // namespace pinstrike::actors::bridge
