// path: cold
#include "actors/control/record_command.h"

#include "config/units.h"

#include <fmt/format.h>

#include <set>

namespace pinstrike::actors {

namespace {

constexpr const char* no_recorder =
    "the instance has no recorder: set `record: {on_demand: true}` in its config, and start it "
    "again";

}  // namespace

bool RecordCommand::has_recorder() const {
    return appliance_.recovery().recorder != nullptr;
}

/// Gives the pollers the lines of the config, and these as well.
void RecordCommand::want(const std::optional<std::vector<std::uint16_t>>& lines) {
    const RecordConfig& config = appliance_.config().record;
    LineSet wanted = config.on_demand ? LineSet{} : line_set(config.lines);
    if (lines) {
        wanted |= line_set(lines->empty() ? config.lines : *lines);
    }
    for (std::size_t i = 0; i < appliance_.pollers_count(); ++i) {
        const PollerTask& poller = appliance_.poller(i);
        poller.recorder()->want(places_of(wanted, line_numbers_of(poller)));
    }
}

std::string RecordCommand::start(const std::vector<std::uint16_t>& lines,
                                 std::optional<std::int64_t> end_ns) {
    if (!has_recorder()) {
        return no_recorder;
    }
    std::set<std::uint16_t> unknown{lines.begin(), lines.end()};
    unknown.erase(0);  // packets of no line
    for (std::size_t i = 0; i < appliance_.pollers_count(); ++i) {
        for (const std::uint16_t line : line_numbers_of(appliance_.poller(i))) {
            unknown.erase(line);
        }
    }
    if (!unknown.empty()) {
        return fmt::format("lines: found {}, expected lines of the feed, or 0",
                           ranges_text({unknown.begin(), unknown.end()}));
    }
    want(lines);
    end_ns_ = end_ns;
    return {};
}

std::string RecordCommand::stop() {
    if (!has_recorder()) {
        return no_recorder;
    }
    want(std::nullopt);
    end_ns_.reset();
    return {};
}

bool RecordCommand::step(std::int64_t now_ns) {
    return end_ns_ && now_ns >= *end_ns_ && stop().empty();
}

}  // namespace pinstrike::actors
