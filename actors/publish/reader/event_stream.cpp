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

}  // namespace

EventStream::EventStream(std::shared_ptr<FeedReader> feed, Filter filter)
    : feed_(std::move(feed)), filter_(std::move(filter)) {
    begin();
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
            throw Error("the writer stopped in the middle of a write to the stream");
        }
        core.follower.clear(2 * view.series.size());
        if (copy_lines(view, tail.stamp, core.follower)) {
            break;
        }
    }
    core.cursor.start(tail);
    feed_->visit(
        filter_, view,
        [&](const CoreView&, const Listed& series, ReadResult result, const SeriesParts& parts) {
            FollowedSeries* const followed = core.follower.add(series.key);
            if (result == ReadResult::unreadable) {
                snapshot_.push_back(unreadable_value(view, series.key));
                return;
            }
            if (followed != nullptr) {
                Follower::begin(*followed, parts);
            }
            if (is_listed(parts)) {
                snapshot_.push_back(value_of(view, series.key, parts, tail));
            }
        });
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
    snapshot_is_new_ = false;
    std::size_t count = 0;
    if (attachment_ == feed_->attachments()) {
        const std::size_t first = next_core_++;
        for (std::size_t i = 0; i < cores_.size(); ++i) {
            count += take(*cores_[(first + i) % cores_.size()], records.subspan(count));
        }
        if (count != 0 || !attach_again()) {
            return count;
        }
    }
    waited_count_ = waited_taken_ = 0;
    begin();
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
    for (std::size_t passed = 0; count < records.size() && passed < passed_max; ++passed) {
        const CoreCursor::State state = core.cursor.next();
        if (state == CoreCursor::State::nothing) {
            break;
        }
        if (state != CoreCursor::State::event) {
            records[count++] = renew(core, state == CoreCursor::State::overrun);
            break;
        }
        if (const auto record = deliver(core)) {
            records[count++] = *record;
        }
        core.cursor.advance();
    }
    return count;
}

/// Reads the state of a core again.
pinstrike_record EventStream::renew(Core& core, bool overrun) {
    if (!snapshot_is_new_) {
        snapshot_.clear();
        snapshot_is_new_ = true;
    }
    pinstrike_record notice{};
    notice.kind = overrun ? PINSTRIKE_MISSED : PINSTRIKE_RENEWED;
    notice.core = core.cursor.core().index;
    const std::uint64_t first = core.cursor.position();
    begin_core(core);
    if (overrun) {
        notice.of.missed = {first, core.cursor.position() - 1};
    }
    return notice;
}

/// Events of lines reach every core. One of them is enough, but for what only one core lost.
bool EventStream::comes_from(const Core& core, const feed::Event& event) const {
    const bool of_one_core = event.header.kind == feed::EventKind::gap &&
                             event.body.gap.cause == feed::GapCause::ring_full;
    return core.cursor.core().index == 0 || of_one_core || filter_.line_events_of_each_core();
}

std::optional<pinstrike_record> EventStream::deliver(Core& core) {
    const feed::Event& event = core.cursor.event();
    const feed::EventKind kind = event.header.kind;
    if (!is_delivered(kind)) {
        return std::nullopt;  // of a newer minor version
    }
    if (has_series(kind)) {
        return deliver_of_series(core);
    }
    if (feed::is_line_event(kind)) {
        core.follower.apply_to_line(event, core.cursor.stamp());
        if (!comes_from(core, event)) {
            return std::nullopt;
        }
    }
    if (kind == feed::EventKind::underlying && !filter_.has_root(event.body.underlying.symbol)) {
        return std::nullopt;
    }
    pinstrike_record record = record_of(event, core.cursor.core().index, core.cursor.stamp());
    if (kind == feed::EventKind::text) {
        const std::string& text = texts_.emplace_back(text_of(event));
        record.of.text = {text.data(), text.size()};
    }
    return record;
}

std::optional<pinstrike_record> EventStream::deliver_of_series(Core& core) {
    const feed::Event& event = core.cursor.event();
    const std::uint64_t stamp = core.cursor.stamp();
    const feed::SeriesKey& key = event.body.series;
    if (!filter_.matches(key)) {
        return std::nullopt;
    }
    FollowedSeries* const series = follow(core, key);
    if (series == nullptr || series->excluded ||
        (series->stamp != 0 && !stamp_after(stamp, series->stamp))) {
        return std::nullopt;
    }
    core.follower.apply(*series, event, appendage_of(event), stamp);
    pinstrike_record record = record_of(event, core.cursor.core().index, stamp);
    record.key = key_of(key, series->id);
    record.has_key = 1;
    if (event.header.kind == feed::EventKind::quote) {
        record.bid = core.follower.bid(*series);
        record.offer = core.follower.offer(*series);
        record.has_best = 1;
    }
    return record;
}

/// The series of a key; a new one if it is not followed yet.
FollowedSeries* EventStream::follow(Core& core, const feed::SeriesKey& key) {
    if (FollowedSeries* const followed = core.follower.find(key)) {
        return followed;
    }
    FollowedSeries* const added = core.follower.add(key);
    if (added != nullptr) {
        Patience patience;
        SeriesParts parts;
        const bool read = read_series(core.cursor.core(), key, patience, parts) == ReadResult::read;
        added->id = read ? parts.id : 0;
        added->excluded = !filter_.has_id(added->id);
    }
    return added;
}

/// The word is read before the streams, so that no event between both is slept over.
EventStream::Wait EventStream::wait(std::int64_t timeout_ns) {
    const std::int64_t end = steady_clock_ns() + std::max<std::int64_t>(timeout_ns, 0);
    while (waited_taken_ == waited_count_) {
        const std::uint32_t& word = feed_->mapping().shared().wake;
        const std::uint32_t seen = load_acquire(word);
        waited_taken_ = waited_count_ = 0;
        waited_count_ = fill(waited_);
        if (waited_count_ != 0) {
            break;
        }
        if (feed_->is_over()) {
            look_due_ns_ = 0;
            waited_count_ = fill(waited_);  // the last events, or another start
            return waited_count_ != 0 ? Wait::events : Wait::over;
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
