// path: cold
#include "actors/host/doctor/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace pinstrike::actors::doctor {
namespace {

constexpr std::string_view head = R"script(#!/bin/sh
#
# What `pinstrike doctor` would change on this host. Read it before you run it, as root: it changes
# the kernel's settings and files in /etc. Nothing ran it for you. It may be run again.
#
# Each block is one finding. "Until the next boot": acts at once, and is gone then. "Kept": a file
# that acts from the next boot on. "Boot loader": kernel parameters, which need a boot to act.
set -eu

if [ "$(id -u)" -ne 0 ]; then
    echo "this changes the host: run it as root" >&2
    exit 1
fi
)script";

constexpr std::string_view function_set_value = R"script(
# set_value FILE VALUE: into a file of the kernel's
set_value() {
    printf '%s\n' "$2" >"$1"
}
)script";

constexpr std::string_view function_keep = R"script(
# keep FILE LINE...: a file of our own, written anew
keep() {
    file=$1
    shift
    mkdir -p "$(dirname "$file")"
    printf '%s\n' "$@" >"$file"
}
)script";

constexpr std::string_view function_boot_parameters = R"script(
# boot_parameters NAME WORDS: for the kernel's command line, by GRUB (update-grub, at the end)
boot_parameters() {
    variable=GRUB_CMDLINE_LINUX_DEFAULT
    mkdir -p /etc/default/grub.d
    printf '%s="$%s %s"\n' "$variable" "$variable" "$2" \
        >"/etc/default/grub.d/pinstrike-$1.cfg"
}
)script";

constexpr std::string_view tail_boot = R"script(
# The boot loader
if command -v update-grub >/dev/null; then
    update-grub
    echo "boot to make the kernel parameters act" >&2
else
    echo "no update-grub here: add these to the kernel's command line, and boot:" >&2
    sed -n 's/^.*DEFAULT //; s/"$//p' /etc/default/grub.d/pinstrike-*.cfg >&2
fi
)script";

/// Text from outside (names of ports, drivers) must not end the comment that contains it.
std::string comment(std::string_view name, std::string_view text) {
    std::string line = fmt::format("# {:<7} ", name);
    for (const char letter : text) {
        line += static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F ? ' ' : letter;
    }
    return line + "\n";
}

void add_lines(std::string& out, std::string_view title, const std::vector<std::string>& lines) {
    if (lines.empty()) {
        return;
    }
    out += fmt::format("# {}:\n", title);
    for (const std::string& line : lines) {
        out += line + "\n";
    }
}

std::string block(const Finding& finding) {
    const Fix& fix = finding.fix;
    std::string out = fmt::format("\n# --- {}: {} ---\n", word_of(finding.severity), finding.id);
    out += comment(finding.what + ":", finding.seen);
    out += comment("wanted:", finding.wanted);
    out += comment("why:", finding.why);
    if (!fix.advice.empty()) {
        out += comment("note:", fix.advice);
    }
    if (fix.now.empty() && fix.lasting.empty()) {
        if (!fix.command.empty()) {
            out += comment("by hand:", fix.command);
        }
        return out + "# Nothing is done here.\n";
    }
    add_lines(out, "Until the next boot", fix.now);
    add_lines(out, fix.boot_loader ? "Boot loader" : "Kept", fix.lasting);
    return out;
}

bool is_blank(const Fix& fix) {
    return fix.command.empty() && fix.advice.empty();
}

}  // namespace

std::string fix_script(const Findings& findings) {
    std::string blocks;
    bool boot_loader = false;
    for (const Finding& finding : findings) {
        if (finding.severity >= Severity::advice && !is_blank(finding.fix)) {
            blocks += block(finding);
            boot_loader = boot_loader || finding.fix.boot_loader;
        }
    }
    std::string out{head};
    // Includes only the functions that are used, so that the script is short to read.
    if (blocks.find("\nset_value ") != std::string::npos) {
        out += function_set_value;
    }
    if (blocks.find("\nkeep ") != std::string::npos) {
        out += function_keep;
    }
    if (boot_loader) {
        out += function_boot_parameters;
    }
    out += blocks.empty() ? "\n# Nothing is to be mended.\n" : blocks;
    return boot_loader ? out + std::string{tail_boot} : out;
}

}  // namespace pinstrike::actors::doctor
