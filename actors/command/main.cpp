// path: cold
#include "actors/command/command.h"
#include "config/nearest.h"
#include "config/version.h"
#include "feed/opra/traffic/generator.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <vector>

namespace pinstrike::command {

// Each command has a declaration here and an entry in `commands`.
void add_bench_actor(CLI::App& app, Outcome& outcome);
void add_bench_stages(CLI::App& app, Outcome& outcome);
void add_bench_state(CLI::App& app, Outcome& outcome);
void add_bench_stream(CLI::App& app, Outcome& outcome);
void add_bridge(CLI::App& app, Outcome& outcome);
void add_chain(CLI::App& app, Outcome& outcome);
void add_check(CLI::App& app, Outcome& outcome);
void add_ctl(CLI::App& app, Outcome& outcome);
void add_decode(CLI::App& app, Outcome& outcome);
void add_doctor(CLI::App& app, Outcome& outcome);
void add_explain(CLI::App& app, Outcome& outcome);
void add_forget(CLI::App& app, Outcome& outcome);
void add_gateway(CLI::App& app, Outcome& outcome);
void add_generate(CLI::App& app, Outcome& outcome);
#ifdef PINSTRIKE_KAFKA
void add_kafka(CLI::App& app, Outcome& outcome);
#endif
void add_latency(CLI::App& app, Outcome& outcome);
void add_plan(CLI::App& app, Outcome& outcome);
void add_record(CLI::App& app, Outcome& outcome);
void add_replay(CLI::App& app, Outcome& outcome);
void add_run(CLI::App& app, Outcome& outcome);
void add_support_bundle(CLI::App& app, Outcome& outcome);
void add_top(CLI::App& app, Outcome& outcome);

namespace {

/// Measurements are subcommands of `bench`.
void add_bench(CLI::App& app, Outcome& outcome) {
    CLI::App* command = app.add_subcommand("bench", "Measure the performance of this machine");
    command->require_subcommand(1);
    for (const AddCommand add :
         {add_bench_actor, add_bench_stages, add_bench_state, add_bench_stream}) {
        add(*command, outcome);
    }
}

constexpr std::array commands{
    AddCommand{add_bench},   AddCommand{add_bridge},   AddCommand{add_chain},
    AddCommand{add_check},   AddCommand{add_ctl},      AddCommand{add_decode},
    AddCommand{add_doctor},  AddCommand{add_explain},  AddCommand{add_forget},
    AddCommand{add_gateway}, AddCommand{add_generate},
#ifdef PINSTRIKE_KAFKA
    AddCommand{add_kafka},
#endif
    AddCommand{add_latency}, AddCommand{add_plan},     AddCommand{add_record},
    AddCommand{add_replay},  AddCommand{add_run},      AddCommand{add_support_bundle},
    AddCommand{add_top},
};

/// Opens /dev/full on each standard descriptor that is closed. Otherwise the next file or socket
/// would get the number of that descriptor, and messages would be written into it. Writes to
/// /dev/full fail, as writes to a closed descriptor should.
void fill_standard_descriptors() {
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
        if (::fcntl(descriptor, F_GETFD) < 0) {
            static_cast<void>(::open("/dev/full", O_RDWR));  // gets the lowest free number
        }
    }
}

/// Returns the innermost subcommand on the command line.
const CLI::App& deepest(const CLI::App& app) {
    const auto parsed = app.get_subcommands();
    return parsed.empty() ? app : deepest(*parsed.back());
}

std::vector<std::string> commands_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands({})) {
        names.push_back(command->get_name());
    }
    return names;
}

/// Reports a command that does not exist, because CLI11 only says that a command is missing.
void print_unknown_command(const CLI::App& app) {
    const CLI::App& asked = deepest(app);
    const std::vector<std::string> rest = app.remaining(true);
    if (asked.get_require_subcommand_min() > 0 && !rest.empty() && !rest.front().starts_with('-')) {
        complain("found no command \"{}\"{}", rest.front(),
                 did_you_mean(rest.front(), commands_of(asked)));
    }
}

int run(int argc, char** argv) {
    CLI::App app{
        "Pinstrike: kernel-bypass handler for US options market data, with single-threaded actors.",
        "pinstrike"};
    app.set_version_flag("--version", std::string{"pinstrike "} + version);
    app.require_subcommand(1);
    Outcome outcome;
    for (const AddCommand add : commands) {
        add(app, outcome);
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::RequiredError& error) {
        print_unknown_command(app);
        app.exit(error);
        return static_cast<int>(Exit::usage);
    } catch (const CLI::ParseError& error) {
        const int code = app.exit(error);
        return code == 0 ? 0 : static_cast<int>(Exit::usage);
    } catch (const Ended& ended) {
        return static_cast<int>(ended.status);
    } catch (const std::exception& error) {
        complain("{}", error.what());
        return static_cast<int>(Exit::failed);
    }
    return static_cast<int>(outcome.status);
}

}  // namespace
}  // namespace pinstrike::command

int main(int argc, char** argv) {
    // SIGXFSZ is ignored, so that a write beyond the limit on file sizes fails instead of ending
    // the program.
    static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
    pinstrike::command::fill_standard_descriptors();
    pinstrike::feed::register_traffic_generator(pinstrike::feed::opra::traffic::generator());
    return pinstrike::command::run(argc, argv);
}
