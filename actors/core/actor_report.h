// path: cold
//
// What an actor says of itself to those who show its figures, write the account, or exchange its
// state with peers. They know actors by this interface alone. An actor that has nothing to say
// overrides nothing.
#pragma once

#include "config/rows.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::actors {

class BusiestBoard;
struct StateRings;

/// A table of figures that actors publish as metrics, <subject>_<name>_<unit> each, without the
/// unit where it is a word of the name.
struct ActorTable {
    std::string_view of;       ///< what has them: "a book"
    std::string_view subject;  ///< "book"
    std::span<const Row> rows;
    bool gauges = false;  ///< they may go down; else they are counters
};

struct ActorFigures {
    ActorTable table;
    std::vector<std::uint64_t> values;  ///< by row
};

/// A figure in the account of the actor's core, by its JSON key.
using AccountRow = std::pair<std::string_view, std::uint64_t>;

class ActorReport {
  public:
    virtual ~ActorReport() = default;

    /// Of the tables of its kind. Any thread, at any time.
    [[nodiscard]] virtual std::vector<ActorFigures> figures() const { return {}; }

    /// Of the rows of its kind; actors of a core are summed up. After on_stop.
    [[nodiscard]] virtual std::vector<AccountRow> account_rows() const { return {}; }

    /// What a person should know though it stops nothing, in sentences. Any thread.
    [[nodiscard]] virtual std::vector<std::string> remarks() const { return {}; }

    /// Its most quoted series, for any thread; null: it ranks none.
    [[nodiscard]] virtual const BusiestBoard* busiest() const { return nullptr; }

    /// Before on_start, where peers exchange state: it gives its state through these rings and, if
    /// `takes`, asks a peer for it at the start. False: it has none, and leaves the rings.
    virtual bool join_transfer(bool /*takes*/, StateRings& /*rings*/) { return false; }

  protected:
    ActorReport() = default;
    ActorReport(const ActorReport&) = delete;
    ActorReport& operator=(const ActorReport&) = delete;
};

}  // namespace pinstrike::actors
