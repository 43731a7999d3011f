// path: cold
#include "actors/control/admin_commands.h"

#include "actors/telemetry/admin/packet_request.h"
#include "actors/telemetry/admin/views.h"
#include "actors/telemetry/counter_snapshot.h"
#include "actors/telemetry/latency/reading_json.h"
#include "actors/topology/load_config.h"
#include "config/time_units.h"
#include "config/units.h"
#include "config/yaml.h"
#include "nic/clock.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::actors {
namespace {

using nlohmann::json;

/// Views, one a line. Requests for them are not logged.
constexpr std::array<std::string_view, 12> views{"status",     "lines",   "ports",   "threads",
                                                 "rings",      "actors",  "latency", "busiest",
                                                 "histograms", "metrics", "config",  "all"};

std::string line_of(const json& reply) {
    return reply.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
}

admin::Reply refusal(const std::string& why) {
    return {line_of({{"error", why}}), {}};
}

admin::Reply done() {
    return {line_of({{"done", true}}), {}};
}

/// Reads a whole number within the range from the request.
std::optional<std::uint32_t> number_in(const json& request, const char* name, std::uint32_t least,
                                       std::uint32_t most) {
    const auto found = request.find(name);
    if (found == request.end() || !found->is_number_unsigned()) {
        return std::nullopt;
    }
    const auto value = found->get<std::uint64_t>();
    return value >= least && value <= most ? std::optional{static_cast<std::uint32_t>(value)}
                                           : std::nullopt;
}

std::string text_in(const json& request, const char* name) {
    const auto found = request.find(name);
    return found != request.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

AdminHandler::AdminHandler(std::unique_ptr<admin::AdminSocket> socket, Appliance& appliance,
                           Reloader& reloader, ControlLog& log, const HttpServer* metrics)
    : appliance_(appliance),
      reloader_(reloader),
      log_(log),
      metrics_(metrics),
      record_(appliance),
      socket_(std::move(socket)) {}

void AdminHandler::step() {
    if (!socket_) {
        return;
    }
    if (record_.step(nic::monotonic_ns())) {
        log_request("record start", "its time is over: the config says again what is recorded");
    }
    const int error = socket_->step(
        nic::monotonic_ns(),
        [this](const std::string& request, const Asker& asker) { return answer(request, asker); });
    if (error != 0) {
        appliance_.control_counts().admin_untaken.add();
        log_.add(LogCode::admin_untaken, "feed " + appliance_.config().name,
                 fmt::format("connections cannot be accepted for 1 s: {}", std::strerror(error)));
    }
}

AdminHandler::Reply AdminHandler::answer(const std::string& request, const Asker& asker) {
    const json parsed = json::parse(request, nullptr, false);
    const std::string ask = parsed.is_object() ? text_in(parsed, "ask") : "";
    if (ask.empty()) {
        return refusal(R"(found no request, expected a line such as {"ask": "status"})");
    }
    if (std::find(views.begin(), views.end(), ask) != views.end()) {
        return {line_of(view(ask)), {}};
    }
    return act(parsed, ask, fmt::format("user {} (process {})", asker.user, asker.process));
}

AdminHandler::Reply AdminHandler::act(const json& request, const std::string& ask,
                                      const std::string& by) {
    if (ask == "log-level") {
        return set_level(request, by);
    }
    if (ask == "reload") {
        return reload(by);
    }
    if (ask == "clear") {
        clear(by);
        return done();
    }
    if (ask == "capture") {
        return capture(request, by);
    }
    if (ask == "record-start") {
        return start_recording(request, by);
    }
    if (ask == "record-stop") {
        return stop_recording(by);
    }
    if (ask == "drain") {
        log_request(by, "drain: the program ends");
        drain_asked_ = "drain, requested by " + by;
        return done();
    }
    return refusal(fmt::format(
        "found {}, expected status, lines, ports, threads, rings, actors, "
        "latency, busiest, histograms, metrics, config, all, log-level, reload, clear, capture, "
        "record-start, record-stop or drain",
        shown(ask)));
}

void AdminHandler::log_request(const std::string& by, const std::string& what) {
    log_.add(LogCode::admin_asked, "feed " + appliance_.config().name, by + ": " + what);
}

json AdminHandler::view(const std::string& ask) {
    const CounterSnapshot counters = take_counter_snapshot(appliance_);
    json reply = admin::views(counters, tally_, ask);
    reply["process"] = ::getpid();
    reply["config_file"] = reloader_.file();
    reply["counted_seconds"] = counters.seconds - cleared_s_;
    reply["log_level"] = word_of(reloader_.config().log_level);
    if (ask == "histograms") {
        reply["histograms"] = reading_json(latency_of(counters));
    }
    if (ask == "metrics") {
        reply["metrics"] = metrics_page(counters, log_.counters(),
                                        metrics_ != nullptr ? &metrics_->counters() : nullptr);
    }
    if (ask == "config") {
        reply["config"] = effective_config(reloader_.config());
    }
    return reply;
}

void AdminHandler::clear(const std::string& by) {
    tally_.clear([this] { static_cast<void>(view("all")); });
    appliance_.clear_maxima();
    cleared_s_ = appliance_.seconds();
    log_request(by, "the counts shown were reset");
}

AdminHandler::Reply AdminHandler::set_level(const json& request, const std::string& by) {
    const std::string word = text_in(request, "level");
    constexpr auto& words = log_level_words;
    const auto at = std::find(words.begin(), words.end(), word);
    if (at == words.end()) {
        return refusal("level: found " + shown(word) + ", expected debug, info, warning or error");
    }
    log_request(by, "log level " + word);
    reloader_.set_log_level(static_cast<LogLevel>(at - words.begin()), log_);
    return done();
}

AdminHandler::Reply AdminHandler::reload(const std::string& by) {
    const ReloadOutcome outcome = reloader_.reload(appliance_, log_, by);
    json changes = json::array();
    for (const ConfigChange& change : outcome.changes) {
        changes.push_back(
            {{"key", change.path}, {"before", change.before}, {"after", change.after}});
    }
    json reply{{"done", outcome.applied}, {"changes", std::move(changes)}};
    if (!outcome.applied) {
        reply["error"] = "refused; the previous config stays in force";
        reply["reasons"] = outcome.reasons;
    }
    if (outcome.waits) {
        reply["remark"] = waits_text;
    }
    return {line_of(reply), {}};
}

AdminHandler::Reply AdminHandler::capture(const json& request, const std::string& by) {
    using admin::PacketRequest;
    const auto line = number_in(request, "line", 0, 0xFFFF);
    const auto packets = number_in(request, "packets", 1, PacketRequest::packets_max);
    if (!line || !packets) {
        return refusal(fmt::format("expected a line's number and 1 to {} packets",
                                   PacketRequest::packets_max));
    }
    if (capturing_) {
        return refusal("another capture is in progress: a poller copies packets for one at a time");
    }
    std::string complaint;
    std::shared_ptr<PacketRequest> capture =
        PacketRequest::make(appliance_, static_cast<std::uint16_t>(*line), *packets, complaint);
    if (!capture) {
        return refusal(complaint);
    }
    log_request(by, fmt::format("capture of {} packets of line {}", *packets, *line));
    capturing_ = true;
    // Released with the connection, however it ends.
    const std::shared_ptr<void> turn{nullptr, [this](void*) { capturing_ = false; }};
    return {{}, [capture, turn](std::string& out) { return capture->step(out); }};
}

AdminHandler::Reply AdminHandler::start_recording(const json& request, const std::string& by) {
    constexpr std::uint32_t longest_s = 7 * 24 * 3600;
    const std::string text = text_in(request, "lines");
    const auto lines = text.empty() ? std::vector<std::uint16_t>{} : parse_ranges(text, 0);
    const bool limited = request.contains("seconds");
    const auto seconds = number_in(request, "seconds", 1, longest_s);
    if (!lines || (limited && !seconds)) {
        return refusal(
            fmt::format("expected lines such as \"1-4,12\", and 1 to {} seconds", longest_s));
    }
    const std::string complaint = record_.start(
        *lines, limited ? std::optional{nic::monotonic_ns() + *seconds * second_ns} : std::nullopt);
    if (!complaint.empty()) {
        return refusal(complaint);
    }
    log_request(
        by, fmt::format("record {}{}", text.empty() ? "the lines of the config" : "lines " + text,
                        limited ? fmt::format(" for {} s", *seconds) : " until it is stopped"));
    const FeedConfig& config = appliance_.config();
    return {line_of({{"done", true}, {"folder", config.record.folder_of(config.name)}}), {}};
}

AdminHandler::Reply AdminHandler::stop_recording(const std::string& by) {
    const std::string complaint = record_.stop();
    if (!complaint.empty()) {
        return refusal(complaint);
    }
    log_request(by, "record what the config says");
    return done();
}

}  // namespace pinstrike::actors
