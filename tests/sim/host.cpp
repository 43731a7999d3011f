// path: cold
#include "tests/sim/host.h"

#include "actors/appliance/venues.h"
#include "actors/poller/router.h"
#include "actors/threads/ring.h"
#include "config/check.h"
#include "config/time_units.h"
#include "feed/recovery/passive_source.h"
#include "feed/recovery/recovery_keys.h"
#include "feed/venue_services.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace pinstrike::sim {

namespace {

constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();

/// If no packet will arrive for this long, steps become longer than a millisecond.
constexpr std::int64_t night_ns = 15'000 * ms_ns;
constexpr std::int64_t morning_ns = 1'000 * ms_ns;  // before the traffic begins again
constexpr std::int64_t night_step_ns = 10'000 * ms_ns;

/// The end of the thread's stalls that cover this time, or the time itself.
std::int64_t after_stops(const std::vector<Stop>& stops, std::size_t thread, std::int64_t at_ns) {
    for (const Stop& stop : stops) {
        if (stop.thread == thread && at_ns >= stop.at_ns && at_ns < stop.at_ns + stop.for_ns) {
            at_ns = stop.at_ns + stop.for_ns;
        }
    }
    return at_ns;
}

actors::LineHours hours_of(const Plan& plan) {
    using namespace std::chrono;
    feed::CalendarConfig calendar;
    calendar.in_use = plan.calendar;
    const feed::Days days{local_days{2026y / 3 / 1}, local_days{2026y / 4 / 30}};
    return {feed::venue_services("opra").session_hours(calendar, false, days),
            feed::venue_services("opra").session_hours(calendar, true, days)};
}

}  // namespace

Host::Host(const Plan& plan, std::unique_ptr<Twin> twin)
    : plan_(plan),
      random_(feed::opra::traffic::scramble(plan.seed ^ 0x484F'5354ULL)),
      random_of_keeper_(feed::opra::traffic::scramble(plan.seed ^ 0x4B45'4550ULL)),
      traffic_ns_(plan.days.front().start_ns),
      begin_ns_(traffic_ns_ + plan.host.start_after_ns),
      now_ns_(begin_ns_) {
    const HostPlan& host = plan.host;
    std::vector<std::vector<actors::Consumer<feed::Event>>> inputs(host.cores);
    pollers_.resize(host.pollers);
    for (std::size_t i = 0; i < host.pollers; ++i) {
        std::vector<actors::Producer<feed::Event>> outputs;
        for (auto& input : inputs) {
            auto ring = actors::Ring<feed::Event>::make(
                actors::Ring<feed::Event>::slots_for(host.ring_slots));
            outputs.push_back(std::move(ring.producer));
            input.push_back(std::move(ring.consumer));
        }
        make_poller(i, std::move(outputs));
    }
    make_cores(std::move(inputs));
    make_recovery(std::move(twin));
    make_keeper();
}

/// Returns the poller's side of a history ring. The keeper gets the other side.
std::unique_ptr<actors::HistoryRingWriter> Host::make_history_ring(
    std::vector<std::uint16_t> lines) {
    constexpr std::size_t slots = 32768;
    auto ring = actors::Ring<actors::FirstCopy>::make(slots);
    history_rings_.push_back({std::move(lines), std::move(ring.consumer)});
    return std::make_unique<actors::HistoryRingWriter>(std::move(ring.producer));
}

/// A history that removes nothing; removal is tested elsewhere.
void Host::make_keeper() {
    if (!plan_.host.keeps_history) {
        return;
    }
    std::vector<std::uint16_t> lines;
    for (const feed::LineConfig& line : plan_.lines) {
        lines.push_back(line.number);
    }
    const feed::HistoryConfig config{.keep_ns = never_ns / 2, .memory_bytes = 64 << 20};
    keeper_ = std::make_unique<actors::peer::PeerTask>(
        std::make_unique<feed::History>(lines, config, feed::Numbering{}), nullptr);
    for (actors::HistoryRingReader& ring : history_rings_) {
        keeper_->add_history_ring(std::move(ring));
    }
    keeper_next_ns_ = begin_ns_;
}

void Host::make_recovery(std::unique_ptr<Twin> twin) {
    if (twin == nullptr) {
        return;
    }
    twin_ = twin.get();
    if (transfer_) {
        twin->set_taker(*transfer_);
    }
    std::vector<std::unique_ptr<feed::RepairSource>> sources;
    for (const feed::RepairKind kind : plan_.recovery.sources) {
        if (kind == feed::RepairKind::peer) {
            sources.push_back(std::move(twin));
        } else {
            sources.push_back(std::make_unique<feed::PassiveSource>(feed::word_of(kind)));
        }
    }
    recovery_ = std::make_unique<actors::RecoveryTask>(plan_.recovery, std::move(repair_rings_),
                                                       std::move(sources), feed::Numbering{});
    recovery_next_ns_ = begin_ns_;
}

void Host::make_poller(std::size_t index, std::vector<actors::Producer<feed::Event>> outputs) {
    const HostPlan& host = plan_.host;
    Poller& poller = pollers_[index];
    ReceiveLog& receive_log = *receive_logs_.emplace_back(std::make_unique<ReceiveLog>());
    actors::PollerSetup setup;
    setup.name = fmt::format("poll{}", index);
    setup.arbitration = host.arbitration;
    setup.test_symbols = host.test_symbols;
    setup.hours = hours_of(plan_);
    setup.marks = plan_.state.taken;
    for (std::size_t line = 0; line < plan_.lines.size(); ++line) {
        if (poller_of(line) == index) {
            setup.lines.push_back(plan_.lines[line]);
        }
    }
    std::vector<std::uint16_t> numbers;
    for (const feed::LineConfig& line : setup.lines) {
        numbers.push_back(line.number);
    }
    if (host.keeps_history) {
        setup.history = make_history_ring(numbers);
    }
    if (plan_.twin.there) {
        auto [ends, others] = actors::make_repair_rings(std::move(numbers));
        setup.repair_rings = std::move(ends);
        repair_rings_.push_back(std::move(others));
    }
    for (std::size_t nic = 0; nic < nics_count; ++nic) {
        auto port = std::make_unique<LinkPort>(
            fmt::format("nic{}", nic),
            LinkPortOptions{host.queue_packets, host.nic_checks, host.nic_stamps, host.nic_keeps},
            receive_log);
        poller.ports.push_back(port.get());
        setup.ports.push_back(
            {port->name(), std::move(port), host.udp_checksum, {}, host.burst_packets});
    }
    const actors::RouterConfig routing{host.sharding, actors::WhenFull::refuse, setup.lines.size()};
    const std::vector<actors::Parking*> core_wakers(host.cores, nullptr);
    poller.task = actors::make_poller("opra", std::move(setup),
                                      actors::Router{routing, std::move(outputs), core_wakers});
    PINSTRIKE_CHECK(poller.task != nullptr);
}

void Host::make_cores(std::vector<std::vector<actors::Consumer<feed::Event>>> inputs) {
    const auto count = static_cast<unsigned>(inputs.size());
    actors::BookConfig book_config;
    book_config.series_capacity = 1 << 13;
    book_config.test_symbols = plan_.host.test_symbols;
    book_config.is_test_symbol = feed::venue_services("opra").is_test_symbol;
    const bool underlyings_whole = plan_.host.sharding == actors::Sharding::underlying;
    series_share_ = actors::series_share(book_config, count, underlyings_whole);
    std::vector<std::optional<actors::StateRings>> state_rings;
    for (unsigned i = 0; i < count; ++i) {
        Core& core = cores_.emplace_back();
        auto book = std::make_unique<actors::Book>(
            book_config,
            actors::CoreMemory{actors::book_shape(book_config, count, underlyings_whole)});
        if (plan_.state.taken) {
            auto [near, far] = actors::StateRings::make();
            book->join_transfer({plan_.twin.there, plan_.state.journal_messages}, std::move(near));
            state_rings.emplace_back(std::move(far));
        }
        auto recorder = std::make_unique<Recorder>();
        core.book = book.get();
        core.recorder = recorder.get();
        std::vector<std::unique_ptr<actors::Actor>> actors;
        actors.push_back(std::move(book));
        actors.push_back(std::move(recorder));
        actors::CoreOptions options;
        options.info = {fmt::format("core{}", i), i, count};
        core.core = std::make_unique<actors::Core>(std::move(options), std::move(inputs[i]),
                                                   std::move(actors));
    }
    make_state_exchange(std::move(state_rings));
}

/// A host with a twin receives state; the twin itself only sends it.
void Host::make_state_exchange(std::vector<std::optional<actors::StateRings>> state_rings) {
    if (!plan_.state.taken) {
        return;
    }
    exchange_ =
        std::make_unique<actors::peer::StateExchange>(plan_.host.sharding, std::move(state_rings));
    if (plan_.twin.there) {
        std::vector<std::uint16_t> numbers;
        for (const feed::LineConfig& line : plan_.lines) {
            numbers.push_back(line.number);
        }
        transfer_ = std::make_unique<actors::peer::StateTransfer>(
            *exchange_, numbers, plan_.state.within_ns,
            [](const actors::peer::PeerEvent& /*event*/) {});
    }
}

/// The clock that the program sees.
std::int64_t Host::program_ns(std::int64_t true_ns) const {
    std::int64_t ns = true_ns;
    for (const ClockStep& step : plan_.host.clock_steps) {
        ns += true_ns >= traffic_ns_ + step.at_ns ? step.by_ns : 0;
    }
    return ns;
}

std::size_t Host::nic_of(const Flight& flight) const {
    const bool later = flight.ts_ns >= traffic_ns_ + plan_.swap_after_ns;
    const bool swapped =
        plan_.cabling == Cabling::swapped || (plan_.cabling == Cabling::swapped_later && later);
    if (plan_.cabling == Cabling::one_nic) {
        return 0;
    }
    return (flight.stream == feed::Stream::b) != swapped ? 1 : 0;
}

/// Puts the packets that have arrived into the queues of the NICs, or counts them as missed.
void Host::bring_until(std::int64_t true_ns) {
    for (Poller& poller : pollers_) {
        while (poller.arrived < poller.flights.size() &&
               poller.flights[poller.arrived]->ts_ns <= true_ns) {
            const Flight& flight = *poller.flights[poller.arrived++];
            brought_ns_ = true_ns;
            poller.ports[nic_of(flight)]->arrive(flight, program_ns(flight.ts_ns));
        }
    }
}

std::int64_t Host::next_arrival_ns() const {
    std::int64_t next_ns = never_ns;
    for (const Poller& poller : pollers_) {
        if (poller.arrived < poller.flights.size()) {
            next_ns = std::min(next_ns, poller.flights[poller.arrived]->ts_ns);
        }
    }
    return next_ns;
}

void Host::step(Poller& poller, std::size_t index) {
    bring_until(now_ns_);
    receive_logs_[index]->begin_step(program_ns(now_ns_), now_ns_);
    const std::size_t packets = poller.task->step(program_ns(now_ns_));
    const HostPlan& host = plan_.host;
    std::int64_t next_ns = 0;
    if (packets != 0) {
        next_ns = now_ns_ + random_.between(200, 400) +
                  static_cast<std::int64_t>(packets) * host.packet_ns;
    } else {
        next_ns = now_ns_ + random_.between(1, host.poller_idle_ns);
        if (poller.arrived < poller.flights.size()) {
            const std::int64_t arrival_ns = poller.flights[poller.arrived]->ts_ns;
            next_ns = std::clamp(arrival_ns + random_.between(0, 3'000), now_ns_ + 200, next_ns);
        }
    }
    poller.next_ns = traffic_ns_ + after_stops(host.poller_stops, index, next_ns - traffic_ns_);
}

void Host::step(Core& core, std::size_t index) {
    core.recorder->begin_step(now_ns_);
    core.core->step(program_ns(now_ns_));
    constexpr std::int64_t idle_ns = 700'000;
    const std::int64_t pace_ns = plan_.host.core_step_ns[index];
    const std::int64_t most_ns = core.core->has_work() ? pace_ns : std::max(pace_ns, idle_ns);
    const std::int64_t next_ns = now_ns_ + random_.between(1, most_ns);
    core.next_ns = traffic_ns_ + after_stops(plan_.host.core_stops, index, next_ns - traffic_ns_);
}

void Host::step_recovery() {
    twin_->pass_to(now_ns_);
    std::size_t done = recovery_->step(program_ns(now_ns_));
    if (transfer_) {
        awake_ = !transfer_->over();
        twin_->keep_awake(awake_);
        done += exchange_->step();
        done += transfer_->step(now_ns_, {twin_});  // by steady time, which peers use as well
    }
    const bool busy = done != 0;
    recovery_next_ns_ = now_ns_ + random_.between(1, busy ? 20'000 : 500'000);
}

void Host::step_keeper() {
    keeper_->step(program_ns(now_ns_));
    keeper_next_ns_ = now_ns_ + random_of_keeper_.between(1, 2 * ms_ns);
}

/// Steps the part whose step is due first and returns its next time; null if none is due up to
/// `until_ns`.
std::int64_t* Host::step_next(std::int64_t until_ns) {
    std::int64_t* next_ns = &recovery_next_ns_;
    const std::size_t recovery = pollers_.size() + cores_.size();
    const std::size_t keeper = recovery + 1;
    std::size_t index = recovery;
    if (keeper_next_ns_ < *next_ns) {
        next_ns = &keeper_next_ns_;
        index = keeper;
    }
    for (std::size_t i = 0; i < recovery; ++i) {
        std::int64_t& mine =
            i < pollers_.size() ? pollers_[i].next_ns : cores_[i - pollers_.size()].next_ns;
        if (mine < *next_ns) {
            next_ns = &mine;
            index = i;
        }
    }
    if (*next_ns > until_ns) {
        return nullptr;
    }
    now_ns_ = std::max(now_ns_, *next_ns);
    if (index == recovery) {
        step_recovery();
    } else if (index == keeper) {
        step_keeper();
    } else if (index < pollers_.size()) {
        step(pollers_[index], index);
    } else {
        step(cores_[index - pollers_.size()], index - pollers_.size());
    }
    return next_ns;
}

void Host::run_until(std::int64_t until_ns) {
    while (std::int64_t* next_ns = step_next(until_ns)) {
        const std::int64_t arrival_ns = std::min(next_arrival_ns(), last_ns_);
        const bool night = now_ns_ - brought_ns_ > morning_ns && calm();
        if (night && arrival_ns - now_ns_ > night_ns) {
            *next_ns = std::max(*next_ns, now_ns_ + night_step_ns);
        }
    }
    now_ns_ = until_ns;
    bring_until(now_ns_);
}

/// No packet waits in a queue of a NIC, and the host need not stay awake for a request.
bool Host::calm() const {
    return !awake_ && std::ranges::none_of(pollers_, [](const Poller& poller) {
        return std::ranges::any_of(poller.ports, [](auto* port) { return !port->empty(); });
    });
}

/// In addition to calm(), all rings are empty.
bool Host::quiet() const {
    return calm() &&
           std::ranges::none_of(cores_, [](const Core& core) { return core.core->has_work(); });
}

void Host::begin(std::span<const Flight> flights) {
    for (const Flight& flight : flights) {
        if (flight.ts_ns >= begin_ns_) {
            pollers_[poller_of(flight.line)].flights.push_back(&flight);
            last_ns_ = std::max(last_ns_, flight.ts_ns);
        }
    }
    for (Core& core : cores_) {
        core.core->start();
        core.next_ns = now_ns_;
    }
    for (Poller& poller : pollers_) {
        poller.next_ns = now_ns_ + random_.between(0, 1'000);
    }
}

void Host::run(std::span<const Flight> flights) {
    begin(flights);
    std::int64_t last_ns = std::max(begin_ns_, last_ns_);
    const HostPlan& host = plan_.host;
    if (host.stop_after_ns != 0) {
        run_until(std::max(begin_ns_, traffic_ns_ + host.stop_after_ns));
        return end();
    }
    for (const Stop& stop : host.poller_stops) {
        last_ns = std::max(last_ns, traffic_ns_ + stop.at_ns + stop.for_ns);
    }
    for (const Stop& stop : host.core_stops) {
        last_ns = std::max(last_ns, traffic_ns_ + stop.at_ns + stop.for_ns);
    }
    run_until(last_ns);
    // Time for held blocks, housekeeping and pending gap events.
    constexpr std::int64_t patience_ns = 100 * ms_ns;
    do {
        run_until(now_ns_ + host.arbitration.window_ns + patience_ns);
    } while (!quiet());
    constexpr std::int64_t repair_ns = 3'000 * ms_ns;  // for repeated requests
    const std::int64_t given_up_ns = now_ns_ + plan_.recovery.give_up_after_ns;
    run_until(now_ns_ + (recovery_ ? repair_ns : patience_ns));
    while (recovery_ && now_ns_ < given_up_ns &&
           recovery_->recovery().counters().read(feed::RecoveryCount::open) != 0) {
        run_until(now_ns_ + host.arbitration.window_ns + patience_ns);
    }
    end();
}

void Host::end() {
    // A line's state can change in the last turn of a poller: the core needs one more to read it.
    for (Core& core : cores_) {
        core.core->step(program_ns(now_ns_));
        core.records_before_end = core.recorder->records().size();
    }
    for (Poller& poller : pollers_) {
        poller.task->finish();
        while (!poller.task->flush_pending()) {
            for (Core& core : cores_) {
                core.core->step(program_ns(now_ns_));
            }
        }
    }
    if (recovery_) {
        recovery_->finish();
    }
    if (keeper_) {
        keeper_->finish();
    }
    for (Core& core : cores_) {
        core.core->drain(program_ns(now_ns_));
        core.core->stop();
    }
}

std::span<const Block* const> Host::repairs() const {
    return twin_ == nullptr ? std::span<const Block* const>{} : twin_->brought();
}

actors::CounterSnapshot Host::counters() {
    actors::CounterSnapshot counters;
    std::vector<std::string> names;
    for (const Core& core : cores_) {
        names.push_back(core.core->info().name);
    }
    for (Poller& poller : pollers_) {
        counters.pollers.push_back(
            actors::take_poller_snapshot(*poller.task, names, actors::Running::stopped));
    }
    for (const Core& core : cores_) {
        counters.cores.push_back(actors::take_core_snapshot(*core.core, actors::Running::stopped));
    }
    return counters;
}

std::uint64_t Host::missed() const {
    std::uint64_t missed = 0;
    for (const Poller& poller : pollers_) {
        for (const LinkPort* port : poller.ports) {
            missed += port->missed();
        }
    }
    return missed;
}

}  // namespace pinstrike::sim
