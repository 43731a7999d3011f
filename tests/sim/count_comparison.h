// path: cold
#pragma once

#include "tests/sim/findings.h"
#include "tests/sim/held_rows.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

namespace pinstrike::sim {

/// Compares the counters of one object, and notes their rows as held.
class CountComparison {
  public:
    /// `whose`: the object, for example "line 4".
    CountComparison(std::string whose, Findings& findings, HeldRows& held)
        : whose_(std::move(whose)), findings_(findings), held_(held) {}

    /// For a value that is no row of a table.
    void expect(std::uint64_t wanted, std::uint64_t found, const std::string& what) {
        if (wanted != found) {
            findings_.add(fmt::format("counts, {}: {} is {}, not {}", whose_, what, found, wanted));
        }
    }

    /// The row is held by another comparison, for example by that of a sum.
    template <class... Tables>
    void note(Tables... rows) {
        (held_.note(rows), ...);
    }

    template <class Table>
    void expect(Table row, std::uint64_t wanted, std::uint64_t found) {
        held_.note(row);
        expect(wanted, found, name_of(row));
    }

    template <class Table>
    void expect_between(Table row, std::uint64_t least, std::uint64_t most, std::uint64_t found) {
        held_.note(row);
        if (found < least || found > most) {
            findings_.add(fmt::format("counts, {}: {} is {}, not {} to {}", whose_, name_of(row),
                                      found, least, most));
        }
    }

  private:
    std::string whose_;
    Findings& findings_;
    HeldRows& held_;
};

}  // namespace pinstrike::sim
