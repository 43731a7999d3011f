// path: cold
//
// `pinstrike replay`: runs captures through the production path of poller thread, rings, cores and
// actors. No message is refused, because the input can wait.
#include "actors/command/command.h"
#include "actors/command/progress.h"
#include "actors/command/range_options.h"
#include "actors/command/replay_config.h"
#include "actors/command/replay_range.h"
#include "actors/control/control_loop.h"
#include "actors/telemetry/counter_snapshot.h"
#include "config/form.h"

#include <string>
#include <vector>

namespace pinstrike::command {
namespace {

struct ReplayArguments {
    std::vector<std::string> files;
    RangeOptions range;
    std::vector<std::string> underlyings;
    std::string config;
    std::string pace = "max";
    std::string published;  ///< name; empty: nothing is published
    bool kept = false;
    actors::RunFeedOptions options;
};

Exit replay(const ReplayArguments& given) {
    const ReplaySource source{given.files, given.config, *nic::parse_pace(given.pace), false,
                              replay_range(given.files, given.range)};
    actors::FeedConfig config = replay_config(source);
    actors::PublishConfig& publish = config.publish;
    if (given.published.empty()) {
        publish = {};
    } else {
        if (!publish.on()) {  // otherwise the config says what is published, and where
            publish.memory = actors::PublishMemory::shm;
            publish.stream = true;
        }
        publish.name = given.published;
        publish.kept = given.kept;
    }
    config.replayed_underlyings = given.underlyings;
    actors::RunFeedOptions options = given.options;
    options.config_file = given.config;
    Progress progress{"messages", share_of(source)};
    options.at_step = [&progress](actors::Appliance& appliance) {
        progress.step([&appliance] {
            return actors::totals_of(actors::take_counter_snapshot(appliance)).delivered;
        });
        return std::string{};
    };
    options.at_stop = [&progress](const actors::RunEnd&) { progress.clear(); };
    options.at_end = [](const actors::Appliance& appliance) {
        return finish_snapshot(appliance.recovery().loader);
    };
    return actors::run_feed(config, options);
}

}  // namespace

void add_replay(CLI::App& app, Outcome& outcome) {
    const auto [command, given] =
        add_command(app, outcome, "replay",
                    "Run captures through the production path, without refusals", replay);
    command->footer(
        "Several files are merged by time. Without --config: all published lines, one poller, one\n"
        "core with a book. Timers run on the captures' time: every pace gives the same events.\n"
        "A part of a recording: moments are in New York time, or in UTC with a Z behind them.\n"
        "Without a date the recording must be of one day. With --from the books begin with the\n"
        "last snapshot of the day before it, and are whole from there on. The packets since the\n"
        "snapshot are replayed, too: the account counts them; actors without state of series,\n"
        "as yours may be, get only the events from --from on.\n"
        "With --underlyings all packets of the range are read, and counted in the account.\n"
        "Exit status: 0 success; 1 the account does not balance, or the captures did not all\n"
        "reach their lines: one was not read to its end (unreadable, damaged, cut, ended by a\n"
        "signal), packets of a line were cut by the snapshot length, or packets came and none\n"
        "reached a line (packets of other protocols such as ARP or TCP do not count); 78 wrong\n"
        "config.\n\n"
        "Examples:\n"
        "  pinstrike replay day.pcap --account account.json --book book.json\n"
        "  pinstrike replay a.pcap b.pcap --pace x10 --config config/opra.yaml\n"
        "  pinstrike replay recording --from 14:00 --to 14:05 --lines 1-4 --book book.json\n"
        "  pinstrike replay recording --from 14:00 --to 14:05 --underlyings SPY --book spy.json\n"
        "  pinstrike replay day.pcap --publish day --pace real");
    command
        ->add_option("FILE", given->files,
                     "Captures: pcap or pcapng (-: standard input), also compressed (gzip, zstd, "
                     "lz4, xz); a folder stands for all captures in it, such as a recording")
        ->required();
    add_range(*command, given->range);
    add_underlyings(*command, given->underlyings,
                    "Give actors only data of these underlyings, by root (default: all)");
    command->add_option(
        "--config", given->config,
        "Threads, lines and book of this config; of its ports, udp_checksum and sources");
    command->add_option("--pace", given->pace, "max, real, or xN (N times real)")
        ->capture_default_str()
        ->check([](const std::string& text) {
            return nic::parse_pace(text) ? std::string{}
                                         : "found " + text + ", expected max, real or xN";
        });
    command->add_option("--account", given->options.account_file,
                        "Write the account as JSON at the end (-: standard output)");
    command->add_option("--book", given->options.book_file,
                        "Write every series' state at the end (-: standard output)");
    CLI::Option* const publish =
        command
            ->add_option("--publish", given->published,
                         "Publish state and events under this name, as a feed does, for readers "
                         "of its memory; a config with publish.memory says what and where")
            ->check([](const std::string& text) {
                return is_name(text) ? std::string{}
                                     : "found " + text +
                                           ", expected letters, digits, "
                                           "'-', '_' and '.', at most 32";
            });
    command
        ->add_flag("--keep", given->kept,
                   "Leave the published memory after the end, until `pinstrike forget`")
        ->needs(publish);
}

}  // namespace pinstrike::command
