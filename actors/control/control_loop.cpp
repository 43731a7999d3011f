// path: cold
#include "actors/control/control_loop.h"

#include "actors/control/admin_commands.h"
#include "actors/control/control_log.h"
#include "actors/control/end_while_opening.h"
#include "actors/control/reloader.h"
#include "actors/control/service_notify.h"
#include "actors/host/confine/rights.h"
#include "actors/telemetry/account.h"
#include "actors/telemetry/admin/admin_socket.h"
#include "actors/telemetry/counter_snapshot.h"
#include "actors/telemetry/metrics/metrics_endpoint.h"
#include "actors/telemetry/top/live_view.h"
#include "actors/topology/actor_kinds.h"
#include "config/memory_sizes.h"
#include "config/output_file.h"
#include "config/print_problems.h"
#include "config/time_units.h"
#include "config/units.h"
#include "config/version.h"
#include "config/wall_time.h"
#include "config/whole_file.h"
#include "nic/file_descriptor.h"
#include "nic/port_kind.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string_view>
#include <utility>

namespace pinstrike::actors {
namespace {

using admin::AdminSocket;

/// How long the end of a replay waits for a capture that is being read, because a pipe may bring
/// nothing.
constexpr std::int64_t read_patience_ns = 10'000'000'000;

/// All files that are read. No output may be one of them.
std::vector<std::string> inputs_of(const FeedConfig& config, const std::string& file) {
    const auto& tls = config.peer.tls;
    std::vector<std::string> inputs{
        file, config.series_map, config.peer.secret_file, tls.certificate, tls.key, tls.authority};
    for (const nic::PortConfig& port : config.ports) {
        const auto files = nic::property_of(port, &nic::PortKindRow::files);
        inputs.insert(inputs.end(), files.begin(), files.end());
    }
    return inputs;
}

/// Waits for SIGINT, SIGTERM and, unless it is ignored (nohup), SIGHUP instead of handling them.
/// Must be made before any thread. Threads inherit the blocked signals, so that only this object
/// receives them. The signals stay blocked, so that a second signal does not prevent a clean end
/// and the account.
class ControlSignals {
  public:
    ControlSignals() {
        sigemptyset(&set_);
        sigaddset(&set_, SIGINT);
        sigaddset(&set_, SIGTERM);

        struct sigaction hangup {};

        if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) {
            sigaddset(&set_, SIGHUP);
        }
        ::pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    }

    /// The signal that came; none after `timeout_ns`.
    [[nodiscard]] std::optional<int> wait(std::int64_t timeout_ns) const {
        const timespec timeout{timeout_ns / second_ns, timeout_ns % second_ns};
        const int signal = ::sigtimedwait(&set_, nullptr, &timeout);
        return signal > 0 ? std::optional{signal} : std::nullopt;
    }

  private:
    sigset_t set_{};
};

std::string starting_text(const FeedConfig& config, const std::string& file) {
    return fmt::format("pinstrike {}; {}; lines {}, ports {}, pollers {}, cores {}", version,
                       file.empty() ? "no config file" : "config " + file, config.lines.size(),
                       config.ports.size(), config.pollers.size(), config.cores.size());
}

std::string running_text(const Appliance& appliance) {
    constexpr auto mebi = static_cast<double>(mebibyte);
    const Topology& topology = appliance.topology();
    return fmt::format("all threads run; rings {:.1f} MiB, actors {:.1f} MiB",
                       static_cast<double>(topology.ring_bytes()) / mebi,
                       static_cast<double>(topology.actor_bytes()) / mebi);
}

/// SIGHUP also means that the terminal was closed. Then no user is left who could stop the program.
bool has_terminal() {
    return nic::FileDescriptor{::open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)}.valid();
}

/// The work of the control thread while the other threads run.
class ControlLoop {
  public:
    ControlLoop(Appliance& appliance, const RunFeedOptions& options, ControlLog& log,
                Reloader& reloader, AdminHandler& handler, ServiceNotify& service)
        : appliance_(appliance),
          options_(options),
          log_(log),
          reloader_(reloader),
          handler_(handler),
          service_(service) {
        if (options.view) {
            std::fflush(stdout);  // the view writes to the descriptor
            view_.emplace(STDOUT_FILENO, log.last_lines());
            log.keep_off_screen(::isatty(STDOUT_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1);
        }
    }

    /// Returns the reason for the end.
    RunEnd run(const ControlSignals& signals) {
        constexpr std::int64_t tick_ns = 20'000'000;
        while (!appliance_.input_ended()) {
            if (const std::optional<int> signal = signals.wait(tick_ns)) {
                if (*signal != SIGHUP) {
                    return {RunEnd::Kind::asked, *signal == SIGINT ? "SIGINT" : "SIGTERM"};
                }
                if (reloader_.file().empty() || has_terminal_) {
                    return {RunEnd::Kind::asked, "SIGHUP"};
                }
                service_.reloading();
                static_cast<void>(reloader_.reload(appliance_, log_, "SIGHUP"));
                service_.ready(take_counter_snapshot(appliance_));
            }
            step();
            if (!lost_port_.empty()) {
                return {RunEnd::Kind::port_lost,
                        "the interface of port " + lost_port_ + " was replaced"};
            }
            const std::string cause = options_.at_step ? options_.at_step(appliance_) : "";
            if (!cause.empty()) {
                return {RunEnd::Kind::asked, cause};
            }
            if (!handler_.drain_asked().empty()) {
                return {RunEnd::Kind::asked, handler_.drain_asked()};
            }
            if (options_.for_ns &&
                appliance_.seconds() * 1e9 >= static_cast<double>(*options_.for_ns)) {
                return {RunEnd::Kind::time, "the time of --for is over"};
            }
        }
        return {RunEnd::Kind::input, "the input has ended"};
    }

  private:
    void step() {
        constexpr double period_s = 1;
        if (appliance_.seconds() - looked_s_ >= period_s) {
            looked_s_ = appliance_.seconds();
            look();
        }
        log_.step();
        service_.step(appliance_);
        handler_.step();
    }

    /// Takes one snapshot of the counters for all outputs.
    void look() {
        for (const auto& [port, change] : appliance_.housekeep()) {
            log_change(port, change);
        }
        const CounterSnapshot counters = take_counter_snapshot(appliance_);
        log_.look(counters);
        service_.send_status(counters);
        if (view_) {
            view_->draw(counters);
        }
    }

    void log_change(const std::string& port, nic::InterfaceChange change) {
        const bool lost = change == nic::InterfaceChange::lost;
        lost_port_ = lost ? port : lost_port_;
        log_.add(lost ? LogCode::port_lost : LogCode::interface_replaced, "port " + port,
                 lost ? "its interface was deleted and created again: no packet is received from "
                        "it any more"
                      : "its interface was deleted and created again: its groups are joined on "
                        "the new one");
    }

    Appliance& appliance_;
    const RunFeedOptions& options_;
    ControlLog& log_;
    Reloader& reloader_;
    AdminHandler& handler_;
    ServiceNotify& service_;
    std::optional<top::LiveView> view_;
    double looked_s_ = 0;
    std::string lost_port_;
    bool has_terminal_ = has_terminal();
};

/// Checks at the start that the files written at the end can be written with the rights that
/// remain. Otherwise an error would show only after a day.
bool can_write_later(const std::vector<std::string>& outputs) {
    return std::ranges::count(outputs, false, can_write) == 0;  // all are tried
}

/// Drops the rights that were needed to open everything, and logs the remaining ones.
void confine(const FeedConfig& config, ControlLog& log) {
    const Confinement confinement = drop_rights(rights_kept(config), config.peer.present());
    const std::string feed = "feed " + config.name;
    for (const std::string& remark : confinement.remarks) {
        log.add(LogCode::remark, feed, remark);
    }
    const std::string_view calls =
        !CallFilter::in_this_build ? "free: this build's sanitizer makes system calls of its own"
        : config.system_calls == SystemCalls::free ? "free: the config says so"
                                                   : "filtered";
    log.add(
        LogCode::confined, feed,
        fmt::format("rights kept: {}; system calls of hot threads: {}", confinement.kept, calls));
}

/// The account in one paragraph.
std::string summary(const CounterSnapshot& counters) {
    const Totals totals = totals_of(counters);
    std::uint64_t series = 0;
    for (const auto& core : counters.cores) {
        for (const auto& [name, count] : account_rows_of(core)) {
            series += name == "series" ? count : 0;
        }
    }
    return fmt::format(
        "{}: {} packets, {} messages delivered, {} lost, {} refused, {} series, in {:.3f} s"
        " ({:.2f} M messages/s)\n",
        counters.feed, totals.packets, totals.delivered, totals.lost, totals.refused, series,
        counters.seconds,
        counters.seconds > 0 ? static_cast<double>(totals.delivered) / counters.seconds / 1e6
                             : 0.0);
}

/// Runs the control loop and returns the reason for the end. The admin socket is closed then.
RunEnd control(Appliance& appliance, const FeedConfig& config, const RunFeedOptions& options,
               std::unique_ptr<AdminSocket> admin, const HttpServer* metrics,
               const ControlSignals& signals, ControlLog& log, ServiceNotify& service) {
    Reloader reloader{config, options.config_file};
    AdminHandler handler{std::move(admin), appliance, reloader, log, metrics};
    return ControlLoop{appliance, options, log, reloader, handler, service}.run(signals);
}

bool write_outputs(Appliance& appliance, const CounterSnapshot& counters,
                   const RunFeedOptions& options) {
    // Writing to a pipe without a reader would block for ever, whereas a file is written soon.
    std::optional<EndWhileOpening> writing;
    if (is_written_directly(options.account_file) || is_written_directly(options.book_file)) {
        writing.emplace("writing account and book");
    }
    bool good =
        options.account_file.empty() || write_text(options.account_file, account_json(counters));
    if (!options.book_file.empty()) {
        Problems problems;
        const ActorKind& kind = default_actor_kind();
        kind.write_state(appliance.actors(kind.name()), options.book_file, problems);
        print_problems(problems);
        good = problems.empty() && good;
    }
    return good;
}

Exit finish(Appliance& appliance, const RunFeedOptions& options, const RunEnd& end,
            ControlLog& log) {
    Exit status = end.kind == RunEnd::Kind::port_lost ? Exit::failed : Exit::ok;
    const CounterSnapshot counters = take_counter_snapshot(appliance, Running::stopped);
    const auto wrong = imbalances(counters);
    for (const std::string& identity : wrong) {
        log.say(fmt::format("pinstrike: the account does not balance: {}\n", identity));
        status = Exit::failed;
    }
    log.say(fmt::format("{}{}{}\n", account_text(counters), summary(counters),
                        wrong.empty() ? "the account balances" : ""));
    for (const std::string& fault : capture_faults(counters, end)) {
        log.say(fmt::format("pinstrike: {}\n", fault));
        status = Exit::failed;
    }
    if (!write_outputs(appliance, counters, options)) {
        status = Exit::failed;
    }
    if (options.at_end && options.at_end(appliance) != Exit::ok) {
        status = Exit::failed;
    }
    return status;
}

/// What is open while a feed runs.
struct OpenFeed {
    std::unique_ptr<Appliance> appliance;  ///< null only with a problem
    std::unique_ptr<HttpServer> metrics;   ///< null: no metrics are served
    std::unique_ptr<AdminSocket> admin;    ///< null: there is no admin socket
};

OpenFeed open_feed(const FeedConfig& config, const RunFeedOptions& options, const ControlLog& log,
                   const ServiceNotify& service, Problems& problems) {
    OpenFeed feed;
    feed.appliance = Appliance::build(
        config, problems,
        {log.device_sink(), log.peer_sink(), log.recorder_sink(), log.recovered_sink()});
    if (feed.appliance == nullptr) {
        return feed;
    }
    if (options.metrics && !config.metrics_address.empty()) {
        feed.metrics = serve_feed_metrics(
            config.metrics_address,
            {[&appliance = *feed.appliance] { return take_counter_snapshot(appliance); },
             [&service] { return service.alive(); }, log.counters(), config.control_cpu},
            problems);
    }
    if (!options.admin_socket.empty()) {
        feed.admin = AdminSocket::open(options.admin_socket, problems);
    }
    return feed;
}

void log_opened(const OpenFeed& feed, const FeedConfig& config, ControlLog& log) {
    const std::string subject = "feed " + config.name;
    log.say(to_text(feed.appliance->topology(), config) +
            to_text(feed.appliance->series(), config));
    log.log_remarks(*feed.appliance);
    if (feed.metrics) {
        log.add(LogCode::metrics_open, subject,
                fmt::format("http://{}/metrics", config.metrics_address));
    }
    if (feed.admin) {
        log.add(LogCode::admin_open, subject, feed.admin->path());
    }
}

void log_running(const Appliance& appliance, const std::string& subject, ControlLog& log) {
    log.add(LogCode::running, subject, running_text(appliance));
    if (const MemoryFile* const file = appliance.published()) {
        log.add(LogCode::published, subject,
                fmt::format("{}, {} bytes", file->path(), grouped(file->bytes())));
    }
}

/// Starts the process that sends the state recorded before `until_ns`. It begins with the rights
/// that remain.
RecordedState recorded_state(const FeedConfig& config, const RunFeedOptions& options,
                             std::int64_t until_ns) {
    RecordedState recorded;
    if (options.recovers && recovers_state(config)) {
        recorded.process = StateProcess::start(
            "/proc/self/exe", {"record", "state", config.record.folder_of(config.name), "--config",
                               options.config_file, "--until-ns", std::to_string(until_ns)});
        if (recorded.process == nullptr) {
            recorded.failure =
                fmt::format("its process cannot be started: {}", std::strerror(errno));
        }
    }
    return recorded;
}

/// Ends the program without an account if a poller is blocked.
void stop(Appliance& appliance, ControlLog& log) {
    if (!appliance.pollers_end_within(read_patience_ns)) {
        log.say(
            "pinstrike: a poller is blocked while it reads a capture: ended without an account\n");
        std::_Exit(static_cast<int>(Exit::failed));
    }
    appliance.stop();
    log.finish(appliance);
}

}  // namespace

Exit run_feed(const FeedConfig& config, const RunFeedOptions& options) {
    const ControlSignals signals;
    std::signal(SIGPIPE, SIG_IGN);  // writing to a closed pipe is an error, and not the end
    ControlLog log(config.log_level);
    const ServiceManager manager = ServiceManager::of_environment();
    ServiceNotify service(manager);
    const std::string subject = "feed " + config.name;
    const std::int64_t begin_ns = pinstrike::wall_ns();
    log.add(LogCode::starting, subject, starting_text(config, options.config_file));
    std::vector<std::string> outputs = options.files_at_end;
    outputs.insert(outputs.end(), {options.account_file, options.book_file});
    if (!overwrites_none(outputs, inputs_of(config, options.config_file))) {
        return Exit::usage;
    }
    std::optional<EndWhileOpening> opening{"opening the feed"};
    Problems problems;
    OpenFeed feed = open_feed(config, options, log, service, problems);
    log.fetch_mail();
    print_problems(problems);
    if (!problems.empty()) {
        return exit_of(problems);
    }
    log_opened(feed, config, log);
    if (!manager.obstacle().empty()) {
        log.add(LogCode::remark, subject, manager.obstacle());
    }
    opening.reset();
    confine(config, log);
    if (!can_write_later(outputs)) {
        return Exit::failed;
    }
    Appliance& appliance = *feed.appliance;
    appliance.start(recorded_state(config, options, begin_ns));
    log_running(appliance, subject, log);
    service.ready(take_counter_snapshot(appliance));
    const RunEnd end = control(appliance, config, options, std::move(feed.admin),
                               feed.metrics.get(), signals, log, service);
    service.stopping();
    log.keep_off_screen(false);
    log.add(LogCode::stopping, subject, end.cause);
    if (options.at_stop) {
        options.at_stop(end);
    }
    stop(appliance, log);
    return finish(appliance, options, end, log);
}

}  // namespace pinstrike::actors
