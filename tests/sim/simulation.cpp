// path: cold
#include "tests/sim/simulation.h"

#include "tests/sim/host.h"
#include "tests/sim/plan.h"
#include "tests/sim/twin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ostream>

namespace pinstrike::sim {

namespace {

void send(const Plan& plan, Truth& truth) {
    for (const feed::opra::TrafficConfig& day : plan.days) {
        feed::opra::traffic::TrafficSession session{day, plan.lines, truth};
        session.run();
    }
}

using Links = std::array<LinkFaults, feed::streams_count>;

std::vector<Flight> carry(const Plan& plan, const Truth& truth, const Links& links,
                          std::uint64_t seed) {
    std::vector<Flight> flights;
    for (std::size_t i = 0; i < feed::streams_count; ++i) {
        Link link{links[i], plan.lines, static_cast<feed::Stream>(i), plan.days.front().start_ns,
                  feed::opra::traffic::scramble(seed * 2 + i)};
        for (const Block& block : truth.blocks()) {
            link.carry(block, flights);
        }
    }
    return flights;
}

/// Packets of the same time keep their order. (A stable sort would use a function of g++ 12's
/// library that clang reports as deprecated.)
void sort_by_arrival(std::vector<Flight>& flights) {
    std::vector<std::pair<std::int64_t, std::size_t>> order;
    for (std::size_t i = 0; i < flights.size(); ++i) {
        order.emplace_back(flights[i].ts_ns, i);
    }
    std::ranges::sort(order);
    std::vector<Flight> sorted;
    for (const auto& [ts_ns, i] : order) {
        sorted.push_back(std::move(flights[i]));
    }
    flights = std::move(sorted);
}

/// All packets in the order of arrival, including foreign ones.
std::vector<Flight> carry_to_host(const Plan& plan, const Truth& truth) {
    std::vector<Flight> flights = carry(plan, truth, plan.links, plan.seed);
    Random random{feed::opra::traffic::scramble(plan.seed ^ 0x4E4F'4953'45ULL)};
    add_retransmissions(plan, truth, random, flights);
    add_noise(plan.lines, plan.noise_packets, random, flights);
    sort_by_arrival(flights);
    return flights;
}

std::vector<Flight> carry_to_twin(const Plan& plan, const Truth& truth) {
    std::vector<Flight> flights;
    if (plan.twin.there) {
        flights = carry(plan, truth, plan.twin.links, ~plan.seed);
        sort_by_arrival(flights);
    }
    return flights;
}

/// The expectations of a host's lines, from its streams and its twin.
std::vector<LineExpectation> expect(const Plan& plan, const Truth& truth, const Host& host) {
    const ArbiterMeans means{plan.host.arbitration.window_ns, plan.host.arbitration.hold_bytes};
    std::vector<LineExpectation> lines;
    for (std::size_t i = 0; i < plan.lines.size(); ++i) {
        lines.push_back(expect_line(truth.lines()[i], i, *host.receive_logs()[host.poller_of(i)],
                                    host.repairs(), means));
        if (host.twin() != nullptr && host.twin()->mixed_up(plan.lines[i].number)) {
            lines.back().exact = false;
            lines.back().inexact_why = "the twin brought blocks of another line";
        }
    }
    return lines;
}

/// The expectations of each run of a twin that sent state.
std::vector<std::vector<LineExpectation>> expect_of_twin(const Plan& plan, const Truth& truth,
                                                         const Host& host) {
    std::vector<std::vector<LineExpectation>> lives;
    if (host.twin() != nullptr) {
        const Plan its = plan_of_twin(plan);
        for (const auto& life : host.twin()->lives()) {
            lives.push_back(expect(its, truth, *life));
        }
    }
    return lives;
}

/// How long OPRA sent during the host's run, without nights and tests.
std::int64_t traded_ns(const Truth& truth, const Host& host) {
    // Longer than a pause within a day, shorter than a night.
    constexpr std::int64_t pause_ns = 20'000'000'000;
    std::int64_t sum_ns = 0;
    std::int64_t before_ns = 0;
    for (const Block& block : truth.blocks()) {
        const std::int64_t since_ns = std::max(before_ns, host.begin_ns());
        if (before_ns != 0 && !block.test && block.ts_ns - before_ns < pause_ns) {
            sum_ns += std::max<std::int64_t>(std::min(block.ts_ns, host.now_ns()) - since_ns, 0);
        }
        before_ns = block.ts_ns;
    }
    return sum_ns;
}

std::uint64_t fingerprint_of(const Host& host) {
    std::uint64_t hash = 0;
    for (std::size_t core = 0; core < host.cores_count(); ++core) {
        for (const feed::Event& event : host.recorder(core).records()) {
            std::array<std::uint64_t, sizeof(event) / sizeof(std::uint64_t)> words{};
            std::memcpy(words.data(), &event, sizeof words);
            for (const std::uint64_t word : words) {
                hash = feed::opra::traffic::scramble(hash ^ word);
            }
        }
    }
    return hash;
}

void print_lines(const Plan& plan, const std::vector<LineExpectation>& lines, std::ostream& out) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const LineExpectation& line = lines[i];
        out << fmt::format(
            "  line {}: {} brought, {} repaired, {} lost, A {} packets, B {} packets, {}\n",
            plan.lines[i].number, line.brought, line.repaired, line.lost, line.streams[0].packets,
            line.streams[1].packets,
            !line.heard  ? "not heard"
            : line.exact ? "exact"
                         : line.inexact_why);
    }
}

void print_recovery(const Host& host, std::ostream& out) {
    if (host.recovery() == nullptr) {
        return;
    }
    out << "  recovery:";
    for (std::size_t i = 0; i < feed::RecoveryCount_count; ++i) {
        out << fmt::format(
            " {} {}", feed::RecoveryCount_rows[i].name,
            host.recovery()->recovery().counters().read(static_cast<feed::RecoveryCount>(i)));
    }
    out << '\n';
    if (host.transfer() == nullptr) {
        return;
    }
    out << "  state:";
    for (std::size_t i = 0; i < actors::peer::StateCount_count; ++i) {
        out << fmt::format(
            " {} {}", actors::peer::StateCount_rows[i].name,
            host.transfer()->counts().read(static_cast<actors::peer::StateCount>(i)));
    }
    out << fmt::format(" whole {}\n", host.transfer()->whole().read());
}

void print_arrivals(const Truth& truth, const Host& host, std::size_t line, std::ostream& out) {
    std::size_t turn = 0;
    for (const ReceivedPacket& received : host.receive_logs()[host.poller_of(line)]->packets()) {
        const Flight& flight = *received.flight;
        if (flight.line == line && flight.block != nullptr) {
            const Block& block = *flight.block;
            out << fmt::format(
                "  {:5} at {:.6f} s waited {:.6f}: {}{} {} numbers {}+{} numbering {} stamped {}\n",
                turn, static_cast<double>(received.true_ns - truth.blocks().front().ts_ns) / 1e9,
                static_cast<double>(received.waited_ns) / 1e9,
                flight.repair ? 'V' : "AB"[static_cast<int>(flight.stream)],
                flight.whole ? "" : " damaged", "dNCK"[static_cast<int>(block.role)],
                block.header.sequence, block.messages.size(), block.epoch, block.ts_ns);
        }
        ++turn;
    }
}

void print_records(const Host& host, std::size_t core, std::uint16_t line, std::ostream& out) {
    const auto& records = host.recorder(core).records();
    for (std::size_t at = 0; at < records.size(); at += records[at].header.records) {
        const feed::Event& event = records[at];
        if (event.header.line != line) {
            continue;
        }
        if (event.header.kind == feed::EventKind::gap) {
            const feed::Gap& gap = event.body.gap;
            out << fmt::format("  core {}: gap {}-{} of {}, cause {}, delivered at {}\n", core,
                               gap.first, gap.last, gap.messages, static_cast<int>(gap.cause),
                               event.header.ts_receive_ns);
        } else {
            out << fmt::format("  core {}: kind {} type {} number {} flags {} stamped {}\n", core,
                               static_cast<int>(event.header.kind), event.header.type,
                               event.header.sequence, event.header.flags,
                               event.header.ts_exchange_ns);
        }
    }
}

void print_line(const Truth& truth, const Host& host, std::uint16_t number, std::ostream& out) {
    const std::size_t line = truth.line_index(number);
    if (line == truth.lines().size()) {
        return;
    }
    print_arrivals(truth, host, line, out);
    for (std::size_t core = 0; core < host.cores_count(); ++core) {
        print_records(host, core, number, out);
    }
}

void print_twin(const Truth& truth, const Host& host, std::uint16_t line, std::ostream& out) {
    if (host.twin() != nullptr) {
        for (const auto& life : host.twin()->lives()) {
            out << "  the twin, started anew:\n";
            print_line(truth, *life, line, out);
        }
    }
}

}  // namespace

Outcome simulate(std::uint64_t seed, const Trace& trace) {
    Outcome outcome;
    const Plan plan = draw_plan(seed);
    if (trace.out != nullptr) {
        *trace.out << describe(plan);
    }
    Truth truth{plan};
    send(plan, truth);
    const std::vector<Flight> flights = carry_to_host(plan, truth);
    const std::vector<Flight> twin_flights = carry_to_twin(plan, truth);
    Host host{plan, plan.twin.there ? std::make_unique<Twin>(plan, truth, twin_flights) : nullptr};
    host.run(flights);
    const std::vector<LineExpectation> lines = expect(plan, truth, host);
    if (trace.out != nullptr) {
        print_lines(plan, lines, *trace.out);
        print_recovery(host, *trace.out);
        print_line(truth, host, trace.line, *trace.out);
        print_twin(truth, host, trace.line, *trace.out);
    }
    DeliveryCheck{plan, truth, lines, host, outcome.findings}.check(outcome.coverage);
    check_account(plan, truth, lines, host, outcome.findings, outcome.coverage);
    check_counts(plan, truth, lines, host, outcome.findings, outcome.coverage);
    check_drops(plan, truth, lines, host, outcome.findings, outcome.coverage);
    check_peer_counts(plan, host, outcome.findings, outcome.coverage);
    check_series_counts(host, outcome.findings, outcome.coverage);
    check_history(truth, lines, host, outcome.findings, outcome.coverage);
    check_books(plan, truth, lines, expect_of_twin(plan, truth, host), host, outcome.findings,
                outcome.coverage);
    outcome.messages = truth.messages_count();
    outcome.lived_ns = host.now_ns() - host.begin_ns();
    outcome.traded_ns = traded_ns(truth, host);
    outcome.fingerprint = fingerprint_of(host);
    return outcome;
}

}  // namespace pinstrike::sim
