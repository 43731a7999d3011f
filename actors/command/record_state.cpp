// path: cold
//
// `pinstrike record state`: the state of all series at the end of a recording, for the books of a
// feed that starts again. `run` executes it.
#include "actors/appliance/feed_parts.h"
#include "actors/command/command.h"
#include "actors/command/replay_config.h"
#include "actors/command/replay_range.h"
#include "actors/peer/frames.h"
#include "actors/peer/state_frames.h"
#include "actors/publish/missing.h"
#include "actors/telemetry/log/log.h"
#include "actors/topology/load_config.h"
#include "actors/topology/machine.h"
#include "actors/topology/topology.h"
#include "config/wall_time.h"
#include "nic/capture/capture_config.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>

namespace pinstrike::command {
namespace {

struct RecordStateArguments {
    std::string folder;
    std::string config;
    std::int64_t until_ns = 0;
};

/// The feed that runs beside this process goes first, and its hot threads keep their processors. If
/// it ends, so does this process.
void stand_back(const actors::FeedConfig& feed) {
    constexpr int niceness = 5;
    static_cast<void>(::setpriority(PRIO_PROCESS, 0, niceness));
    static_cast<void>(::prctl(PR_SET_PDEATHSIG, SIGKILL));
    std::ofstream{"/proc/self/oom_score_adj"} << "1000";  // the kernel ends this process first
    if (feed.control_cpu >= 0) {
        static_cast<void>(actors::bind_this_thread(feed.control_cpu));
        return;
    }
    cpu_set_t cpus;
    if (::sched_getaffinity(0, sizeof cpus, &cpus) != 0) {
        return;
    }
    const auto leave = [&cpus](actors::CpuIndex cpu) {
        if (cpu >= 0) {
            CPU_CLR(static_cast<unsigned>(cpu), &cpus);
        }
    };
    std::ranges::for_each(feed.pollers, leave, &actors::PollerConfig::cpu);
    std::ranges::for_each(feed.cores, leave, &actors::CoreConfig::cpu);
    static_cast<void>(::sched_setaffinity(0, sizeof cpus, &cpus));
}

/// Poller, core and the loader of the snapshot on one thread, because there may be one processor.
class StateReplay {
  public:
    StateReplay(actors::FeedParts& parts, std::int64_t trade_date_begin_ns)
        : parts_(parts),
          trade_date_begin_ns_(trade_date_begin_ns),
          poller_(*parts.pollers.front().task),
          core_(*parts.cores.front().core),
          loader_(*parts.recovery.loader) {}

    void run() {
        core_.start();
        while (!poller_.exhausted() || !loader_.over()) {
            if (step() + loader_.step() == 0) {
                std::this_thread::sleep_for(std::chrono::microseconds(20));
            }
        }
        poller_.finish();
        // Marks state how far the lines have come, also if the last messages were for no actor.
        const std::uint64_t marked = poller_.counters().marked.read();
        while (poller_.counters().marked.read() == marked || !poller_.flush_pending()) {
            static_cast<void>(step());
        }
        while (step() != 0) {
        }
    }

    /// Writes the places of the lines and the states of the series. False: nobody reads them.
    bool write_state() {
        actors::peer::StateExchange& exchange = *parts_.recovery.exchange;
        if (exchange.begin()) {
            return false;
        }
        auto next = actors::peer::StateGiver::Next::nothing_yet;
        while (next != actors::peer::StateGiver::Next::end) {
            exchange.step();
            static_cast<void>(step());
            actors::StateRecord record;
            while ((next = exchange.next(record)) == actors::peer::StateGiver::Next::record) {
                write(record);
            }
            if (!write_out()) {
                return false;
            }
        }
        return true;
    }

  private:
    std::size_t step() {
        const std::int64_t now_ns = parts_.clock.wall_ns();
        return poller_.step(now_ns) + core_.step(now_ns);
    }

    /// The places of all lines come before the series.
    void write(const actors::StateRecord& record) {
        if (record.kind == actors::StateRecord::Kind::place) {
            places_[record.line] = record.place.sequence;
        } else if (!newer_written_) {
            newer_written_ = true;
            write_newer();
        }
        if (!newer_.contains({record.key.name, record.key.strike_e8})) {
            give(record);
        }
    }

    /// The last messages of a day may come after the snapshot.
    void give(const actors::StateRecord& record) {
        if (is_of_date(record.place, trade_date_begin_ns_)) {
            put(frames_, actors::peer::StateFrame{0, record});
        }
    }

    /// A crash loses the packets of the last second, but not a snapshot that was complete. So a
    /// snapshot can have state that is newer than the last packet of its line.
    void write_newer() {
        for (const actors::StateRecord& record : loader_.unjoined()) {
            const auto place = places_.find(record.line);
            if (record.kind == actors::StateRecord::Kind::series && place != places_.end() &&
                actors::sequence_after(record.place.sequence, place->second)) {
                newer_.emplace(record.key.name, record.key.strike_e8);
                give(record);
            }
        }
    }

    bool write_out() {
        while (!frames_.waiting().empty()) {
            const auto bytes = frames_.waiting();
            const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
            if (written < 0) {
                return false;
            }
            frames_.sent(static_cast<std::size_t>(written));
        }
        return true;
    }

    actors::FeedParts& parts_;
    std::int64_t trade_date_begin_ns_;
    actors::PollerTask& poller_;
    actors::Core& core_;
    actors::SnapshotLoader& loader_;
    actors::peer::FrameWriter frames_;
    std::map<std::uint16_t, std::uint32_t> places_;           ///< by line
    std::set<std::pair<std::uint64_t, std::int64_t>> newer_;  ///< names and strikes of series
    bool newer_written_ = false;
};

/// The config of the replay, whose only input is a part of the recording. It takes the packets that
/// the feed took, with the blocks that a peer repaired.
actors::FeedConfig replay_of(actors::FeedConfig feed, const std::string& folder,
                             ReplayRange range) {
    take_repairs(feed);
    actors::FeedConfig config = actors::recovery_config(feed);
    config.ports = {capture_port({{folder}, nic::Pace{}, std::move(range.part)}, feed)};
    config.pollers.front().ports = {config.ports.front().name};
    config.replay_from = std::move(range.from);
    return config;
}

/// As the end of a sentence; empty: there are none.
std::string outdated_text(const actors::SnapshotLoader& loader) {
    const std::uint64_t series = loader.outdated().read();
    return series == 0 ? ""
                       : fmt::format("; the states of {} series are of an earlier day", series);
}

/// What the recording lacks behind its snapshot, as the end of a sentence; empty: nothing. Says
/// which parts are damaged.
std::string missing_text(const actors::PollerTask& poller) {
    std::size_t damaged = 0;
    for (std::size_t i = 0; i < poller.ports_count(); ++i) {
        for (const std::string& sentence : poller.input(i).port->unread()) {
            complain("{}", sentence);
            ++damaged;
        }
    }
    std::uint64_t lost = 0;
    for (std::size_t i = 0; i < poller.lines_count(); ++i) {
        lost += poller.line(i).arbiter.counters().read(feed::LineCount::lost);
    }
    if (damaged == 0 && lost == 0) {
        return {};
    }
    return fmt::format(
        "; {} messages since its snapshot are missing in it{}", lost,
        damaged == 0 ? "" : fmt::format(", and {} parts of it are damaged", damaged));
}

Exit give_state(const RecordStateArguments& given) {
    const actors::FeedConfig feed = load_or_end(actors::load_config, given.config);
    stand_back(feed);
    ReplayRange range = range_behind_snapshot(given.folder, feed.name,
                                              given.until_ns == 0 ? wall_ns() : given.until_ns);
    const std::int64_t end_ns = range.part.from_ns;
    const std::int64_t trade_date_begin_ns = range.from->trade_date_begin_ns;
    Problems problems;
    const auto parts =
        actors::make_parts(replay_of(feed, given.folder, std::move(range)), problems, {});
    end_unless(parts != nullptr, problems, exit_of(problems));
    StateReplay replay{*parts, trade_date_begin_ns};
    replay.run();
    if (!replay.write_state()) {
        complain("nobody reads the state");
        return Exit::failed;
    }
    complain("of the recording up to {}{}{}", actors::time_text(end_ns),
             outdated_text(*parts->recovery.loader), missing_text(*parts->pollers.front().task));
    return Exit::ok;
}

}  // namespace

void add_record_state(CLI::App& record, Outcome& outcome) {
    const auto [command, given] = add_command(
        record, outcome, "state",
        "Write the state of all series at the end of a recording (for `run`)", give_state);
    command->footer(
        "`run` executes this at its start (key record.recover). It replays the recording from its\n"
        "last snapshot of the trade date, and writes frames of the peer protocol to standard\n"
        "output, and a sentence about them to standard error. Without such a snapshot it writes\n"
        "no frame.\n"
        "Exit status: 0 success; 1 the recording cannot be read; 78 wrong config.");
    command->add_option("FOLDER", given->folder, "The folder of the recording")->required();
    command->add_option("--config", given->config, "The config of the feed")->required();
    command->add_option("--until-ns", given->until_ns,
                        "Only segments begun before this time, in nanoseconds since 1970 (default: "
                        "now)");
}

}  // namespace pinstrike::command
