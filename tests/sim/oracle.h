// path: cold
//
// What must hold whatever the links and the host did. Every message of the truth is delivered once
// and in order, or late and marked, or inside a declared gap; nothing that came in time is declared
// lost; the account agrees with what the links brought; a book says what the truth says wherever it
// does not say that it cannot know.
#pragma once

#include "tests/sim/expectation.h"
#include "tests/sim/findings.h"
#include "tests/sim/host.h"
#include "tests/sim/truth.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pinstrike::sim {

/// What a look at a run weighed: a look that saw nothing proves nothing.
struct Weight {
    std::uint64_t messages = 0;  ///< that had to be delivered
    std::uint64_t lost = 0;      ///< that had to be declared lost
    std::uint64_t repaired = 0;  ///< that were brought again, by the twin or retransmitted
    std::uint64_t late = 0;      ///< delivered late
    std::uint64_t undecodable = 0;
    std::uint64_t outside_hours = 0;  ///< that nobody was to be told of
    std::uint64_t refused = 0;        ///< by full rings
    std::uint64_t lines = 0;
    std::uint64_t lines_exact = 0;
    std::uint64_t sides_fresh = 0;   ///< of books, compared with the truth
    std::uint64_t sides_vague = 0;   ///< stale or unknown
    std::uint64_t states_taken = 0;  ///< of series, from the twin
    std::uint64_t blocks_kept = 0;   ///< for peers: had to be
    std::uint64_t series_whole = 0;  ///< of books, in everything the truth's
    void add(const Weight& other);
};

/// What cores were told, line by line and message by message (core_check.cpp).
class Tellings {
  public:
    Tellings(const Plan& plan, const Truth& truth, const std::vector<LineExpectation>& lines,
             Host& host, Findings& findings);

    void check(Weight& weight);

  private:
    struct Told {
        std::uint8_t data_count = 0;  ///< times it was given to a core
        std::uint8_t cores = 0;       ///< that got it
        std::uint8_t late = 0;        ///< cores that got it late
        std::uint8_t lost = 0;        ///< cores that were told that it is lost
        std::uint8_t refused = 0;     ///< cores that were told that they missed it
    };

    struct CoreLine {
        Place next = 0;                ///< behind the newest that was in order
        const Block* reset = nullptr;  ///< the newest told
    };

    void read_core(std::size_t core);
    void check_end(std::size_t core);
    void read_data(std::size_t core, std::span<const feed::Event> event);
    void read_control(std::size_t core, const feed::Event& event);
    void read_reset(std::size_t core, const feed::Event& event, const Block& block);
    void read_gap(std::size_t core, const feed::Event& event);
    void note_place(std::size_t core, const feed::Event& event, const Block& block, Place place);
    void check_lines(Weight& weight);
    void check_place(std::size_t line, const Block& block, Place place);
    void check_sums(Weight& weight);
    void check_resets();
    void check_twin();
    [[nodiscard]] std::string name(std::size_t line, Place place) const;
    [[nodiscard]] std::uint64_t counted(std::size_t core,
                                        Counter actors::RingCounters::*counter) const;
    [[nodiscard]] std::uint64_t refused(std::size_t core) const;

    const Plan& plan_;
    const Truth& truth_;
    const std::vector<LineExpectation>& lines_;
    Host& host_;
    Findings& findings_;
    std::vector<std::vector<Told>> told_;                 ///< by line and place
    std::vector<std::vector<CoreLine>> at_;               ///< by core and line
    std::vector<std::vector<std::uint8_t>> resets_told_;  ///< by line and block: cores
    std::vector<std::uint64_t> lost_told_;     ///< by core: messages, repaired ones taken off
    std::vector<std::uint64_t> refused_told_;  ///< by core: messages
    std::uint64_t data_seen_ = 0;
};

void check_account(const Plan& plan, const Truth& truth, const std::vector<LineExpectation>& lines,
                   Host& host, Findings& findings);

void check_counts(const Plan& plan, const Truth& truth, const std::vector<LineExpectation>& lines,
                  Host& host, Findings& findings);

void check_history(const Truth& truth, const std::vector<LineExpectation>& lines, Host& host,
                   Findings& findings, Weight& weight);

/// `twin`: of each life of a twin that gave state.
void check_books(const Plan& plan, const Truth& truth, const std::vector<LineExpectation>& lines,
                 std::span<const std::vector<LineExpectation>> twin, Host& host, Findings& findings,
                 Weight& weight);

}  // namespace pinstrike::sim
