// path: cold
//
// Starts and ends recording on a running instance (`ctl record`).
#pragma once

#include "actors/appliance/appliance.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::actors {

class RecordCommand {
  public:
    explicit RecordCommand(Appliance& appliance) : appliance_(appliance) {}

    /// Records these lines too, until `end_ns` of the monotonic clock (nullopt: until stop()).
    /// None: those of the config. Another start replaces the one before. Returns why it cannot;
    /// empty: it does.
    [[nodiscard]] std::string start(const std::vector<std::uint16_t>& lines,
                                    std::optional<std::int64_t> end_ns);

    /// Records again what the config says. Returns why it cannot; empty: it does.
    [[nodiscard]] std::string stop();

    /// True: the time of the last start is over, so it was stopped.
    [[nodiscard]] bool step(std::int64_t now_ns);

  private:
    [[nodiscard]] bool has_recorder() const;
    void want(const std::optional<std::vector<std::uint16_t>>& lines);

    Appliance& appliance_;
    std::optional<std::int64_t> end_ns_;  ///< of the last start; nullopt: it has none
};

}  // namespace pinstrike::actors
