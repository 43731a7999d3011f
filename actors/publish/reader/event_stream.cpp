// path: cold
#include "actors/publish/reader/event_stream.h"

#include "actors/publish/reader/error.h"
#include "actors/publish/reader/event_record.h"
#include "actors/publish/reader/side_rules.h"
#include "actors/publish/reader/value.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

namespace pinstrike::reader {
namespace {

/// A dead writer wakes nobody, so a waiting reader looks for its end this often.
constexpr std::int64_t look_every_ns = 20'000'000;

std::int64_t steady_clock_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

/// Sleeps until the writer raises `word`, unless it is no longer `seen`, or until the time is over.
void sleep_on(const std::uint32_t& word, std::uint32_t seen, std::int64_t time_ns) {
    const timespec time{.tv_sec = time_ns / 1'000'000'000, .tv_nsec = time_ns % 1'000'000'000};
    ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &time, nullptr, 0);
}

/// Copies the lines of a core on which something happened. False: a line has an event newer than
/// the stamp.
bool copy_lines(const CoreView& view, std::uint64_t stamp, Follower& follower) {
    Patience patience;
    bool old = true;
    for (std::size_t number = 0; number < view.lines.size(); ++number) {
        pinstrike_line line;
        if (load_relaxed(view.lines[number].version) != 0 &&
            read_line(view, static_cast<std::uint16_t>(number), patience, line)) {
            old = old && !stamp_after(line.changed, stamp);
            follower.set_line(static_cast<std::uint16_t>(number), line);
        }
    }
    return old;
}

/// The quarter of a second in which an event was received, counted modulo 256. In each of them a
/// stream looks once for the id of a series that has none.
std::uint8_t id_period(std::uint64_t stamp) {
    return static_cast<std::uint8_t>(stamp / PINSTRIKE_STAMP_MS / 256);
}

}  // namespace

EventStream::EventStream(std::unique_ptr<FeedReader> feed, Filter filter, std::size_t part_series)
    : feed_(std::move(feed)), filter_(std::move(filter)), part_series_(part_series) {
    constexpr unsigned more_tries_max = 3;  // the writer may be preempted in the middle of a write
    for (unsigned i = 0; i < more_tries_max && !feed_->is_over(); ++i) {
        if (try_begin()) {
            return;
        }
    }
    begin();
}

/// False: the writer is in the middle of a write.
bool EventStream::try_begin() {
    try {
        begin();
    } catch (const WriteUnfinished&) {
        return false;
    }
    return true;
}

/// Begins with the state of all cores.
void EventStream::begin() {
    std::vector<std::unique_ptr<Core>> cores;
    for (const CoreView& view : feed_->mapping().cores()) {
        if (view.stream.empty()) {
            throw Error("the feed publishes no stream (publish.stream: on)");
        }
        cores.push_back(std::make_unique<Core>(view));
    }
    cores_ = std::move(cores);
    mapping_ = feed_->share_mapping();
    next_core_ = 0;
    snapshot_.clear();
    for (const auto& core : cores_) {
        begin_core(*core);
        while (core->reads_state) {
            read_part(*core, std::numeric_limits<std::size_t>::max());
        }
    }
    attachment_ = feed_->attachments();
}

void EventStream::begin_core(Core& core) {
    constexpr unsigned tries_max = 10;
    const CoreView& view = core.cursor.core();
    Tail tail;
    for (unsigned i = 0; i < tries_max; ++i) {
        Patience patience;
        if (!read_tail(view, patience, tail)) {
            throw WriteUnfinished("the writer stopped in the middle of a write to the stream");
        }
        core.follower.begin_round(filter_.roots().empty() ? view.series.size() : 0,
                                  2 * view.series.size());
        if (copy_lines(view, tail.stamp, core.follower)) {
            break;
        }
    }
    core.cursor.start(tail);
    core.next_found = core.found_count = 0;
    core.began = tail;
    core.roots = feed_->roots(filter_);  // after the position, so that none is missing
    core.next_root = 0;
    core.met.clear();
    core.reads_state = true;
    core.full = false;
    core.over = feed_->is_over();
}

/// Reads the state of more series: of the next roots, and behind them of those that were met.
void EventStream::read_part(Core& core, std::size_t enough) {
    const CoreView& view = core.cursor.core();
    const auto left = std::span{core.roots}.subspan(core.next_root);
    if (!left.empty()) {
        core.next_root += feed_->visit_roots(
            filter_, left, view, enough,
            [&](const CoreView&, const Listed& series, ReadResult result,
                const SeriesParts& parts) { take_state(core, series.key, result, parts); });
    } else {
        read_met(core, enough);
    }
    core.reads_state = core.next_root < core.roots.size() || !core.met.empty();
}

void EventStream::read_met(Core& core, std::size_t enough) {
    Patience patience;
    SeriesParts parts;
    for (std::size_t i = 0; i < enough && !core.met.empty(); ++i) {
        const feed::SeriesKey key = core.met.back();
        core.met.pop_back();
        const FollowedSeries* const series = core.follower.find(key, feed::hash(key));
        if (series == nullptr || !series->unread) {
            continue;
        }
        const ReadResult result = read_series(core.cursor.core(), key, patience, parts);
        if (result != ReadResult::absent && (!filter_.by_id() || filter_.has_id(parts.id))) {
            take_state(core, key, result, parts);
        }
    }
}

void EventStream::take_state(Core& core, const feed::SeriesKey& key, ReadResult result,
                             const SeriesParts& parts) {
    const CoreView& view = core.cursor.core();
    FollowedSeries* const followed = core.follower.add(key, feed::hash(key));
    const bool readable = result == ReadResult::read;
    if (readable && followed != nullptr) {
        core.follower.begin(*followed, parts);
    }
    if (!readable || filter_.admits(parts)) {
        write_result(snapshot_.emplace_back(), view, key, result, parts, core.began, core.over);
    }
}

std::size_t EventStream::poll(std::span<pinstrike_record> records) {
    if (waited_taken_ == waited_count_) {
        return fill(records);
    }
    const std::size_t count = std::min(records.size(), waited_count_ - waited_taken_);
    std::copy_n(waited_.begin() + static_cast<std::ptrdiff_t>(waited_taken_), count,
                records.begin());
    waited_taken_ += count;
    return count;
}

/// Takes events of all cores, beginning with another core each time, so that a core with many
/// events does not keep the others from being read.
std::size_t EventStream::fill(std::span<pinstrike_record> records) {
    if (records.empty()) {
        return 0;
    }
    texts_.clear();
    snapshot_is_new_ = has_more_ = false;
    const bool attached = attachment_ == feed_->attachments();
    if (attached) {
        std::size_t count = 0;
        const std::size_t first = next_core_++;
        for (std::size_t i = 0; i < cores_.size(); ++i) {
            count += take(*cores_[(first + i) % cores_.size()], records.subspan(count));
        }
        if (count != 0) {
            return count;
        }
    }
    const bool again = attach_again();
    if ((attached && !again) || !try_begin()) {
        return 0;
    }
    waited_count_ = waited_taken_ = 0;
    pinstrike_record restarted{};
    restarted.kind = PINSTRIKE_RESTARTED;
    records.front() = restarted;
    return 1;
}

/// Attaches to another start if the writer has ended.
bool EventStream::attach_again() {
    const std::int64_t now = steady_clock_ns();
    if (now < look_due_ns_) {
        return false;
    }
    look_due_ns_ = now + look_every_ns;
    return feed_->is_over() && feed_->reattach();
}

std::size_t EventStream::take(Core& core, std::span<pinstrike_record> records) {
    /// Events of series that the stream does not follow; more of them wait for the next call.
    constexpr std::size_t passed_max = 65'536;
    std::size_t count = 0;
    std::size_t passed = 0;
    while (count < records.size() && passed < passed_max) {
        if (core.full && !snapshot_is_new_) {  // only the series of today are followed again
            count += renew(core, PINSTRIKE_RENEWED, records[count]) ? 1 : 0;
            break;
        }
        if (core.next_found < core.found_count) {
            const Found& found = core.found[core.next_found++];
            count += deliver(core, found, records[count]) ? 1U : 0U;
            continue;
        }
        const CoreCursor::State state = core.cursor.load();
        if (state != CoreCursor::State::event) {
            const bool renews = state != CoreCursor::State::nothing || core.reads_state;
            if (renews && !snapshot_is_new_) {  // one part a call, also of several cores
                const bool renewed =
                    renew(core,
                          state == CoreCursor::State::overrun    ? PINSTRIKE_MISSED
                          : state == CoreCursor::State::diverged ? PINSTRIKE_RENEWED
                                                                 : PINSTRIKE_STATE,
                          records[count]);
                count += renewed ? 1 : 0;
            }
            break;
        }
        passed += find(core);
    }
    has_more_ = has_more_ || passed >= passed_max;
    return count;
}

/// Finds the next events that the user gets, unless their series says otherwise, and prefetches
/// these series. Returns how many it looked at.
std::size_t EventStream::find(Core& core) {
    std::size_t passed = 0;
    Found* found = core.found.data();
    const Found* const end = found + core.found.size();
    const Filter::RootSet roots = filter_.root_set();
    core.cursor.take([&, roots](const feed::Event& event, std::uint64_t stamp) {
        ++passed;
        std::uint64_t hash = 0;
        if (feed::has_series(event.header.kind)) {
            const feed::SeriesKey& key = event.body.series;
            if (!roots.has(key.symbol_word()) || !filter_.matches_within_root(key)) {
                return true;
            }
            hash = feed::hash(key);
            core.follower.prefetch(hash);
        } else if (!feed::is_known(event.header.kind)) {  // of a newer minor version
            return true;
        }
        *found++ = {&event, stamp, hash};
        return found != end;
    });
    core.found_count = static_cast<std::size_t>(found - core.found.data());
    core.next_found = 0;
    return passed;
}

/// Reads a part of a core's state: the first one again, or the next one. False: the writer is in
/// the middle of a write, so that it is to be tried again later.
bool EventStream::renew(Core& core, pinstrike_kind kind, pinstrike_record& notice) {
    snapshot_.clear();
    notice = {};
    notice.kind = static_cast<std::uint8_t>(kind);
    notice.core = core.cursor.core().index;
    bool renewed = false;
    try {
        if (kind != PINSTRIKE_STATE) {
            const std::uint64_t first = core.cursor.position();
            begin_core(core);
            renewed = true;  // the user has to know it, even if no part can be read yet
            if (kind == PINSTRIKE_MISSED) {
                notice.of.missed.first = first;
                notice.of.missed.last = core.cursor.position() - 1;
            }
        }
        read_part(core, part_series_);
        renewed = true;
    } catch (const WriteUnfinished&) {
        snapshot_.clear();  // no series of this part was taken
    }
    snapshot_is_new_ = renewed;
    notice.of.missed.more = core.reads_state ? 1 : 0;
    return renewed;
}

/// Events of lines reach every core. The user gets the copy of core 0, except for a gap that only
/// one core has (ring_full, bridge), which comes from that core.
bool EventStream::comes_from(const Core& core, const feed::Event& event) const {
    const bool of_one_core = event.header.kind == feed::EventKind::gap &&
                             (event.body.gap.cause == feed::GapCause::ring_full ||
                              event.body.gap.cause == feed::GapCause::bridge);
    return core.cursor.core().index == 0 || of_one_core || filter_.line_events_of_each_core();
}

/// Writes the record of an event. False: the user does not get it.
bool EventStream::deliver(Core& core, const Found& found, pinstrike_record& record) {
    const feed::Event& event = *found.event;
    const feed::EventKind kind = event.header.kind;
    if (feed::has_series(kind)) [[likely]] {
        return deliver_of_series(core, found, record);
    }
    if (feed::is_line_event(kind)) {
        core.follower.apply_to_line(event, found.stamp);
        if (!comes_from(core, event)) {
            return false;
        }
    }
    if (kind == feed::EventKind::underlying && !filter_.has_root(event.body.underlying.symbol)) {
        return false;
    }
    write_record(record, event, core.cursor.core().index, found.stamp);
    if (kind == feed::EventKind::text) {
        const std::string& text = texts_.emplace_back(text_of(event));
        record.of.text = {text.data(), text.size()};
    }
    return true;
}

bool EventStream::deliver_of_series(Core& core, const Found& found, pinstrike_record& record) {
    const feed::Event& event = *found.event;
    const feed::SeriesKey& key = event.body.series;
    FollowedSeries* series = core.follower.find(key, found.hash);
    if (series == nullptr || series->unread) [[unlikely]] {
        series = core.reads_state ? meet(core, key, found.hash) : follow(core, found);
    }
    if (series == nullptr || series->excluded ||
        (series->stamp != 0 && !stamp_after(found.stamp, series->stamp))) {
        return false;
    }
    if (series->id == 0) [[unlikely]] {
        look_for_id(core, *series, found.stamp);
    }
    if (event.header.kind == feed::EventKind::quote) [[likely]] {
        write_quote(record, event, core.cursor.core().index, found.stamp);
        core.follower.apply_quote(*series, event, found.stamp, record.bid, record.offer);
        record.has_best = 1;
    } else {
        core.follower.apply(*series, event, found.stamp);
        write_record(record, event, core.cursor.core().index, found.stamp);
    }
    write_key(record.key, key, series->id);
    record.has_key = 1;
    return true;
}

/// Takes the id that the writer has given a series meanwhile, if it has. The writer gives ids
/// within some seconds. A stream looks once in each period, because a look takes longer than an
/// event.
void EventStream::look_for_id(const Core& core, FollowedSeries& series, std::uint64_t stamp) {
    const std::uint8_t period = id_period(stamp);
    if (series.looked_for_id == period) {
        return;
    }
    series.looked_for_id = period;
    Patience patience;
    SeriesParts parts;
    if (read_series(core.cursor.core(), series.key, patience, parts) == ReadResult::read) {
        series.id = parts.id;
    }
}

/// Notes a series whose state is to be read, if that is new. Always returns null, so the event
/// itself is not delivered.
FollowedSeries* EventStream::meet(Core& core, const feed::SeriesKey& key, std::uint64_t hash) {
    if (core.follower.find(key, hash) == nullptr) {
        FollowedSeries* const added = core.follower.add(key, hash);
        core.full = core.full || added == nullptr;
        if (added != nullptr) {
            added->unread = true;
            core.met.push_back(key);
        }
    }
    return nullptr;
}

/// Follows a series that is not followed yet. With a filter by id it is not known before it has an
/// id whether the user wants the series. Then its state is read, as it had events before.
FollowedSeries* EventStream::follow(Core& core, const Found& found) {
    const feed::SeriesKey& key = found.event->body.series;
    const std::uint8_t period = id_period(found.stamp);
    const FollowedSeries* const known = core.follower.find(key, found.hash);
    if (known != nullptr && filter_.by_id() && known->looked_for_id == period) {
        return nullptr;  // it has no id yet
    }
    FollowedSeries* const added = core.follower.add(key, found.hash);
    if (added == nullptr) {
        core.full = true;
        return nullptr;
    }
    added->looked_for_id = period;
    Patience patience;
    SeriesParts parts;
    const bool read = read_series(core.cursor.core(), key, patience, parts) == ReadResult::read;
    added->id = read ? parts.id : 0;
    if (!filter_.by_id()) {
        return added;
    }
    added->excluded = added->id != 0 && !filter_.has_id(added->id);
    added->unread = !added->excluded;
    if (filter_.has_id(added->id)) {
        core.met.push_back(key);
        core.reads_state = true;
    }
    return nullptr;
}

/// The word is read before the streams, so that no event between both is slept over.
EventStream::Wait EventStream::wait(std::int64_t timeout_ns) {
    const std::int64_t begin = steady_clock_ns();
    const std::int64_t longest = std::numeric_limits<std::int64_t>::max() - begin;
    const std::int64_t end = begin + std::clamp<std::int64_t>(timeout_ns, 0, longest);
    while (waited_taken_ == waited_count_) {
        const std::uint32_t& word = feed_->mapping().shared().wake;
        const std::uint32_t seen = load_acquire(word);
        waited_taken_ = waited_count_ = 0;
        waited_count_ = fill(waited_);
        if (waited_count_ != 0) {
            break;
        }
        if (has_more_) {
            continue;
        }
        if (feed_->is_over()) {
            look_due_ns_ = 0;
            waited_count_ = fill(waited_);  // the last events, or another start
            if (waited_count_ != 0 || feed_->is_over()) {
                return waited_count_ != 0 ? Wait::events : Wait::over;
            }
            // There is another start, whose state cannot be read yet.
        }
        const std::int64_t left = end - steady_clock_ns();
        if (left <= 0) {
            return Wait::timeout;
        }
        sleep_on(word, seen, std::min(left, look_every_ns));
    }
    return Wait::events;
}

}  // namespace pinstrike::reader
