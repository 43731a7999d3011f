// path: mixed, hot: step() and what it calls
#include "actors/core/core.h"

#include "config/check.h"
#include "feed/event/limits.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pinstrike::actors {
namespace {

/// The interest without data of underlyings other than these symbols; empty: all are allowed.
Interest interest_within(Interest interest, const std::vector<std::string>& allowed) {
    if (allowed.empty()) {
        return interest;
    }
    if (interest.underlyings.empty()) {
        interest.underlyings = allowed;
        return interest;
    }
    std::erase_if(interest.underlyings, [&](const std::string& symbol) {
        return std::ranges::find(allowed, symbol) == allowed.end();
    });
    if (interest.underlyings.empty()) {
        interest.kinds = 0;  // without symbols, an interest is in all underlyings
    }
    return interest;
}

/// The series map event as the series' own line would send it, with flag_from_file.
feed::Event announcement_of(const feed::SeriesMap& map) {
    feed::Event event{};
    event.header.kind = feed::EventKind::series_map;
    event.header.flags = feed::flag_from_file;
    event.header.line = map.mapped_line;
    event.header.type = feed::SeriesMap::type;
    event.body.series_map = map;
    return event;
}

}  // namespace

Core::Core(CoreOptions options, std::vector<Consumer<feed::Event>> rings,
           std::vector<std::unique_ptr<Actor>> actors)
    : options_(std::move(options)), rings_(std::move(rings)) {
    PINSTRIKE_CHECK(options_.batch_records >= feed::message_records_max);
    for (auto& actor : actors) {
        ActorSlot slot;
        const Interest interest = interest_within(actor->interest(), options_.underlyings);
        slot.kinds = interest.kinds | Interest::always_bits;
        std::transform(interest.underlyings.begin(), interest.underlyings.end(),
                       std::back_inserter(slot.symbols),
                       [](const std::string& symbol) { return feed::symbol_word_of(symbol); });
        std::sort(slot.symbols.begin(), slot.symbols.end());
        slot.actor = std::move(actor);
        slot.counters = std::make_unique<ActorCounters>();
        actors_.push_back(std::move(slot));
    }
}

void Core::start() {
    PINSTRIKE_CHECK(state_ == State::made);
    PINSTRIKE_CHECK(producers_.empty() || producers_.size() == rings_.size());
    for (ActorSlot& slot : actors_) {
        slot.actor->on_start(options_.info);
    }
    for (ActorSlot& slot : actors_) {
        deliver_announced(slot);
    }
    counters_.bump(CoreCount::announced_series, announced_.size());
    announced_ = {};
    state_ = State::running;
}

/// The batches are no larger than later ones. These events are in no count of events, because they
/// came from no ring.
void Core::deliver_announced(ActorSlot& slot) const {
    std::vector<feed::Event> batch;
    const auto deliver = [&] {
        if (!batch.empty()) {
            slot.actor->on_events(EventBatch{batch});
            batch.clear();
        }
    };
    for (const feed::SeriesMap& map : announced_) {
        const feed::Event event = announcement_of(map);
        if (slot.wants(event)) {
            batch.push_back(event);
        }
        if (batch.size() == options_.batch_records) {
            deliver();
        }
    }
    deliver();
}

void Core::stop() {
    PINSTRIKE_CHECK(state_ == State::running && !has_work());
    state_ = State::stopped;
    for (ActorSlot& slot : actors_) {
        slot.actor->on_stop();
    }
}

bool Core::is_offline() const {
    return std::any_of(actors_.begin(), actors_.end(),
                       [](const ActorSlot& slot) { return slot.actor->is_offline(); });
}

// --- hot ---

void Core::drain(std::int64_t now_ns) {
    next_idle_ns_ = 0;
    while (step(now_ns) != 0) {
    }
}

std::size_t Core::step(std::int64_t now_ns) {
    PINSTRIKE_CHECK(state_ == State::running);
    loop_clock_.start_step(counters_, now_ns);
    std::size_t done = 0;
    for (std::size_t i = 0; i < rings_.size(); ++i) {
        auto& ring = rings_[i];
        // Also peeks the next batch, so that its records can be prefetched while actors work on
        // this one.
        const Batch batch =
            whole_messages(ring.peek(2 * options_.batch_records), options_.batch_records);
        if (!batch.records.empty()) {
            deliver(batch, i, now_ns);
            ring.release(batch.records.size());
            done += batch.records.size();
        }
    }
    run_timers(now_ns);
    if (done == 0) {
        done = run_idle(now_ns);
    } else {
        next_idle_ns_ = 0;  // new messages may cause work for on_idle
    }
    if (done != 0) {
        loop_clock_.worked();
    }
    return done;
}

bool Core::has_work() const noexcept {
    return std::any_of(rings_.begin(), rings_.end(),
                       [](const auto& ring) { return !ring.empty(); });
}

/// If the peeked records end within a message, that message is left for the next step.
///
/// Most messages have one record and are data. Both cases are branches instead of sums, because the
/// processor predicts a branch and continues, whereas with a sum each header would have to wait for
/// the header before.
Core::Batch Core::whole_messages(std::span<const feed::Event> waiting,
                                 std::size_t records_max) noexcept {
    Batch batch;
    std::uint32_t kinds = 0;
    const std::size_t end = std::min(waiting.size(), records_max);
    std::size_t at = 0;
    while (at < end) {
        const feed::Header& header = waiting[at].header;
        std::size_t next = at + 1;
        if (header.records != 1) [[unlikely]] {
            PINSTRIKE_CHECK(header.records != 0);
            next = at + header.records;
            if (next > end) {
                break;
            }
        }
        kinds |= feed::bit_of(header.kind);
        if (feed::is_line_event(header.kind)) [[unlikely]] {
            batch.controls += static_cast<std::uint64_t>(header.kind == feed::EventKind::control);
            batch.gaps += static_cast<std::uint64_t>(header.kind == feed::EventKind::gap);
            batch.states += static_cast<std::uint64_t>(header.kind == feed::EventKind::line_state);
            batch.marks += static_cast<std::uint64_t>(header.kind == feed::EventKind::line_mark);
        } else {
            ++batch.events;
        }
        at = next;
    }
    batch.kinds = kinds;
    batch.records = waiting.first(at);
    batch.behind = waiting.size() - at;
    return batch;
}

bool Core::preempted_since(std::int64_t begin_ns, std::size_t ring) const noexcept {
    return overlaps_stall(begin_ns, counters_.stalled_until_ns) ||
           (!producers_.empty() && overlaps_stall(begin_ns, producers_[ring]->stalled_until_ns));
}

void Core::deliver(const Batch& batch, std::size_t ring, std::int64_t now_ns) {
    const bool sampled =
        options_.clock != nullptr && counters_.read(CoreCount::batches) % sample_every == 0;
    const bool timed = options_.live || options_.due.known();
    std::int64_t arrived_ns = batch.records.front().header.ts_receive_ns;
    if (options_.due.known()) [[unlikely]] {
        arrived_ns = options_.due.due_ns(arrived_ns);  // the delay of a late replay counts too
    }
    count(batch);
    // Each message counts with the time of the first message, which waited longest. A core that
    // falls behind takes larger batches, so one figure per batch would make long waits look rare.
    const std::uint64_t times = std::max<std::uint64_t>(batch.events, 1);
    const bool preempted = timed && preempted_since(arrived_ns, ring);
    if (timed) {
        counters_.receive_to_actor_ns.record(now_ns - arrived_ns, times);
        if (preempted) [[unlikely]] {
            counters_.receive_to_actor_preempted_ns.record(now_ns - arrived_ns, times);
        }
    }
    if (!sampled) {
        for (ActorSlot& slot : actors_) {
            deliver_to(slot, batch);
        }
        return;
    }
    std::int64_t before_ns = options_.clock->wall_ns();
    for (ActorSlot& slot : actors_) {
        deliver_to(slot, batch);
        const std::int64_t after_ns = options_.clock->wall_ns();
        slot.counters->service_ns.record(after_ns - before_ns);
        if (timed) {
            slot.counters->waiting_ns.record(before_ns - arrived_ns, times);
            if (preempted) [[unlikely]] {
                slot.counters->waiting_preempted_ns.record(before_ns - arrived_ns, times);
            }
        }
        before_ns = after_ns;
    }
}

void Core::deliver_to(ActorSlot& slot, const Batch& batch) {
    if (slot.begins != nullptr && !slot.begins->load(std::memory_order_relaxed)) [[unlikely]] {
        return;
    }
    if (!slot.wants_all(batch.kinds)) {
        deliver_wanted(slot, batch.records);
        return;
    }
    slot.counters->events.add(batch.events);
    slot.counters->batches.add();
    slot.actor->on_events(EventBatch{batch.records, batch.behind});
}

/// Gives the actor each contiguous run of messages that it wants.
void Core::deliver_wanted(ActorSlot& slot, std::span<const feed::Event> records) {
    std::size_t run = 0;  // start of the run of wanted messages
    std::size_t at = 0;
    std::uint64_t events = 0;
    const auto end_run = [&] {
        if (at != run) {
            slot.counters->events.add(std::exchange(events, 0));
            slot.counters->batches.add();
            slot.actor->on_events(EventBatch{records.subspan(run, at - run)});
        }
    };
    while (at < records.size()) {
        const std::size_t next = at + records[at].header.records;
        if (slot.wants(records[at])) {
            events += static_cast<std::uint64_t>(!feed::is_line_event(records[at].header.kind));
        } else {
            end_run();
            run = next;
        }
        at = next;
    }
    end_run();
}

/// Line events are always wanted, so that an actor without a gap event knows that nothing was lost.
bool Core::ActorSlot::wants(const feed::Event& event) const noexcept {
    const feed::EventKind kind = event.header.kind;
    if (feed::is_line_event(kind)) {
        return true;
    }
    if ((kinds & feed::bit_of(kind)) == 0) {
        return false;
    }
    if (symbols.empty() || kind == feed::EventKind::text) {
        return true;
    }
    return std::binary_search(symbols.begin(), symbols.end(), feed::symbol_word_of(event));
}

void Core::count(const Batch& batch) noexcept {
    counters_.bump(CoreCount::events, batch.events);
    counters_.bump(CoreCount::records, batch.records.size());
    counters_.bump(CoreCount::batches);
    if (batch.gaps + batch.controls + batch.states + batch.marks != 0) {
        counters_.bump(CoreCount::gap_events, batch.gaps);
        counters_.bump(CoreCount::control_events, batch.controls);
        counters_.bump(CoreCount::line_state_events, batch.states);
        counters_.bump(CoreCount::line_mark_events, batch.marks);
    }
}

/// If no actor had work, on_idle is called again only after a while. So most empty steps run no
/// code of actors, and a long empty step is not caused by an actor.
std::size_t Core::run_idle(std::int64_t now_ns) {
    const bool set_back = now_ns < next_idle_ns_ - idle_period_ns;  // the clock was set back
    if (now_ns < next_idle_ns_ && !set_back) {
        return 0;
    }
    loop_clock_.acted();
    std::size_t done = 0;
    for (ActorSlot& slot : actors_) {
        done += slot.actor->on_idle();
    }
    if (done != 0) {
        idle_work_ns_ = now_ns;
    }
    next_idle_ns_ = done != 0 ? now_ns : now_ns + idle_period_ns;
    return done;
}

void Core::run_timers(std::int64_t now_ns) {
    const bool set_back = now_ns < next_timer_ns_ - timer_period_ns;  // the clock was set back
    if (now_ns >= next_timer_ns_ || set_back) {
        next_timer_ns_ = now_ns + timer_period_ns;
        loop_clock_.acted();
        for (ActorSlot& slot : actors_) {
            slot.actor->on_timer(now_ns);
        }
    }
}

}  // namespace pinstrike::actors
