// path: cold
//
// The checks that must hold for every run. Every message of the truth is delivered once and in
// order, or marked late, or inside a declared gap; no message that arrived in time is declared
// lost; the account agrees with what the links delivered; a book equals the truth in all that it
// does not mark as stale or unknown.
#pragma once

#include "tests/sim/expectation.h"
#include "tests/sim/findings.h"
#include "tests/sim/held_rows.h"
#include "tests/sim/host.h"
#include "tests/sim/truth.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pinstrike::sim {

/// How much the checks of a run covered: a check without data proves nothing.
struct Coverage {
    std::uint64_t messages = 0;  ///< messages that had to be delivered
    std::uint64_t lost = 0;      ///< messages that had to be declared lost
    std::uint64_t repaired = 0;  ///< messages repaired by the twin or by retransmissions
    std::uint64_t late = 0;      ///< messages delivered late
    std::uint64_t undecodable = 0;
    std::uint64_t outside_hours = 0;  ///< messages that no core may get
    std::uint64_t refused = 0;        ///< messages refused by full rings
    std::uint64_t lines = 0;
    std::uint64_t lines_exact = 0;
    std::uint64_t sides_fresh = 0;   ///< fresh sides of books, compared with the truth
    std::uint64_t sides_vague = 0;   ///< stale or unknown sides of books
    std::uint64_t states_taken = 0;  ///< states of series copied from the twin
    std::uint64_t blocks_kept = 0;   ///< blocks that had to be in the history for peers
    std::uint64_t series_whole = 0;  ///< series of books compared with the truth in all fields
    HeldRows held;
    void add(const Coverage& other);
};

/// Checks the events that the cores got, line by line and message by message (core_check.cpp).
class DeliveryCheck {
  public:
    DeliveryCheck(const Plan& plan, const Truth& truth, const std::vector<LineExpectation>& lines,
                  Host& host, Findings& findings);

    void check(Coverage& coverage);

  private:
    /// What happened to one message; all but the count are bit sets of cores.
    struct Delivery {
        std::uint8_t data_count = 0;  ///< times that a core got it as data
        std::uint8_t cores = 0;       ///< got it
        std::uint8_t late = 0;        ///< got it marked late
        std::uint8_t lost = 0;        ///< got a gap that declares it lost
        std::uint8_t refused = 0;     ///< got a gap that declares it refused by the core's ring
    };

    struct CoreLine {
        Place next = 0;                ///< behind the newest message that came in order
        const Block* reset = nullptr;  ///< the newest reset
    };

    void read_core(std::size_t core);
    void check_end(std::size_t core);
    void read_data(std::size_t core, std::span<const feed::Event> event);
    void read_control(std::size_t core, const feed::Event& event);
    void read_reset(std::size_t core, const feed::Event& event, const Block& block);
    void read_gap(std::size_t core, const feed::Event& event);
    void note_place(std::size_t core, const feed::Event& event, const Block& block, Place place);
    void check_lines(Coverage& coverage);
    void check_place(std::size_t line, const Block& block, Place place);
    void check_sums(Coverage& coverage);
    void check_resets();
    void check_twin();
    [[nodiscard]] std::string name(std::size_t line, Place place) const;
    [[nodiscard]] std::uint64_t counted(std::size_t core, actors::RingCount row) const;
    [[nodiscard]] std::uint64_t refused(std::size_t core) const;

    const Plan& plan_;
    const Truth& truth_;
    const std::vector<LineExpectation>& lines_;
    Host& host_;
    Findings& findings_;
    std::vector<std::vector<Delivery>> deliveries_;  ///< by line and place
    std::vector<std::vector<CoreLine>> at_;          ///< by core and line
    std::vector<std::vector<std::uint8_t>>
        resets_delivered_;                         ///< by line and block: bit set of cores
    std::vector<std::uint64_t> lost_reported_;     ///< by core: messages, less the repaired ones
    std::vector<std::uint64_t> refused_reported_;  ///< by core: messages
    std::uint64_t data_seen_ = 0;
};

void check_account(const Plan& plan, const Truth& truth, const std::vector<LineExpectation>& lines,
                   Host& host, Findings& findings, Coverage& coverage);

void check_counts(const Plan& plan, const Truth& truth, const std::vector<LineExpectation>& lines,
                  Host& host, Findings& findings, Coverage& coverage);

void check_drops(const Plan& plan, const Truth& truth, const std::vector<LineExpectation>& lines,
                 Host& host, Findings& findings, Coverage& coverage);

void check_peer_counts(const Plan& plan, Host& host, Findings& findings, Coverage& coverage);

void check_series_counts(Host& host, Findings& findings, Coverage& coverage);

void check_history(const Truth& truth, const std::vector<LineExpectation>& lines, Host& host,
                   Findings& findings, Coverage& coverage);

/// `twin`: the expectations of each run of a twin that sent state.
void check_books(const Plan& plan, const Truth& truth, const std::vector<LineExpectation>& lines,
                 std::span<const std::vector<LineExpectation>> twin, Host& host, Findings& findings,
                 Coverage& coverage);

}  // namespace pinstrike::sim
