// path: cold
//
// `pinstrike latency`: prints percentiles of every stage. They come from the admin socket of a
// running instance, or from a replay of captures at their pace. A replay measures from the time
// when each packet was due.
#include "actors/command/command.h"
#include "actors/command/replay_config.h"
#include "actors/control/control_loop.h"
#include "actors/telemetry/admin/admin_client.h"
#include "actors/telemetry/latency/latency_text.h"
#include "actors/telemetry/latency/reading_json.h"
#include "config/output_file.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pinstrike::command {
namespace {

struct LatencyArguments {
    std::string instance;  ///< of a replay: the config; empty: none
    double seconds = 0;    ///< length of the measurement; 0: since the start
    std::vector<std::string> captures;
    std::string pace = "real";
    std::string csv_file;
    std::string svg_file;
};

actors::LatencyReading read(const std::string& instance) {
    std::string complaint;
    std::optional<actors::LatencyReading> reading;
    if (const auto answer = actors::admin::ask_once(instance, {{"ask", "histograms"}}, complaint)) {
        reading = actors::parse_reading(*answer, complaint);
    }
    if (!reading) {
        complain("latency: {}", complaint);
        throw Ended{};
    }
    return std::move(*reading);
}

/// Reads the figures of the next `seconds` seconds; 0: since the start of the instance.
actors::LatencyReading read(const std::string& instance, double seconds) {
    actors::LatencyReading first = read(instance);
    if (seconds <= 0) {
        return first;
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    const actors::LatencyReading second = read(instance);
    if (second.running_s <= first.running_s) {
        complain("latency: {} was started anew in between", instance);
        throw Ended{};
    }
    return since(second, first);
}

Exit write_report(const actors::LatencyReading& reading, const LatencyArguments& given) {
    bool written = true;
    if (given.csv_file != "-" && given.svg_file != "-") {
        written = write_text("-", actors::latency_text(reading));
    }
    if (!given.csv_file.empty()) {
        written = write_text(given.csv_file, actors::latency_csv(reading)) && written;
    }
    if (!given.svg_file.empty()) {
        written = write_text(given.svg_file, actors::latency_svg(reading)) && written;
    }
    return written ? Exit::ok : Exit::failed;
}

Exit of_running(const LatencyArguments& given) {
    if (!overwrites_none({given.csv_file, given.svg_file}, {given.instance})) {
        return Exit::usage;
    }
    if (!can_write(given.csv_file) || !can_write(given.svg_file)) {
        return Exit::failed;
    }
    return write_report(read(given.instance, given.seconds), given);
}

Exit of_replay(const LatencyArguments& given) {
    const actors::FeedConfig config =
        replay_config({given.captures, given.instance, *nic::parse_pace(given.pace), true});
    actors::RunFeedOptions options;
    options.config_file = given.instance;
    options.at_end = [&given](actors::Appliance& appliance) {
        return write_report(actors::latency_of(actors::take_counter_snapshot(appliance)), given);
    };
    options.files_at_end = {given.csv_file, given.svg_file};
    return actors::run_feed(config, options);
}

/// Returns the error in the combination of arguments; empty: there is none.
std::string misuse(const LatencyArguments& given) {
    if (given.captures.empty()) {
        return given.instance.empty() ? "say which: INSTANCE or --replay" : "";
    }
    return given.seconds > 0 ? "--replay goes without --seconds" : "";
}

Exit latency(const LatencyArguments& given) {
    if (const std::string wrong = misuse(given); !wrong.empty()) {
        complain("latency: {}", wrong);
        return Exit::usage;
    }
    return given.captures.empty() ? of_running(given) : of_replay(given);
}

}  // namespace

void add_latency(CLI::App& app, Outcome& outcome) {
    const auto [command, given] = add_command(
        app, outcome, "latency", "Percentiles of a running instance, or of a replay", latency);
    command->footer(
        "INSTANCE as of `pinstrike ctl`. Asks its admin socket for every stage of every thread:\n"
        "percentiles to 99.99 and the highest, of all samples and of those that overlap no "
        "preemption\n"
        "of the thread; and the preemptions themselves. With --replay: of captures, played at\n"
        "their pace through the threads and lines of a config (without it: one poller and one\n"
        "core, spinning); from when each packet was due.\n"
        "Exit status: 0 right, 1 it does not answer, or captures did not all reach their lines\n"
        "(`pinstrike replay --help`), 2 wrong use, 78 the config is wrong.\n"
        "\nExamples:\n"
        "  pinstrike latency opra --seconds 10\n"
        "  pinstrike latency ./admin.sock --svg now.svg --csv now.csv\n"
        "  pinstrike latency --replay day.pcap --pace x10");
    command->add_option("INSTANCE", given->instance,
                        "Name of the service, its config, or a path; of --replay: a config");
    command
        ->add_option("--seconds", given->seconds,
                     "What happens in so many seconds from now on (default: since the start)")
        ->check(CLI::Range(0.001, 86400.0));
    command->add_option("--replay", given->captures, "Captures to play, or folders of them");
    command->add_option("--pace", given->pace, "Of --replay: real, or xN (N times real)")
        ->capture_default_str()
        ->check([](const std::string& text) {
            const auto pace = nic::parse_pace(text);
            return pace && pace->factor > 0 ? std::string{} : text + " is neither real nor xN";
        });
    command->add_option("--csv", given->csv_file,
                        "Write the percentiles, in ns (-: standard output, and no tables)");
    command->add_option("--svg", given->svg_file,
                        "Draw them: value by percentile, both logarithmic (-: as above)");
}

}  // namespace pinstrike::command
