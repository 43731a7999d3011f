// path: cold
//
// Checks the counters of recovery, of the histories, of the connection to the twin, and of the
// transfer of state, against what the simulation saw cross the connection.
#include "tests/sim/count_comparison.h"
#include "tests/sim/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <vector>

namespace pinstrike::sim {

namespace {

using actors::BookCount;
using actors::peer::ClientCount;
using actors::peer::PeerDrop;
using actors::peer::PeerRefusal;
using actors::peer::ServerCount;
using actors::peer::SessionEnd;
using actors::peer::StateCount;
using feed::HistoryCount;
using feed::RecoveryCount;
using feed::Refusal;

std::uint64_t sum(const TwinTraffic::Refusals& refusals) {
    return std::accumulate(refusals.begin(), refusals.end(), std::uint64_t{0});
}

std::uint64_t of(const TwinTraffic::Refusals& refusals, Refusal reason) {
    return refusals[static_cast<std::size_t>(reason)];
}

template <class Reason>
std::uint64_t count(const std::vector<Reason>& all, Reason wanted) {
    return static_cast<std::uint64_t>(std::ranges::count(all, wanted));
}

class PeerCountCheck {
  public:
    PeerCountCheck(const Plan& plan, Host& host, const Twin& twin, Findings& findings,
                   HeldRows& held)
        : plan_(plan),
          host_(host),
          twin_(twin),
          traffic_(twin.traffic()),
          recovery_(host.recovery()->recovery()),
          whole_(nothing_lost()),
          findings_(findings),
          held_(held) {}

    void check() {
        check_recovery();
        check_refusals();
        check_client();
        check_drops();
        check_server();
        check_ends();
        check_history();
        if (host_.transfer() != nullptr) {
            check_state();
        }
    }

  private:
    /// Whether all that one side sent reached the other, which ignores what comes after its end.
    [[nodiscard]] bool nothing_lost() const {
        return twin_.all_arrived() && traffic_.server_ends.empty() &&
               std::ranges::count(traffic_.client_ends, SessionEnd::closed) ==
                   std::ssize(traffic_.client_ends);
    }

    [[nodiscard]] std::uint64_t recovery(RecoveryCount row) const {
        return recovery_.counters().read(row);
    }

    [[nodiscard]] std::uint64_t client(ClientCount row) const {
        return twin_.client_counters().counts.read(row);
    }

    [[nodiscard]] std::uint64_t server(ServerCount row) const {
        return twin_.server_counters().counts.read(row);
    }

    [[nodiscard]] std::uint64_t refusals(PeerRefusal row) const {
        return twin_.server_counters().refusals.read(row);
    }

    void check_recovery() {
        CountComparison compare{"recovery", findings_, held_};
        const auto expect = [&](RecoveryCount row, std::uint64_t wanted) {
            compare.expect(row, wanted, recovery(row));
        };
        // Each number that was noted missing is counted under exactly one outcome.
        std::uint64_t ends = 0;
        for (const RecoveryCount end :
             {RecoveryCount::filled, RecoveryCount::repaired, RecoveryCount::abandoned,
              RecoveryCount::never_asked, RecoveryCount::untracked}) {
            compare.note(end);
            ends += recovery(end);
        }
        expect(RecoveryCount::missing, ends);
        expect(RecoveryCount::open, 0);
        expect(RecoveryCount::in_flight, 0);
        expect(RecoveryCount::requests, traffic_.requests);
        expect(RecoveryCount::requested, traffic_.requested);
        expect(RecoveryCount::repairs, twin_.brought().size());
        std::uint64_t taken = 0;
        for (std::size_t i = 0; i < plan_.host.pollers; ++i) {
            taken += host_.poller(i).repair_rings()->repairs_read().read();
        }
        expect(RecoveryCount::repairs_dropped, twin_.brought().size() - taken);
        check_requests(compare);
    }

    /// A request fails, or ends with the last of its messages. `answered` leaves out those whose
    /// last message was given up.
    void check_requests(CountComparison& compare) const {
        std::uint64_t failed = 0;
        for (std::size_t row = 0; row < feed::Refusal_count; ++row) {
            failed +=
                recovery_.refused(recovery_.sources_count() - 1).read(static_cast<Refusal>(row));
        }
        failed -= sum(traffic_.refused_at_once);
        const std::uint64_t ended = traffic_.requests - failed;
        const bool given_up =
            recovery(RecoveryCount::abandoned) != 0 || recovery(RecoveryCount::untracked) != 0;
        compare.expect_between(RecoveryCount::answered, given_up ? 0 : ended, ended,
                               recovery(RecoveryCount::answered));
        // Both budgets begin with a tenth of a second's worth.
        const bool within_budget = traffic_.requests < plan_.recovery.requests_per_second / 10 &&
                                   traffic_.requested + feed::repair_messages_max <
                                       plan_.recovery.messages_per_second / 10;
        if (within_budget) {
            compare.expect(RecoveryCount::postponed, 0, recovery(RecoveryCount::postponed));
        }
    }

    /// Recovery adds two reasons of its own, because it also watches the time.
    void check_refusals() {
        CountComparison compare{"recovery", findings_, held_};
        const feed::RefusalCounters& counters =
            recovery_.refused(recovery_.sources_count() - 1);  // the twin is the last source
        for (std::size_t row = 0; row < feed::Refusal_count; ++row) {
            const auto reason = static_cast<Refusal>(row);
            const std::uint64_t seen = traffic_.refused[row] + of(traffic_.refused_at_once, reason);
            if (reason == Refusal::no_answer) {
                compare.expect_between(reason, seen, traffic_.requests, counters.read(reason));
            } else if (reason == Refusal::incomplete) {
                compare.expect_between(reason, 0, traffic_.finished, counters.read(reason));
            } else {
                compare.expect(reason, seen, counters.read(reason));
            }
            compare.expect(traffic_.refused[row], twin_.client_counters().refusals.read(reason),
                           "refusals of the client");
        }
        compare.expect(Refusal::unknown_line, 0, counters.read(Refusal::unknown_line));
        compare.expect(Refusal::malformed, 0, counters.read(Refusal::malformed));
    }

    void check_client() {
        CountComparison compare{"client", findings_, held_};
        const auto expect = [&](ClientCount row, std::uint64_t wanted) {
            compare.expect(row, wanted, client(row));
        };
        expect(ClientCount::connections, traffic_.connections);
        compare.expect_between(ClientCount::authenticated,
                               traffic_.requests == 0 && traffic_.state_requests == 0 ? 0 : 1,
                               server(ServerCount::authenticated),
                               client(ClientCount::authenticated));
        expect(ClientCount::requests, traffic_.requests);
        expect(ClientCount::finished, traffic_.finished);
        expect(ClientCount::blocks, twin_.brought().size());
        expect(ClientCount::bytes, traffic_.bytes);
    }

    /// An honest twin sends blocks of the right line with the right numbers. Some come when the
    /// request has ended, and several may have a number that was used again after a reset.
    void check_drops() {
        CountComparison compare{"client", findings_, held_};
        const auto& drops = twin_.client_counters().drops;
        for (std::size_t row = 0; row < actors::peer::PeerDrop_count; ++row) {
            const auto drop = static_cast<PeerDrop>(row);
            const bool may_be =
                drop == PeerDrop::late || drop == PeerDrop::too_many || plan_.twin.lies != 0;
            const std::uint64_t sent = server(ServerCount::served_blocks);
            compare.expect_between(drop, 0, may_be ? sent : 0, drops.read(drop));
        }
        // The server names the line that it was asked for, whatever lies its history holds.
        compare.expect(PeerDrop::wrong_line, 0, drops.read(PeerDrop::wrong_line));
    }

    void check_server() {
        CountComparison compare{"server", findings_, held_};
        compare.expect(ServerCount::connections, traffic_.connections,
                       server(ServerCount::connections));
        // `least` counts what arrived at the client, and equals the server's count if nothing that
        // was sent is missing.
        const auto expect_sent = [&](ServerCount row, std::uint64_t least) {
            compare.expect_between(row, least, whole_ ? least : ~std::uint64_t{0}, server(row));
        };
        expect_sent(ServerCount::authenticated, client(ClientCount::authenticated));
        const std::uint64_t dropped = twin_.client_counters().drops.sum();
        expect_sent(ServerCount::served_blocks, client(ClientCount::blocks) + dropped);
        compare.expect_between(ServerCount::served_bytes, traffic_.bytes,
                               whole_ && dropped == 0 ? traffic_.bytes : ~std::uint64_t{0},
                               server(ServerCount::served_bytes));
        compare.expect_between(ServerCount::requests, whole_ ? traffic_.requests : 0,
                               traffic_.requests, server(ServerCount::requests));
        compare.expect_between(ServerCount::served, traffic_.finished,
                               server(ServerCount::requests), server(ServerCount::served));
        check_refused(compare);
    }

    /// Each request is served or refused; one for state may be cut off, once for each connection.
    void check_refused(CountComparison& compare) const {
        for (std::size_t row = 0; row < actors::peer::PeerRefusal_count; ++row) {
            const auto reason = static_cast<PeerRefusal>(row);
            const std::uint64_t of_connections = count(traffic_.server_why, reason);
            const bool of_requests = reason == PeerRefusal::not_kept ||
                                     reason == PeerRefusal::over_budget ||
                                     (reason == PeerRefusal::no_state && plan_.state.taken);
            compare.expect_between(reason, of_connections,
                                   of_requests ? ~std::uint64_t{0} : of_connections,
                                   refusals(reason));
            compare.expect(reason, count(traffic_.client_why, reason),
                           twin_.client_counters().why.read(reason));
        }
        compare.expect_between(PeerRefusal::not_kept, of(traffic_.refused, Refusal::not_kept),
                               server(ServerCount::requests), refusals(PeerRefusal::not_kept));
        // A connection is refused for its budget by the refusal of a request.
        const std::uint64_t refused_connections =
            traffic_.server_why.size() - count(traffic_.server_why, PeerRefusal::over_budget);
        const std::uint64_t asked =
            server(ServerCount::requests) + server(ServerCount::state_requests);
        const std::uint64_t ended = server(ServerCount::served) +
                                    server(ServerCount::state_served) +
                                    twin_.server_counters().refusals.sum() - refused_connections;
        const std::uint64_t unfinished = plan_.state.taken ? traffic_.connections : 0;
        if (ended > asked || asked - ended > unfinished) {
            findings_.add(fmt::format("counts, server: of {} requests {} ended", asked, ended));
        }
    }

    void check_ends() {
        CountComparison compare{"client", findings_, held_};
        for (std::size_t row = 0; row < actors::peer::SessionEnd_count; ++row) {
            const auto end = static_cast<SessionEnd>(row);
            compare.expect(end, count(traffic_.client_ends, end),
                           twin_.client_counters().ends.read(end));
            compare.expect(end, count(traffic_.server_ends, end),
                           twin_.server_counters().ends.read(end));
        }
    }

    void check_history() {
        if (const feed::History* history = twin_.history()) {
            CountComparison compare{"history of the twin", findings_, held_};
            const feed::HistoryCounters& counters = history->counters();
            const std::uint64_t kept = twin_.kept();
            compare.expect(HistoryCount::kept, kept, counters.read(HistoryCount::kept));
            compare.expect(HistoryCount::unfit, 0, counters.read(HistoryCount::unfit));
            compare.expect(HistoryCount::kept_bytes, traffic_.kept_bytes,
                           counters.read(HistoryCount::kept_bytes));
            compare.note(HistoryCount::aged, HistoryCount::crowded);
            compare.expect(kept,
                           history->blocks() + counters.read(HistoryCount::aged) +
                               counters.read(HistoryCount::crowded),
                           "blocks that are in it and blocks that were removed");
        }
    }

    void check_state() {
        CountComparison compare{"transfer of state", findings_, held_};
        const auto counted = [&](StateCount row) { return host_.transfer()->counts().read(row); };
        const auto expect = [&](StateCount row, std::uint64_t wanted) {
            compare.expect(row, wanted, counted(row));
        };
        expect(StateCount::requests, traffic_.state_requests);
        expect(StateCount::failed, traffic_.state_failed);
        expect(StateCount::received, traffic_.state_wanted);
        expect(StateCount::foreign, 0);  // both hosts have the same lines, and a book on each core
        expect(StateCount::impossible, 0);  // messages of both hosts have possible values
        expect(StateCount::crowded, 0);     // the rings have room for all series
        const std::uint64_t judged = counted(StateCount::taken) + counted(StateCount::unheard) +
                                     counted(StateCount::ahead) + counted(StateCount::behind) +
                                     counted(StateCount::other_reset) + counted(StateCount::moved) +
                                     counted(StateCount::no_room);
        const bool whole = host_.transfer()->whole().read() != 0;
        if (judged > traffic_.state_wanted || (whole && judged != traffic_.state_wanted)) {
            findings_.add(fmt::format("counts, transfer of state: {} of {} states were judged",
                                      judged, traffic_.state_wanted));
        }
        check_verdicts(compare);
        check_given(compare);
    }

    void check_verdicts(CountComparison& compare) const {
        const auto counted = [&](StateCount row) { return host_.transfer()->counts().read(row); };
        std::uint64_t taken = 0;
        std::uint64_t refused = 0;
        for (std::size_t core = 0; core < host_.cores_count(); ++core) {
            taken += host_.book(core).counters().read(BookCount::state_taken);
            refused += host_.book(core).counters().read(BookCount::series_refused);
        }
        // A transfer that ran out of time does not read the last answers of the books.
        const bool whole = host_.transfer()->whole().read() != 0;
        compare.expect_between(StateCount::taken, whole ? taken : 0, taken,
                               counted(StateCount::taken));
        compare.expect_between(BookCount::state_taken, 0, traffic_.state_wanted, taken);
        compare.expect_between(StateCount::no_room, 0, refused, counted(StateCount::no_room));
        // Series move with a new day, and by blocks of another line that the twin brings.
        const bool moves =
            plan_.days.size() > 1 || std::ranges::any_of(plan_.lines, [this](const auto& line) {
                return twin_.mixed_up(line.number);
            });
        compare.expect_between(StateCount::moved, 0, moves ? traffic_.state_wanted : 0,
                               counted(StateCount::moved));
        const bool resets = std::ranges::any_of(plan_.days, [](const auto& day) {
            return day.session || day.restarts_count != 0 || day.disaster;
        });
        compare.expect_between(StateCount::other_reset, 0, resets ? traffic_.state_wanted : 0,
                               counted(StateCount::other_reset));
    }

    /// The server leaves out series of lines that the client did not name.
    void check_given(CountComparison& compare) const {
        std::uint64_t given = 0;
        for (const auto& life : twin_.lives()) {
            for (std::size_t core = 0; core < life->cores_count(); ++core) {
                given += life->book(core).counters().read(BookCount::state_given);
            }
        }
        const bool sure = whole_ && traffic_.state_failed == 0;
        const std::uint64_t sent = server(ServerCount::state_series);
        compare.expect_between(ServerCount::state_requests, whole_ ? traffic_.state_requests : 0,
                               traffic_.state_requests, server(ServerCount::state_requests));
        compare.expect_between(ServerCount::state_series, traffic_.state_series,
                               sure ? traffic_.state_series : ~std::uint64_t{0}, sent);
        const std::uint64_t ended = traffic_.state_ended - traffic_.state_failed;
        compare.expect_between(ServerCount::state_served, ended,
                               sure ? traffic_.state_requests : ~std::uint64_t{0},
                               server(ServerCount::state_served));
        const bool all_lines = sure && traffic_.state_requests == 1 && ended == 1;
        compare.expect_between(BookCount::state_given, sent, all_lines ? sent : ~std::uint64_t{0},
                               given);
    }

    const Plan& plan_;
    Host& host_;
    const Twin& twin_;
    const TwinTraffic traffic_;
    const feed::Recovery& recovery_;
    const bool whole_;  ///< nothing_lost()
    Findings& findings_;
    HeldRows& held_;
};

}  // namespace

void check_peer_counts(const Plan& plan, Host& host, Findings& findings, Coverage& coverage) {
    if (host.recovery() != nullptr) {
        PeerCountCheck{plan, host, *host.twin(), findings, coverage.held}.check();
    }
}

}  // namespace pinstrike::sim
