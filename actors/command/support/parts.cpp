// path: cold
#include "actors/command/support/parts.h"

#include "actors/host/check_report.h"
#include "actors/host/doctor/judge.h"
#include "actors/host/doctor/read_host.h"
#include "actors/host/doctor/show.h"
#include "actors/telemetry/admin/admin_client.h"
#include "actors/topology/load_config.h"
#include "actors/topology/machine.h"
#include "actors/topology/plan/plan.h"
#include "config/version.h"
#include "config/yaml.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/utsname.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace pinstrike::actors::support {

namespace {

constexpr std::size_t log_bytes_max = 1U << 20;
constexpr std::string_view config_is_wrong = "the config is wrong: see check.txt";

Part config_part(const Subject& subject, Redactor& redactor) {
    Part part{"config.yaml", "", ""};
    if (!subject.config_text) {
        part.absent = "it cannot be read: see check.txt";
        return part;
    }
    part.text = redacted_config(*subject.config_text, redactor, part.absent);
    return part;
}

std::string problems_text(const Problems& problems) {
    std::string text;
    for (const Problem& problem : problems) {
        text += fmt::format("{}: {}\n",
                            problem.place.text().empty() ? "pinstrike" : problem.place.text(),
                            problem.text);
    }
    return text;
}

Part check_part(const Subject& subject, Redactor&) {
    if (!subject.config) {
        return {"check.txt", problems_text(subject.problems), ""};
    }
    const CheckReport report = check_report(*subject.config, false);
    return {"check.txt", problems_text(report.problems) + report.text, ""};
}

Part doctor_part(const Subject& subject, Redactor&) {
    std::vector<FeedConfig> configs;
    if (subject.config) {
        configs.push_back(*subject.config);
    }
    doctor::Host host = doctor::read_host();
    doctor::ask_kernel(host);
    return {"doctor.json", doctor::findings_json(doctor::judge(host, doctor::need_of(configs))),
            ""};
}

Part plan_part(const Subject& subject, Redactor&) {
    if (!subject.config) {
        return {"plan.txt", "", std::string{config_is_wrong}};
    }
    return {"plan.txt",
            plan::plan_text(plan::make_plan(*subject.config, read_machine(), "this machine")), ""};
}

/// The answer of the running instance to a request at its admin socket, or of the answer one member
/// that is a text.
Part asked_part(const Subject& subject, const char* name, const char* ask, const char* member) {
    Part part{name, "", ""};
    const auto reply = admin::ask_once(subject.instance, {{"ask", ask}}, part.absent);
    if (reply && reply->contains("error")) {  // an older version knows fewer requests
        part.absent = reply->at("error").dump();
    } else if (reply) {
        part.text = member != nullptr ? reply->value(member, "") : reply->dump() + '\n';
    }
    return part;
}

Part metrics_part(const Subject& subject, Redactor&) {
    return asked_part(subject, "metrics.txt", "metrics", "metrics");
}

/// Every bucket of every latency.
Part latency_part(const Subject& subject, Redactor&) {
    return asked_part(subject, "latency.json", "histograms", nullptr);
}

/// All counters, as `pinstrike ctl INSTANCE status --json` and the other views print them.
Part account_part(const Subject& subject, Redactor&) {
    return asked_part(subject, "account.json", "all", nullptr);
}

/// Removes the text up to the first line end, because the tail of a log begins within a line.
std::string whole_lines(std::string text) {
    return text.erase(0, text.find('\n') + 1);
}

Part log_of_file(const std::string& path) {
    Part part{"log.txt", "", ""};
    std::ifstream in{path, std::ios::binary | std::ios::ate};
    const std::streamoff size = in ? static_cast<std::streamoff>(in.tellg()) : -1;
    if (size < 0) {
        part.absent = fmt::format("{} cannot be read: {}", path, std::strerror(errno));
        return part;
    }
    const auto kept = std::min<std::streamoff>(size, log_bytes_max);
    in.seekg(size - kept);
    part.text.resize(static_cast<std::size_t>(kept));
    in.read(part.text.data(), kept);
    part.text.resize(static_cast<std::size_t>(std::max<std::streamoff>(in.gcount(), 0)));
    if (kept < size) {
        part.text = whole_lines(std::move(part.text));
    }
    return part;
}

/// The end of what journalctl prints of the unit. The name of the unit is in the environment
/// because it comes from the name of a file, which the shell must not interpret.
Part log_of_journal(const std::string& unit) {
    constexpr std::string_view ask =
        "exec timeout --signal=KILL {} journalctl --quiet --no-pager --no-hostname "
        "--output=short-iso --lines=5000 --unit \"$PINSTRIKE_UNIT\" </dev/null 2>/dev/null";
    constexpr int patience_s = 20;
    constexpr int not_found = 127;
    Part part{"log.txt", "", ""};
    ::setenv("PINSTRIKE_UNIT", unit.c_str(), 1);
    std::FILE* const output = ::popen(fmt::format(ask, patience_s).c_str(), "r");
    if (output == nullptr) {
        part.absent = std::strerror(errno);
        return part;
    }
    std::array<char, 65536> piece{};
    while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), output)) {
        part.text.append(piece.data(), count);
        if (part.text.size() > log_bytes_max) {
            part.text.erase(0, part.text.size() - log_bytes_max);
        }
    }
    const int status = ::pclose(output);
    if (WIFSIGNALED(status)) {
        part.absent = fmt::format("journalctl did not end within {} s", patience_s);
    } else if (WEXITSTATUS(status) == not_found) {
        part.absent = "journalctl: No such file or directory";
    } else if (status != 0) {
        part.absent = fmt::format("journalctl ended with status {}", WEXITSTATUS(status));
    } else if (part.text.empty()) {
        part.absent = fmt::format("the journal has nothing of {} that this user may read", unit);
        return part;
    } else if (part.text.size() == log_bytes_max) {
        part.text = whole_lines(std::move(part.text));
    }
    part.absent += part.absent.empty() ? "" : "; --log FILE reads one from there";
    return part;
}

Part log_part(const Subject& subject, Redactor&) {
    return subject.log_file.empty() ? log_of_journal(subject.unit) : log_of_file(subject.log_file);
}

std::string line_of(const std::string& file, std::string_view begin) {
    std::ifstream in{file};
    std::string line;
    while (std::getline(in, line)) {
        if (line.starts_with(begin)) {
            return line.substr(begin.size());
        }
    }
    return "unknown";
}

Part versions_part(const Subject&, Redactor&) {
    utsname kernel{};
    ::uname(&kernel);
    return {"versions.txt",
            fmt::format("pinstrike     {}\ncompiler      {}\nkernel        {} {} {}\n"
                        "distribution  {}\nprocessor    {}\n",
                        version, __VERSION__, kernel.sysname, kernel.release, kernel.machine,
                        line_of("/etc/os-release", "PRETTY_NAME="),
                        line_of("/proc/cpuinfo", "model name\t:")),
            ""};
}

/// A new part needs a function and a row here. The config comes first, because it shows what must
/// be redacted.
constexpr std::array parts{config_part,  check_part,   doctor_part, plan_part,    metrics_part,
                           latency_part, account_part, log_part,    versions_part};

Part manifest_of(const std::vector<Part>& all, const Subject& subject, const Redactor& redactor,
                 const std::string& when) {
    std::string text = fmt::format("support bundle of pinstrike {}, made {}\nconfig: {}\n", version,
                                   when, subject.config_file);
    text +=
        "secrets: removed; comments of the config as well, and values of keys it does not know\n";
    text += redactor.keeps_addresses()
                ? std::string{"addresses: unchanged\n"}
                : fmt::format("addresses: {} of hosts replaced by host1, host2, ...\n",
                              redactor.addresses_count());
    text += "\n";
    for (const Part& part : all) {
        text += part.absent.empty() ? fmt::format("{:<14} {} bytes\n", part.name, part.text.size())
                                    : fmt::format("{:<14} not there: {}\n", part.name, part.absent);
    }
    return {"MANIFEST", text, ""};
}

}  // namespace

Subject read_subject(const std::string& config_file) {
    Subject subject;
    subject.config_file = config_file;
    subject.instance = std::filesystem::path(config_file).stem().string();
    subject.unit = "pinstrike@" + subject.instance;
    subject.config_text = read_text(config_file, subject.problems);
    if (subject.config_text) {
        subject.config = parse_config(*subject.config_text, config_file, subject.problems);
    }
    return subject;
}

std::vector<Part> collect_parts(const Subject& subject, Redactor& redactor,
                                const std::string& when) {
    std::vector<Part> all;
    for (const auto make : parts) {
        Part part = make(subject, redactor);
        part.text = redactor.redacted(part.text);
        part.absent = redactor.redacted(part.absent);
        all.push_back(std::move(part));
    }
    Part manifest = manifest_of(all, subject, redactor, when);
    manifest.text = redactor.redacted(manifest.text);
    all.push_back(std::move(manifest));
    return all;
}

}  // namespace pinstrike::actors::support
