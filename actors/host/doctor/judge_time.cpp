// path: cold
#include "actors/host/doctor/fixes.h"
#include "actors/host/doctor/judge.h"

#include <fmt/format.h>

#include <array>

namespace pinstrike::actors::doctor {
namespace {

/// The required accuracy of figures that compare with the exchange's times. A packet's path through
/// the program takes less than a hundredth of it.
constexpr std::int64_t error_us_max = 1000;

void judge_clock_source(const Host& host, Findings& findings) {
    Finding finding{.id = "clock_source",
                    .severity = Severity::ok,
                    .what = "clock source of the kernel",
                    .seen = host.clock_source,
                    .wanted = "tsc",
                    .why =
                        "the program's clock is the time stamp counter, set by the kernel's: with "
                        "another source the two drift, and each reading costs a microsecond",
                    .fix = {}};
    if (host.clock_source.empty()) {
        finding.severity = Severity::unknown;
        finding.seen = "not visible";
    } else if (host.clock_source != "tsc") {
        finding.severity = Severity::warning;
        if (host.clock_sources.contains("tsc")) {
            finding.fix = boot_fix("clocksource", "clocksource=tsc");
            const std::string file =
                "/sys/devices/system/clocksource/clocksource0/current_clocksource";
            finding.fix.command = "echo tsc > " + file;
            finding.fix.now = {fmt::format("set_value {} tsc", file)};
        } else {
            finding.seen += "; the kernel does not offer tsc";
            finding.fix =
                advice_fix("`dmesg | grep -i tsc` says why it was given up; often an old firmware");
        }
    }
    findings.push_back(std::move(finding));
}

void judge_counter(const Host& host, Findings& findings) {
    Finding finding{.id = "tsc",
                    .severity = Severity::ok,
                    .what = "time stamp counter",
                    .seen = "constant_tsc, nonstop_tsc",
                    .wanted = "constant_tsc and nonstop_tsc",
                    .why =
                        "a counter that follows the frequency, or stops in sleep, gives wrong "
                        "times and wrong waits",
                    .fix = {}};
    const bool constant = host.cpu_flags.contains("constant_tsc");
    const bool nonstop = host.cpu_flags.contains("nonstop_tsc");
    if (host.cpu_flags.empty()) {
        finding.severity = Severity::unknown;
        finding.seen = "not visible";
    } else if (!constant || !nonstop) {
        // A hypervisor may hide features of the CPU.
        finding.severity = host.hypervisor ? Severity::warning : Severity::error;
        finding.seen = constant ? "constant_tsc, but not nonstop_tsc"
                                : (nonstop ? "nonstop_tsc, but not constant_tsc" : "neither");
        finding.fix =
            advice_fix(host.hypervisor ? "let the hypervisor show the flag (invtsc) to the machine"
                                       : "another processor: this one is too old");
    }
    findings.push_back(std::move(finding));
}

/// The programs that set the clock, as far as visible.
std::string who_sets(const Host& host) {
    // The kernel cuts names of processes to 15 characters.
    constexpr std::array<const char*, 7> programs{"ptp4l", "phc2sys",  "timemaster",     "chronyd",
                                                  "ntpd",  "openntpd", "systemd-timesyn"};
    std::string names;
    for (const char* program : programs) {
        if (host.runs(program)) {
            names += fmt::format("{}{}", names.empty() ? "" : ", ", program);
        }
    }
    return names;
}

std::string clock_text(const ClockState& clock, const std::string& who) {
    std::string text = clock.synchronised ? "synchronised" : "not synchronised";
    text += who.empty() ? ", by nobody that is seen here" : " by " + who;
    return text + fmt::format("; error {} us estimated, {} us at most; offset {} us",
                              clock.estimated_error_us, clock.maximum_error_us,
                              clock.offset_ns / 1000);
}

Fix clock_fix() {
    Fix fix;
    fix.command = "apt-get install chrony";
    fix.advice = "or ptp4l and phc2sys (package linuxptp), where the network has PTP";
    fix.lasting = {"apt-get install --yes chrony", "systemctl enable --now chrony.service"};
    return fix;
}

void judge_clock(const Host& host, Findings& findings) {
    Finding finding{.id = "clock",
                    .severity = Severity::ok,
                    .what = "clock set by NTP or PTP",
                    .seen = "adjtimex is not permitted",
                    .wanted = fmt::format("synchronised, error below {} us", error_us_max),
                    .why =
                        "latency from the exchange's time, hours of sessions and logs are as good "
                        "as this clock",
                    .fix = {}};
    const std::string who = who_sets(host);
    if (!host.clock) {
        finding.severity = Severity::unknown;
        findings.push_back(std::move(finding));
        return;
    }
    finding.seen = clock_text(*host.clock, who);
    if (!host.clock->synchronised) {
        const bool elsewhere = !host.container.empty() && who.empty();
        finding.severity = Severity::warning;
        finding.fix = elsewhere ? advice_fix("on the host, not in the container: chrony or PTP")
                                : clock_fix();
    } else if (host.clock->estimated_error_us > error_us_max) {
        finding.severity = Severity::warning;
        finding.fix = advice_fix("`chronyc tracking`; a nearer server, or PTP");
    } else if (who == "systemd-timesyn") {
        finding.severity = Severity::advice;
        finding.why =
            "timesyncd asks one server now and then and states no error: a few "
            "milliseconds may be hidden";
        finding.fix = clock_fix();
    }
    findings.push_back(std::move(finding));
}

}  // namespace

void judge_time(const Host& host, const Need& /*the same for all*/, Findings& findings) {
    judge_clock_source(host, findings);
    judge_counter(host, findings);
    judge_clock(host, findings);
}

}  // namespace pinstrike::actors::doctor
