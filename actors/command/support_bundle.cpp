// path: cold
//
// `pinstrike support-bundle`: writes what remote support needs into one archive, which contains no
// secrets.
#include "actors/command/command.h"
#include "actors/command/support/archive.h"
#include "actors/command/support/parts.h"
#include "config/output_file.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

namespace pinstrike::command {

namespace {

struct BundleOptions {
    std::string config;
    std::string out;
    std::string log;
    std::string admin;
    bool keep_addresses = false;
};

Exit support_bundle(const BundleOptions& options) {
    if (!overwrites_none({options.out}, {options.config, options.log})) {
        return Exit::usage;
    }
    const std::tm now = fmt::gmtime(std::time(nullptr));
    actors::support::Subject subject = actors::support::read_subject(options.config);
    subject.log_file = options.log;
    if (!options.admin.empty()) {
        subject.instance = options.admin;
    }
    actors::support::Redactor redactor{options.keep_addresses};
    const std::vector<actors::support::Part> parts = actors::support::collect_parts(
        subject, redactor, fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", now));

    const std::string folder =
        fmt::format("pinstrike-{}-{:%Y%m%dT%H%M%SZ}",
                    std::filesystem::path(options.config).stem().string(), now);
    const std::string path = options.out.empty() ? folder + ".tar.gz" : options.out;
    std::string complaint;
    if (!actors::support::write_archive(path, folder, parts, complaint)) {
        complain("{}: {}", path, complaint);
        return Exit::failed;
    }
    std::fputs(fmt::format("{}{}\n", parts.back().text, path).c_str(), stdout);
    return Exit::ok;
}

}  // namespace

void add_support_bundle(CLI::App& app, Outcome& outcome) {
    const auto [command, options] =
        add_command(app, outcome, "support-bundle",
                    "Collect what support needs in one archive, without secrets", support_bundle);
    command->footer(
        "The config with the results of check, doctor and plan; account, metrics and latencies of\n"
        "the instance if it runs, the end of its log (the journal of pinstrike@NAME for\n"
        "NAME.yaml, or --log) and versions; MANIFEST lists for each part whether it is there, or\n"
        "why not. A broken config and an instance that is down are no obstacle. Run it as a user\n"
        "who may read config, secret and journal; read the archive before you send it.\n\n"
        "Never in it: secrets (the config only has paths of their files), comments of the config,\n"
        "and values of keys that pinstrike does not know. IPv4 addresses of hosts are replaced by\n"
        "host1, host2, ...; multicast groups stay.\n\n"
        "Exit status: 0 written, 1 it cannot be written (and no part of it is left), 2 wrong "
        "use.\n\n"
        "Examples:\n"
        "  pinstrike support-bundle /etc/pinstrike/opra.yaml\n"
        "  pinstrike support-bundle my.yaml --log pinstrike.log --out bundle.tar.gz");
    command->add_option("CONFIG", options->config, "A feed's YAML file")->required();
    command->add_option("--out", options->out,
                        "The archive (default: pinstrike-NAME-TIME.tar.gz in this folder)");
    command->add_option("--log", options->log, "A log file, instead of the journal");
    command->add_option("--admin", options->admin,
                        "The instance's admin socket (default: the one of the service)");
    command->add_flag("--keep-addresses", options->keep_addresses, "Keep the addresses of hosts");
}

}  // namespace pinstrike::command
