// path: cold
//
// `pinstrike gateway replay`, which a gateway starts for a client that asks for records of the
// past: replays the recording of the present trade date, and goes on with it. It gets a request on
// standard input (actors/gateway/replay_frames.h) and writes frames to standard output.
#include "actors/book/book_config.h"
#include "actors/command/command.h"
#include "actors/command/replay_config.h"
#include "actors/command/replay_range.h"
#include "actors/control/control_loop.h"
#include "actors/export/replay_actor.h"
#include "actors/gateway/replay_frames.h"
#include "actors/telemetry/log/log.h"
#include "config/wall_time.h"
#include "feed/recording/followed_recording.h"
#include "feed/recording/moment.h"
#include "nic/capture/replay_gate.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::command {
namespace {

using actors::gateway::ReplayFrame;
using actors::gateway::ReplayRequest;
using actors::gateway::ReplayWanted;

/// Codes of error records.
constexpr std::uint8_t code_internal = 6;
constexpr std::uint8_t code_aged_out = 8;

/// State from so long before the start: clocks of exchanges may be ahead of the receive times.
constexpr std::int64_t before_start_ns = 2'000'000'000;

bool write_output(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return true;
}

/// Sends the reason to the gateway, and ends the command.
[[noreturn]] void give_up(std::uint8_t code, const std::string& text) {
    std::vector<std::byte> bytes;
    ReplayFrame frame;
    frame.kind = ReplayFrame::Kind::error;
    frame.code = code;
    frame.text = text;
    put_frame(bytes, frame);
    static_cast<void>(write_output(bytes));
    throw Ended{};
}

/// It must not delay anything else, and must not outlive the gateway. Systems may refuse the first
/// two.
void be_idle() {
    constexpr int who_process = 1;
    constexpr int class_idle = 3 << 13;
    static_cast<void>(::syscall(SYS_ioprio_set, who_process, 0, class_idle));
    const sched_param none{};
    static_cast<void>(::sched_setscheduler(0, SCHED_IDLE, &none));
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

using CompleteNs = std::shared_ptr<std::atomic<std::int64_t>>;

/// What is replayed of the recording for these records.
ReplayRange part_of(const ReplayRequest& request, const CompleteNs& complete_ns) {
    const std::int64_t day_ns = feed::trade_date_begin_ns(wall_ns());
    const std::uint32_t date = feed::trade_date_of(wall_ns());
    std::int64_t start_ns = std::numeric_limits<std::int64_t>::max();
    for (const ReplayWanted& wanted : request.wanted) {
        start_ns = std::min(start_ns, wanted.start_ns == 0 ? day_ns : wanted.start_ns);
    }
    if (start_ns < day_ns) {
        give_up(code_aged_out,
                fmt::format("start: found {}, expected a moment of the present trade date {}, or "
                            "0: earlier days are not replayed",
                            actors::time_text(start_ns), date));
    }
    feed::PacketRange packets;
    packets.from_ns = day_ns;
    feed::FollowedRecording recording{request.folder, packets};
    Problems problems;
    if (!recording.look(problems) || !recording.has_packets()) {
        give_up(code_aged_out,
                fmt::format("start: no packet of the trade date {} is on disk{}", date,
                            problems.empty() ? "" : ": " + problems.front().text));
    }
    ReplayRange found;
    if (const auto snapshot = snapshot_before(request.folder, start_ns - before_start_ns)) {
        found.part.gate = std::make_shared<nic::ReplayGate>();
        found.from = {snapshot->path, start_ns - before_start_ns, found.part.gate};
        packets.from_ns = snapshot->begin_ns - before_snapshot_ns;
    }
    found.part.frames = std::make_shared<feed::FollowedPart>(
        request.folder, packets, [] { return wall_ns(); }, complete_ns);
    return found;
}

Exit replay() {
    be_idle();
    const std::string input{std::istreambuf_iterator<char>{std::cin}, {}};
    const auto request = actors::gateway::parse_replay_request(input);
    if (!request || request->wanted.empty()) {
        give_up(code_internal, "Internal error: the replay got a malformed request");
    }
    const CompleteNs complete_ns = std::make_shared<std::atomic<std::int64_t>>(0);
    const ReplaySource source{
        {request->folder}, request->config, {}, false, part_of(*request, complete_ns)};
    actors::FeedConfig config;
    try {
        config = replay_config(source);
    } catch (const Ended&) {
        give_up(code_internal, "Internal error: record_config, the feed's config, is wrong");
    }
    std::optional<actors::SnapshotBeginning> beginning;
    if (source.range.from) {
        beginning = {config.actors.get<actors::BookConfig>(), source.range.from->from_ns};
    }
    const actors::ReplayActor* actor = nullptr;
    const auto make_actor = [&] {
        auto made = std::make_unique<actors::ReplayActor>(request->wanted, beginning, complete_ns,
                                                          write_output);
        actor = made.get();
        return made;
    };
    make_single_core(config, make_actor, beginning.has_value());
    config.system_calls = actors::SystemCalls::free;
    actors::RunFeedOptions options;
    options.at_step = [&actor](const actors::Appliance&) {
        return actor->is_read() ? "" : std::string{"nobody reads the output"};
    };
    return actors::run_feed(config, options);
}

}  // namespace

/// Hidden, because only a gateway uses it.
void add_gateway_replay(CLI::App& gateway, Outcome& outcome) {
    CLI::App* command =
        gateway.add_subcommand("replay", "Used by the gateway: replays a recording");
    command->group("");
    command->callback([&outcome] { outcome.status = replay(); });
}

}  // namespace pinstrike::command
