// path: cold
#include "tests/sim/plan.h"

#include "config/time_units.h"
#include "feed/opra/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>

namespace pinstrike::sim {

namespace {

using feed::opra::TrafficConfig;

constexpr std::int64_t us = 1'000;

class Dice {
  public:
    explicit Dice(std::uint64_t seed) : random_(feed::opra::traffic::scramble(seed)) {}

    template <class T>
    T one_of(std::initializer_list<T> values) {
        return *(values.begin() + random_.below(values.size()));
    }

    bool chance(double probability) { return random_.chance(probability); }

    std::int64_t between(std::int64_t first, std::int64_t last) {
        return random_.between(first, std::max(first, last));
    }

    std::size_t count(std::size_t first, std::size_t last) {
        return first + random_.below(last - first + 1);
    }

    /// Uniform over the logarithm.
    double magnitude(double least, double most) {
        return least * std::pow(most / least, random_.unit());
    }

    std::int64_t time(std::int64_t least_ns, std::int64_t most_ns) {
        return static_cast<std::int64_t>(
            magnitude(static_cast<double>(least_ns), static_cast<double>(most_ns)));
    }

    std::uint64_t word() { return random_.next(); }

  private:
    Random random_;
};

std::vector<feed::LineConfig> draw_lines(Dice& dice) {
    std::vector<std::uint16_t> numbers;
    const std::size_t wanted = dice.count(1, 6);
    while (numbers.size() < wanted) {
        const auto number = static_cast<std::uint16_t>(dice.count(1, 96));
        if (std::ranges::find(numbers, number) == numbers.end()) {
            numbers.push_back(number);
        }
    }
    if (dice.chance(0.3)) {
        numbers.push_back(static_cast<std::uint16_t>(dice.count(201, 204)));
    }
    if (dice.chance(0.3)) {
        numbers.push_back(220);
    }
    return feed::opra::published_lines(numbers);
}

std::uint32_t draw_first_sequence(Dice& dice, std::uint64_t messages) {
    constexpr std::uint64_t last = 0xFFFF'FFFF;
    switch (dice.count(0, 5)) {
        case 0:
            return static_cast<std::uint32_t>(last - dice.count(0, messages));
        case 1:
            return static_cast<std::uint32_t>(dice.count(2, last));
        default:
            return 1;
    }
}

TrafficConfig draw_day(Dice& dice, Size size) {
    TrafficConfig day;
    const bool large = size == Size::large;
    day.seed = dice.word();
    day.shape = dice.one_of({feed::opra::PacketShape::blend, feed::opra::PacketShape::ordinary,
                             feed::opra::PacketShape::full});
    day.roots_count = dice.count(2, 40);
    day.series_count = dice.count(20, 1000);
    day.messages_count = large ? dice.count(20'000, 60'000) : dice.count(300, 5000);
    const double slowest = static_cast<double>(day.messages_count) / (large ? 600 : 40);
    day.rate_messages_per_second = dice.magnitude(slowest, 2e6);
    day.test_symbols = dice.one_of({0.0, 0.0, 0.05});
    day.session = dice.chance(0.7);
    day.first_sequence = draw_first_sequence(dice, day.messages_count);
    day.rollover_reset = dice.chance(0.5);
    day.restarts_count = static_cast<unsigned>(dice.one_of<std::size_t>({0, 0, 0, 1, 2, 3}));
    day.disaster = dice.chance(0.2);
    return day;
}

/// About how long a day lasts.
std::int64_t duration_ns(const TrafficConfig& day) {
    return static_cast<std::int64_t>(static_cast<double>(day.messages_count) /
                                     day.rate_messages_per_second * 1e9) +
           ms_ns;
}

/// A random time within the traffic of any day, from the start of the first day.
std::int64_t moment(Dice& dice, const Plan& plan) {
    const TrafficConfig& day = plan.days[dice.count(0, plan.days.size() - 1)];
    return day.start_ns - plan.days.front().start_ns + dice.between(0, duration_ns(day));
}

constexpr std::int64_t hour = 3600 * second_ns;
constexpr std::int64_t day_of_24_hours = 24 * hour;

/// Adds a weekend day of tests after the last day, which is a Friday.
void add_test_session(Dice& dice, Plan& plan) {
    TrafficConfig test = draw_day(dice, Size::small);
    const TrafficConfig& friday = plan.days.back();
    test.lines_count = plan.lines.size();
    test.session = true;
    test.seed = dice.chance(0.5) ? friday.seed : test.seed;
    // From Saturday 02:00 UTC to Sunday 14:00: neither session is on the air.
    test.start_ns = friday.start_ns + 12 * hour + 30 * 60 * second_ns + dice.between(0, 36 * hour);
    plan.days.push_back(test);
}

/// Moves the days into one calendar: a Friday, perhaps a Monday and a Tuesday. All begin at the
/// same time of day.
void move_to_calendar(Dice& dice, Plan& plan) {
    constexpr std::int64_t friday_ns = 1'773'408'600'000'000'000;  // 2026-03-13 13:30 UTC
    std::vector<TrafficConfig> days;
    std::swap(days, plan.days);
    for (std::size_t i = 0; i < days.size(); ++i) {
        days[i].session = true;
        days[i].start_ns =
            friday_ns + (i == 0 ? 0 : static_cast<std::int64_t>(i) + 2) * day_of_24_hours;
        plan.days.push_back(days[i]);
        if (i == 0 && dice.chance(0.8)) {
            add_test_session(dice, plan);
        }
    }
}

/// These are drawn separately, so that they do not change the rest of a seed's plan.
void draw_oddities(Dice& dice, Plan& plan) {
    plan.calendar = dice.chance(0.25);
    plan.undecodable = dice.one_of({0.0, 0.0, 0.0, 0.002, 0.05});
    if (dice.chance(0.3)) {
        plan.retransmission.share = dice.one_of({0.01, 0.1, 0.5});
        plan.retransmission.after_ns_max = dice.time(100 * us, 10 * second_ns);
        plan.retransmission.marked = dice.one_of({0.0, 0.5, 1.0});
    }
    if (plan.calendar) {
        move_to_calendar(dice, plan);
    }
}

/// With a calendar, leaves out clock steps that would set the clock more than an hour off: to a
/// clock that is hours off, any message may look like a test.
void keep_clock_near(Plan& plan) {
    std::int64_t off_ns = 0;
    std::vector<ClockStep> kept;
    for (const ClockStep& step : plan.host.clock_steps) {
        if (!plan.calendar || std::abs(off_ns + step.by_ns) <= hour) {
            off_ns += step.by_ns;
            kept.push_back(step);
        }
    }
    plan.host.clock_steps = std::move(kept);
}

void draw_days(Dice& dice, Plan& plan, Size size) {
    const auto count = dice.one_of<std::size_t>({1, 1, 1, 1, 2, 2, 3});
    for (std::size_t i = 0; i < count; ++i) {
        TrafficConfig day = draw_day(dice, size);
        day.lines_count = plan.lines.size();
        if (i != 0) {
            const TrafficConfig& before = plan.days.back();
            day.session = true;  // because a new day begins with a start of day
            day.start_ns = before.start_ns + 4 * duration_ns(before) + 30 * second_ns +
                           dice.one_of<std::int64_t>({0, second_ns, 20 * 3600 * second_ns});
            day.seed = dice.chance(0.5) ? before.seed : day.seed;
        }
        plan.days.push_back(day);
    }
}

/// The state plan is drawn last. It changes the rest of a seed's plan only by the later start of a
/// host that copies state.
void draw_state(Dice& dice, Plan& plan) {
    plan.state.taken = plan.twin.there && dice.chance(0.4);
    plan.state.within_ns = dice.one_of({100 * ms_ns, second_ns, 10 * second_ns});
    plan.state.journal_messages = dice.one_of<std::size_t>({256, 4096, 4096});
    if (plan.state.taken && plan.host.start_after_ns == 0 && dice.chance(0.9)) {
        plan.host.start_after_ns = dice.between(1, duration_ns(plan.days.front()));
    }
    // A host that copies all state of a twin that received everything must have the true book.
    if (plan.state.taken && dice.chance(0.5)) {
        plan.twin.links[0] = {};
        plan.twin.restarts.clear();
        plan.links[0] = dice.chance(0.5) ? LinkFaults{} : plan.links[0];
    }
}

LinkFaults draw_link(Dice& dice, const Plan& plan) {
    LinkFaults link;
    link.loss = dice.one_of({0.0, 0.0, 0.001, 0.01, 0.05, 0.2});
    link.bad_begins = dice.one_of({0.0, 0.0, 0.001, 0.01});
    link.bad_ends = dice.one_of({0.05, 0.2, 0.5});
    link.bad_loss = dice.one_of({0.5, 1.0});
    link.duplicate = dice.one_of({0.0, 0.0, 0.01, 0.2});
    link.reorder = dice.one_of({0.0, 0.0, 0.01, 0.1});
    link.reorder_ns = dice.one_of({10 * us, 200 * us, ms_ns, 5 * ms_ns});
    link.delay_ns = dice.one_of({25 * us, 25 * us, 100 * us, ms_ns, 4 * ms_ns});
    link.jitter_ns = dice.one_of<std::int64_t>({0, 0, 5 * us, 100 * us});
    link.corrupt = dice.one_of({0.0, 0.0, 0.01, 0.1});
    link.truncate = dice.one_of({0.0, 0.0, 0.01});
    link.pad = dice.one_of({0.0, 0.1});
    for (std::size_t i = dice.one_of<std::size_t>({0, 0, 0, 1, 2}); i != 0; --i) {
        link.outages.push_back(
            {moment(dice, plan), dice.time(ms_ns, 2 * duration_ns(plan.days[0]))});
    }
    return link;
}

void draw_links(Dice& dice, Plan& plan) {
    for (LinkFaults& link : plan.links) {
        link = draw_link(dice, plan);
    }
    if (dice.chance(0.3)) {  // an outage that both streams share
        const std::int64_t day_ns = duration_ns(plan.days.front());
        const Outage outage{moment(dice, plan), dice.time(day_ns / 1000 + us, day_ns / 10 + us)};
        plan.links[0].outages.push_back(outage);
        plan.links[1].outages.push_back(outage);
    }
    plan.cabling = dice.one_of({Cabling::direct, Cabling::direct, Cabling::direct, Cabling::swapped,
                                Cabling::swapped_later, Cabling::one_nic});
    plan.swap_after_ns = moment(dice, plan);
    plan.noise_packets = dice.chance(0.3) ? dice.count(10, 500) : 0;
}

void draw_troubles(Dice& dice, Plan& plan) {
    HostPlan& host = plan.host;
    for (std::size_t i = dice.one_of<std::size_t>({0, 0, 1, 3}); i != 0; --i) {
        host.poller_stops.push_back({dice.count(0, host.pollers - 1), moment(dice, plan),
                                     dice.time(100 * us, 300 * ms_ns)});
    }
    for (std::size_t i = dice.one_of<std::size_t>({0, 0, 1, 3}); i != 0; --i) {
        host.core_stops.push_back(
            {dice.count(0, host.cores - 1), moment(dice, plan), dice.time(100 * us, 500 * ms_ns)});
    }
    for (std::size_t i = dice.one_of<std::size_t>({0, 0, 0, 0, 1, 3}); i != 0; --i) {
        const std::int64_t by_ns = dice.one_of({ms_ns, 100 * ms_ns, second_ns, 3600 * second_ns});
        host.clock_steps.push_back({moment(dice, plan), dice.chance(0.5) ? by_ns : -by_ns});
    }
    std::ranges::sort(host.clock_steps, {}, &ClockStep::at_ns);
    if (dice.chance(0.15)) {
        host.start_after_ns = dice.between(1, duration_ns(plan.days.front()) / 2);
    }
    if (dice.chance(0.1)) {
        host.stop_after_ns = plan.days.back().start_ns - plan.days.front().start_ns +
                             dice.between(0, duration_ns(plan.days.back()));
    }
}

void draw_host(Dice& dice, Plan& plan) {
    HostPlan& host = plan.host;
    host.pollers = std::min(dice.one_of<std::size_t>({1, 1, 2, 3}), plan.lines.size());
    host.cores = dice.count(1, 4);
    host.ring_slots = dice.one_of<std::size_t>({512, 1024, 1 << 14, 1 << 14});
    host.sharding = dice.one_of({actors::Sharding::series, actors::Sharding::underlying});
    host.arbitration.window_ns =
        dice.one_of({2 * ms_ns, 2 * ms_ns, 5 * ms_ns, 20 * ms_ns, 200 * us});
    host.arbitration.hold_bytes = dice.one_of<std::size_t>({512 << 10, 512 << 10, 32 << 10, 4096});
    host.arbitration.gap_ranges = 4096;
    host.queue_packets = dice.one_of<std::size_t>({64, 512, 4096, 4096});
    host.burst_packets = dice.one_of<std::size_t>({4, 32, 64});
    host.udp_checksum = dice.one_of({nic::ChecksumCheck::offload, nic::ChecksumCheck::software});
    host.nic_checks = dice.chance(0.5);
    host.nic_stamps = dice.chance(0.5);
    host.test_symbols = dice.chance(0.2);
    // A poller of slow traffic polls empty queues less often, so that the run takes fewer steps.
    const bool slow = duration_ns(plan.days.front()) > 2 * second_ns;
    host.poller_idle_ns = slow ? 900 * us : dice.one_of({50 * us, 300 * us, 900 * us});
    host.packet_ns = dice.one_of<std::int64_t>({50, 500, 5000});
    for (std::size_t i = 0; i < host.cores; ++i) {
        host.core_step_ns.push_back(dice.one_of({20 * us, 300 * us, 300 * us, 5 * ms_ns}));
    }
    host.keeps_history = true;
    draw_troubles(dice, plan);
}

/// The twin is drawn last, so that it does not change the rest of a seed's plan.
void draw_twin(Dice& dice, Plan& plan) {
    TwinPlan& twin = plan.twin;
    plan.recovery.sources = {feed::RepairKind::peer};
    twin.there = dice.chance(0.6);
    for (LinkFaults& link : twin.links) {
        link = draw_link(dice, plan);
    }
    if (dice.chance(0.5)) {
        return;  // the defaults: fast, honest and always up
    }
    twin.delay_ns = dice.one_of({20 * us, 200 * us, 5 * ms_ns, 100 * ms_ns});
    twin.keep_ns = dice.one_of({10 * second_ns, 10 * second_ns, 20 * ms_ns});
    twin.memory_bytes = dice.one_of<std::size_t>({1 << 20, 1 << 20, 64 << 10});
    twin.requests_per_second = dice.one_of<std::uint32_t>({500, 500, 20});
    twin.lies = dice.one_of({0.0, 0.0, 0.3});
    for (std::size_t i = dice.one_of<std::size_t>({0, 0, 1, 2}); i != 0; --i) {
        twin.restarts.push_back({moment(dice, plan), dice.time(10 * ms_ns, 3 * second_ns)});
    }
    feed::RecoveryConfig& recovery = plan.recovery;
    recovery.request_after_ns = dice.one_of<std::int64_t>({0, 500 * us, 500 * us, 5 * ms_ns});
    recovery.answer_within_ns = dice.one_of({2 * ms_ns, 20 * ms_ns, 500 * ms_ns});
    recovery.give_up_after_ns = dice.one_of({100 * ms_ns, 10 * second_ns});
    recovery.requests_per_second = dice.one_of<std::uint32_t>({500, 500, 20});
    recovery.messages_per_second = dice.one_of<std::uint32_t>({200'000, 200'000, 2000});
    recovery.ranges_max = dice.one_of<std::size_t>({4096, 4096, 8});
}

std::string describe(const LinkFaults& link) {
    std::string words = fmt::format(
        "loss {} bad {}/{}/{} duplicate {} reorder {} by {} us, delay {} us jitter {} us, corrupt "
        "{} truncate {} pad {}",
        link.loss, link.bad_begins, link.bad_ends, link.bad_loss, link.duplicate, link.reorder,
        link.reorder_ns / us, link.delay_ns / us, link.jitter_ns / us, link.corrupt, link.truncate,
        link.pad);
    for (const Outage& outage : link.outages) {
        words += fmt::format(", dead at {} ms for {} ms", outage.at_ns / ms_ns,
                             static_cast<double>(outage.for_ns) / 1e6);
    }
    return words;
}

}  // namespace

bool is_weekend(std::int64_t ts_ns) {
    const std::int64_t days = ts_ns / day_of_24_hours;  // day 0 was a Thursday
    return (days + 4) % 7 == 6 || (days + 4) % 7 == 0;
}

Size size_of(std::uint64_t seed) {
    return seed % 50 == 49 ? Size::large : Size::small;
}

Plan draw_plan(std::uint64_t seed) {
    Dice dice{seed};
    Plan plan;
    plan.seed = seed;
    plan.lines = draw_lines(dice);
    draw_days(dice, plan, size_of(seed));
    Dice oddities{feed::opra::traffic::scramble(seed ^ 0x4F44'4449'5459ULL)};
    draw_oddities(oddities, plan);
    draw_links(dice, plan);
    draw_host(dice, plan);
    keep_clock_near(plan);
    draw_twin(dice, plan);
    Dice late{feed::opra::traffic::scramble(seed ^ 0x5354'4154'45ULL)};
    draw_state(late, plan);
    if (plan.retransmission.share > 0 && late.chance(0.7)) {
        plan.recovery.sources = {feed::RepairKind::retransmission, feed::RepairKind::peer};
    }
    plan.host.nic_keeps = late.chance(0.5);
    return plan;
}

Plan plan_of_twin(const Plan& plan) {
    Plan its = plan;
    its.seed = ~plan.seed;
    its.cabling = Cabling::direct;
    its.noise_packets = 0;
    its.twin = {};
    its.recovery = {};
    its.retransmission = {};
    its.host = {};
    its.host.arbitration.gap_ranges = 4096;
    its.host.sharding = plan.host.sharding;
    its.host.test_symbols = plan.host.test_symbols;
    its.host.poller_idle_ns = 900 * us;
    its.host.core_step_ns = {300 * us};
    return its;
}

std::string describe(const Plan& plan) {
    std::string words = fmt::format("seed {}\n  lines", plan.seed);
    for (const feed::LineConfig& line : plan.lines) {
        words += fmt::format(" {}", line.number);
    }
    for (const TrafficConfig& day : plan.days) {
        words += fmt::format(
            "\n  day after {} s: {} messages, {:.0f}/s, {} series, session {}, first {}, restarts "
            "{}, disaster {}, tests {}",
            (day.start_ns - plan.days.front().start_ns) / second_ns, day.messages_count,
            day.rate_messages_per_second, day.series_count, day.session, day.first_sequence,
            day.restarts_count, day.disaster, day.test_symbols);
    }
    words += fmt::format(
        "\n  calendar {}, undecodable {}, retransmitted {} up to {} us later, marked {}",
        plan.calendar, plan.undecodable, plan.retransmission.share,
        plan.retransmission.after_ns_max / us, plan.retransmission.marked);
    words +=
        fmt::format("\n  A: {}\n  B: {}\n  cabling {} swap {} ms, noise {}",
                    describe(plan.links[0]), describe(plan.links[1]),
                    static_cast<int>(plan.cabling), plan.swap_after_ns / ms_ns, plan.noise_packets);
    const HostPlan& host = plan.host;
    words += fmt::format(
        "\n  host: {} pollers, {} cores, ring {}, window {} us, hold {}, queue {}, burst {}{}, "
        "idle "
        "{} us, packet {} ns, starts {} ms, stops {} ms",
        host.pollers, host.cores, host.ring_slots, host.arbitration.window_ns / us,
        host.arbitration.hold_bytes, host.queue_packets, host.burst_packets,
        host.nic_keeps ? " kept" : "", host.poller_idle_ns / us, host.packet_ns,
        host.start_after_ns / ms_ns, host.stop_after_ns / ms_ns);
    for (const Stop& stop : host.poller_stops) {
        words += fmt::format("\n  poller {} stands at {} ms for {} us", stop.thread,
                             stop.at_ns / ms_ns, stop.for_ns / us);
    }
    for (const Stop& stop : host.core_stops) {
        words += fmt::format("\n  core {} stands at {} ms for {} us", stop.thread,
                             stop.at_ns / ms_ns, stop.for_ns / us);
    }
    for (const ClockStep& step : host.clock_steps) {
        words += fmt::format("\n  clock steps at {} ms by {} ms", step.at_ns / ms_ns,
                             step.by_ns / ms_ns);
    }
    if (const TwinPlan& twin = plan.twin; twin.there) {
        words += fmt::format(
            "\n  twin: delay {} us, keeps {} ms in {} bytes, {} requests/s, lies {}\n    A: {}\n"
            "    B: {}",
            twin.delay_ns / us, twin.keep_ns / ms_ns, twin.memory_bytes, twin.requests_per_second,
            twin.lies, describe(twin.links[0]), describe(twin.links[1]));
        for (const Outage& restart : twin.restarts) {
            words += fmt::format("\n    restarts at {} ms for {} ms", restart.at_ns / ms_ns,
                                 restart.for_ns / ms_ns);
        }
        if (plan.state.taken) {
            words += fmt::format("\n  takes its state within {} ms, remembers {} messages",
                                 plan.state.within_ns / ms_ns, plan.state.journal_messages);
        }
        words += plan.recovery.sources.size() > 1 ? "\n  waits for the groups first" : "";
        words += fmt::format(
            "\n  recovery: asks after {} us, answer within {} ms, gives up after "
            "{} ms, {} requests/s, {} messages/s, {} ranges",
            plan.recovery.request_after_ns / us, plan.recovery.answer_within_ns / ms_ns,
            plan.recovery.give_up_after_ns / ms_ns, plan.recovery.requests_per_second,
            plan.recovery.messages_per_second, plan.recovery.ranges_max);
    }
    return words + '\n';
}

}  // namespace pinstrike::sim
