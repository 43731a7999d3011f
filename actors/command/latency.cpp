// path: cold
//
// `pinstrike latency`: prints percentiles of every stage. They come from the metrics endpoint of a
// running instance, or from a replay of captures at their pace. A replay measures from the time
// when each packet was due.
#include "actors/command/command.h"
#include "actors/command/replay_config.h"
#include "actors/control/control_loop.h"
#include "actors/telemetry/latency/latency_text.h"
#include "actors/telemetry/latency/parse_reading.h"
#include "actors/telemetry/metrics/fetch.h"
#include "actors/topology/load_config.h"
#include "config/output_file.h"
#include "config/print_problems.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pinstrike::command {
namespace {

struct Arguments {
    std::string config;
    std::string from;
    double seconds = 0;  ///< length of the measurement; 0: since the start
    std::vector<std::string> captures;
    std::string pace = "real";
    std::string csv_file;
    std::string svg_file;
};

/// Returns the address of the endpoint. On an error, prints it, sets `status` and returns nothing.
std::optional<actors::HttpAddress> address_of(const Arguments& given, Exit& status) {
    std::string text = given.from;
    if (text.empty()) {
        Problems problems;
        const auto config = actors::load_config(given.config, problems);
        print_problems(problems);
        if (!config) {
            status = exit_of(problems);
            return std::nullopt;
        }
        if (config->metrics_address.empty()) {
            complain("{} names no metrics_address: an instance of it cannot be asked",
                     given.config);
            status = Exit::config;
            return std::nullopt;
        }
        text = actors::reachable_address(config->metrics_address);
    }
    std::string complaint;
    const auto address = actors::parse_http_address(text, complaint);
    if (!address) {
        complain("{}", complaint);
        status = Exit::usage;
    }
    return address;
}

std::optional<actors::LatencyReading> read(const actors::HttpAddress& address) {
    std::string complaint;
    std::optional<actors::LatencyReading> reading;
    if (const auto text = actors::fetch(address, "/latency", complaint)) {
        reading = actors::parse_reading(*text, complaint);
    }
    if (!reading) {
        complain("http://{}/latency: {}", address.text(), complaint);
    }
    return reading;
}

/// Reads the figures of the next `seconds` seconds; 0: since the start of the instance. On an
/// error, prints it and returns nothing.
std::optional<actors::LatencyReading> read(const actors::HttpAddress& address, double seconds) {
    const auto first = read(address);
    if (!first || seconds <= 0) {
        return first;
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    const auto second = read(address);
    if (second && second->running_s <= first->running_s) {
        complain("http://{}/latency: it was started anew, or has stopped, in between",
                 address.text());
        return std::nullopt;
    }
    return second ? std::optional{since(*second, *first)} : std::nullopt;
}

Exit write_report(const actors::LatencyReading& reading, const Arguments& given) {
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

Exit of_running(const Arguments& given) {
    Exit status = Exit::ok;
    const auto address = address_of(given, status);
    if (!address) {
        return status;
    }
    const auto reading = read(*address, given.seconds);
    return reading ? write_report(*reading, given) : Exit::failed;
}

Exit of_replay(const Arguments& given) {
    Exit status = Exit::ok;
    const auto config =
        replay_config({given.captures, given.config, *parse_pace(given.pace), true}, status);
    if (!config) {
        return status;
    }
    DriveOptions options;
    options.config_file = given.config;
    options.at_end = [&given](actors::Appliance& appliance) {
        return write_report(actors::latency_of(actors::take_counter_snapshot(appliance)), given);
    };
    return drive(*config, options);
}

/// Returns the error in the combination of arguments; empty: there is none.
std::string misuse(const Arguments& given) {
    if (given.captures.empty()) {
        return given.config.empty() && given.from.empty() ? "say which: CONFIG, --from or --replay"
                                                          : "";
    }
    if (!given.from.empty() || given.seconds > 0) {
        return "--replay goes with neither --from nor --seconds";
    }
    return "";
}

Exit latency(const Arguments& given) {
    if (const std::string wrong = misuse(given); !wrong.empty()) {
        complain("latency: {}", wrong);
        return Exit::usage;
    }
    std::vector<std::string> inputs = given.captures;
    inputs.push_back(given.config);
    if (!overwrites_none({given.csv_file, given.svg_file}, std::move(inputs))) {
        return Exit::usage;
    }
    if (!can_write(given.csv_file) || !can_write(given.svg_file)) {
        return Exit::failed;
    }
    return given.captures.empty() ? of_running(given) : of_replay(given);
}

}  // namespace

void add_latency(CLI::App& app, Outcome& outcome) {
    auto given = std::make_shared<Arguments>();
    CLI::App* command =
        app.add_subcommand("latency", "Percentiles of a running instance, or of a replay");
    command->footer(
        "Asks the metrics endpoint of a running instance, at the address in its config or at\n"
        "--from, for every stage of every thread: percentiles to 99.99 and the highest, of all\n"
        "samples and of those that overlap no stop of the machine; and the stops themselves.\n"
        "With --replay: of captures, played at their pace through the threads and lines of CONFIG\n"
        "(without it: one poller and one core, spinning); from when each packet was due.\n"
        "Exit status: 0 right, 1 it does not answer, or a capture was not read to its end, 2 wrong "
        "use, 78 the config is wrong.\n"
        "\nExamples:\n"
        "  pinstrike latency /etc/pinstrike/opra.yaml --seconds 10\n"
        "  pinstrike latency --from http://10.1.0.1:9464/metrics --svg now.svg --csv now.csv\n"
        "  pinstrike latency --replay day.pcap --pace x10");
    CLI::Option* config =
        command->add_option("CONFIG", given->config, "YAML file that the instance runs by");
    CLI::Option* from = command->add_option("--from", given->from, "Its address: http://host:port");
    config->excludes(from);
    command
        ->add_option("--seconds", given->seconds,
                     "What happens in so many seconds from now on (default: since the start)")
        ->check(CLI::Range(0.001, 86400.0));
    command->add_option("--replay", given->captures, "Captures to play, or folders of them");
    command->add_option("--pace", given->pace, "Of --replay: real, or xN (N times real)")
        ->capture_default_str()
        ->check([](const std::string& text) {
            const auto pace = parse_pace(text);
            return pace && pace->factor > 0 ? std::string{} : text + " is neither real nor xN";
        });
    command->add_option("--csv", given->csv_file,
                        "Write the percentiles, in ns (-: standard output, and no tables)");
    command->add_option("--svg", given->svg_file,
                        "Draw them: value by percentile, both logarithmic (-: as above)");
    command->callback([given, &outcome] { outcome.status = latency(*given); });
}

}  // namespace pinstrike::command
