// path: cold
//
// `pinstrike ctl`: queries a running instance over its admin socket, or gives it a command.
#include "actors/command/command.h"
#include "actors/command/duration_option.h"
#include "actors/telemetry/admin/address.h"
#include "actors/telemetry/admin/admin_client.h"
#include "actors/telemetry/admin/packet_request.h"
#include "actors/telemetry/admin/view_text.h"
#include "config/log_level.h"
#include "config/output_file.h"
#include "config/time_units.h"
#include "config/units.h"
#include "nic/capture/capture_writer.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::command {
namespace {

using nlohmann::json;

struct CtlOptions {
    std::string instance;
    bool as_json = false;
    std::vector<std::uint16_t> lines;
    std::string level;
    std::uint16_t line = 0;
    std::uint32_t packets = 0;
    std::string out_file;
    std::string recorded_lines;
    std::int64_t record_ns = 0;  ///< 0: until it is stopped
};

Exit print(const std::string& text) {
    return write_text("-", text) ? Exit::ok : Exit::failed;
}

/// Returns the instance's answer to a request. If there is no answer, or if the instance refuses,
/// prints the reason and ends the command.
json ask(const CtlOptions& options, const json& request) {
    std::string complaint;
    auto reply = actors::admin::ask_once(options.instance, request, complaint);
    if (!reply) {
        complain("{}", complaint);
        throw Ended{};
    }
    if (reply->contains("error")) {
        complain("{}", reply->at("error").get<std::string>());
        for (const json& reason : reply->value("reasons", json::array())) {
            complain("{}", reason.get<std::string>());
        }
        throw Ended{};
    }
    return std::move(*reply);
}

bool wants(const CtlOptions& options, const json& line) {
    const auto number = line.at("line").get<std::uint16_t>();
    return std::find(options.lines.begin(), options.lines.end(), number) != options.lines.end();
}

Exit show_lines(const CtlOptions& options, const json& reply) {
    std::string text;
    std::size_t found = 0;
    for (const json& line : reply.at("lines")) {
        if (wants(options, line)) {
            text += actors::admin::line_text(line);
            found += 1;
        }
    }
    if (found < options.lines.size()) {
        complain("expected lines of the feed only");
        return Exit::failed;
    }
    return print(text);
}

Exit show(const CtlOptions& options, const std::string& view) {
    const json reply = ask(options, {{"ask", view}});
    if (options.as_json) {
        return print(reply.dump(2) + '\n');
    }
    if (view == "config") {
        return print(reply.at("config").get<std::string>());
    }
    if (view == "lines" && !options.lines.empty()) {
        return show_lines(options, reply);
    }
    return print(actors::admin::view_text(reply, view));
}

/// Shows the rings as well, because users who look at threads usually need them.
Exit show_threads(const CtlOptions& options) {
    const json reply = ask(options, {{"ask", "all"}});
    if (options.as_json) {
        return print(json{{"threads", reply.at("threads")}, {"rings", reply.at("rings")}}.dump(2) +
                     '\n');
    }
    return print(actors::admin::view_text(reply, "threads") + '\n' +
                 actors::admin::view_text(reply, "rings"));
}

Exit act(const CtlOptions& options, const json& request) {
    const json reply = ask(options, request);
    if (options.as_json) {
        return print(reply.dump(2) + '\n');
    }
    std::string text;
    if (const auto folder = reply.find("folder"); folder != reply.end()) {
        text += "recording into " + folder->get<std::string>() + '\n';
    }
    for (const json& change : reply.value("changes", json::array())) {
        text += fmt::format("{}: {} -> {}\n", change.at("key").get<std::string>(),
                            change.at("before").get<std::string>(),
                            change.at("after").get<std::string>());
    }
    if (reply.contains("changes") && text.empty()) {
        text = "nothing differs\n";
    }
    if (const auto remark = reply.find("remark"); remark != reply.end()) {
        text += remark->get<std::string>() + '\n';
    }
    return print(text);
}

std::vector<std::byte> bytes_of(const std::string& hex) {
    const auto digit = [](char letter) {
        return static_cast<unsigned>(letter <= '9' ? letter - '0' : letter - 'a' + 10);
    };
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
        bytes.push_back(static_cast<std::byte>(digit(hex[i]) << 4 | digit(hex[i + 1])));
    }
    return bytes;
}

/// Prints for a user at a terminal what the command waits for, because no packet may ever arrive on
/// a silent line.
void print_what_is_awaited(const CtlOptions& options) {
    if (::isatty(STDERR_FILENO) == 1) {
        complain(
            "the next {} packets of line {} as they are received; Ctrl-C keeps those received "
            "until then",
            options.packets, options.line);
    }
}

Exit capture(const CtlOptions& options) {
    if (!overwrites_none({options.out_file}, {options.instance})) {
        return Exit::usage;
    }
    if (!can_write(options.out_file)) {
        return Exit::failed;
    }
    print_what_is_awaited(options);
    Problems problems;
    // Not opened before there is something to write, because that empties an existing file.
    std::optional<nic::CaptureWriter> writer;
    const auto open = [&] {
        if (!writer) {
            writer = nic::CaptureWriter::open(options.out_file, problems);
        }
        return writer.has_value();
    };
    std::optional<json> last;
    std::string complaint;
    const auto take = [&](const std::string& line) {
        json packet = json::parse(line, nullptr, false);
        if (!packet.is_object() || !packet.contains("frame")) {
            last = std::move(packet);
            return false;
        }
        if (!open()) {
            return false;
        }
        writer->write(bytes_of(packet.at("frame").get<std::string>()),
                      packet.at("ts_ns").get<std::int64_t>());
        writer->flush();
        return true;
    };
    const json request{{"ask", "capture"}, {"line", options.line}, {"packets", options.packets}};
    const bool asked = actors::admin::ask(actors::admin::socket_path(options.instance),
                                          request.dump(), take, true, complaint);
    const bool complete = asked && last && last->contains("skipped");
    const bool written = (complete ? open() : writer.has_value()) && writer->close(problems);
    print_problems(problems);
    if (!complete) {
        if (!asked) {
            complain("{}", complaint);
        } else if (problems.empty()) {
            complain("{}", last && last->contains("error") ? last->at("error").get<std::string>()
                                                           : "the instance ended meanwhile");
        }
        return Exit::failed;
    }
    if (const auto skipped = last->at("skipped").get<std::uint64_t>(); skipped != 0) {
        complain("{} packets between these were received faster than they could be copied",
                 skipped);
    }
    return written ? Exit::ok : Exit::failed;
}

Exit start_recording(const CtlOptions& options) {
    json request{{"ask", "record-start"}};
    if (!options.recorded_lines.empty()) {
        request["lines"] = options.recorded_lines;
    }
    if (options.record_ns != 0) {
        request["seconds"] = (options.record_ns + second_ns - 1) / second_ns;
    }
    return act(options, request);
}

/// Adds INSTANCE to the usage of a subcommand, because CLI11 leaves out the arguments of the parent
/// command.
class UsageBehindInstance : public CLI::Formatter {
  public:
    std::string make_usage(const CLI::App* app, std::string name) const override {
        constexpr std::string_view parent = " ctl ";
        const std::size_t behind = name.rfind(parent) + parent.size();
        return CLI::Formatter::make_usage(app, name.insert(behind, "INSTANCE "));
    }
};

using Run = std::function<Exit(const CtlOptions&)>;

CLI::App* add(CLI::App* ctl, const std::shared_ptr<CtlOptions>& options, Outcome& outcome,
              const std::string& name, const std::string& sentence, Run run) {
    CLI::App* command = ctl->add_subcommand(name, sentence);
    command->formatter(std::make_shared<UsageBehindInstance>());
    command->add_flag("--json", options->as_json, "Print the answer as JSON");
    command->callback(
        [options, &outcome, run = std::move(run)] { outcome.status = run(*options); });
    return command;
}

void add_views(CLI::App* ctl, const std::shared_ptr<CtlOptions>& options, Outcome& outcome) {
    const auto view = [](const char* name) {
        return [name](const CtlOptions& given) { return show(given, name); };
    };
    add(ctl, options, outcome, "status", "Totals, and the lines and streams that are not heard",
        view("status"));
    add(ctl, options, outcome, "lines",
        "One row for each line: state, losses, first stream and skew; or all counts of the lines "
        "given",
        view("lines"))
        ->add_option("LINE", options->lines, "Numbers of lines");
    add(ctl, options, outcome, "ports", "Packets, drops by reason, and what devices missed",
        view("ports"));
    add(ctl, options, outcome, "cores", "Poll and actor threads, and the rings between them",
        show_threads);
    add(ctl, options, outcome, "actors",
        "How long messages wait for actors, and how long actors take", view("actors"));
    add(ctl, options, outcome, "latency", "Percentiles of both stages", view("latency"));
    add(ctl, options, outcome, "config", "The config in force, every key with its value",
        view("config"));
}

void add_actions(CLI::App* ctl, const std::shared_ptr<CtlOptions>& options, Outcome& outcome) {
    const auto asking = [](const char* what) {
        return [what](const CtlOptions& given) { return act(given, {{"ask", what}}); };
    };
    add(ctl, options, outcome, "reload",
        "Read the config file again: apply all changes, or name those that cannot be applied",
        asking("reload"));
    add(ctl, options, outcome, "log-level", "Log from this level on, until the next reload",
        [](const CtlOptions& given) {
            return act(given, {{"ask", "log-level"}, {"level", given.level}});
        })
        ->add_option("LEVEL", options->level, "debug, info, warning or error")
        ->required()
        ->check(CLI::IsMember(log_level_words));
    add(ctl, options, outcome, "clear",
        "Reset the counts that ctl and top show, and maxima; counters of metrics continue",
        asking("clear"));
    add(ctl, options, outcome, "drain",
        "Stop receiving, empty the rings, print the account and end", asking("drain"));
    CLI::App* captured = add(ctl, options, outcome, "capture",
                             "Write the next packets of a line to a capture, as received", capture);
    captured->add_option("LINE", options->line, "The line's number")->required();
    captured->add_option("PACKETS", options->packets, "Number of packets, of both streams together")
        ->required()
        ->check(CLI::Range(1U, actors::admin::PacketRequest::packets_max));
    captured->add_option("--out", options->out_file, "File to write: .pcapng, otherwise pcap")
        ->required();
}

void add_recording(CLI::App* ctl, const std::shared_ptr<CtlOptions>& options, Outcome& outcome) {
    CLI::App* record =
        ctl->add_subcommand("record", "Start and stop recording, of an instance with a recorder");
    record->formatter(std::make_shared<UsageBehindInstance>());
    record->require_subcommand(1);
    CLI::App* start =
        add(record, options, outcome, "start",
            "Record these lines too, for a while or until it is stopped", start_recording);
    start
        ->add_option("--lines", options->recorded_lines,
                     "Lines such as 1-4,12; 0: packets of no line (default: those of the config)")
        ->check([](const std::string& text) {
            return parse_ranges(text, 0) ? std::string{}
                                         : "found " + text + ", expected numbers such as 1-4,12";
        });
    add_duration(*start, "--for", options->record_ns, "How long (default: until it is stopped)");
    add(record, options, outcome, "stop", "Record again what the config says",
        [](const CtlOptions& given) {
            return act(given, {{"ask", "record-stop"}});
        });
}

}  // namespace

void add_ctl(CLI::App& app, Outcome& outcome) {
    auto options = std::make_shared<CtlOptions>();
    CLI::App* ctl = app.add_subcommand("ctl", "Query or control a running instance");
    ctl->footer(
        "INSTANCE is the name of a service (opra: /run/pinstrike/opra/admin.sock), its config\n"
        "(/etc/pinstrike/opra.yaml), or the path of an admin socket (`run --admin PATH`). Only "
        "root\n"
        "and the instance's group may connect.\n\n"
        "A reload applies all changes or none. These keys can change while it runs, without loss\n"
        "of messages: log_level, silence, arbitration.window, ports.sources, block_checksum,\n"
        "test_symbols; and lines can be added. Other changes are refused by name, and the\n"
        "previous config stays in force.\n\n"
        "Exit status: 0 done, 1 refused or no answer, 2 wrong use.\n\n"
        "Examples:\n"
        "  pinstrike ctl opra status\n"
        "  pinstrike ctl opra lines 3 7\n"
        "  pinstrike ctl opra reload\n"
        "  pinstrike ctl opra capture 3 1000 --out line3.pcapng\n"
        "  pinstrike ctl opra record start --lines 3 --for 60s\n"
        "  pinstrike ctl ./admin.sock status --json");
    ctl->add_option("INSTANCE", options->instance, "Name of the service, its config, or a path")
        ->required();
    ctl->require_subcommand(1);
    add_views(ctl, options, outcome);
    add_actions(ctl, options, outcome);
    add_recording(ctl, options, outcome);
}

}  // namespace pinstrike::command
