// path: cold
#include "actors/host/doctor/show.h"

#include <fmt/format.h>

#include <string_view>

namespace pinstrike::actors::doctor {
namespace {

constexpr std::string_view head = R"script(#!/bin/sh
#
# Fixes for what `pinstrike doctor` found on this host. Read this script before you run it as root,
# because it changes settings of the kernel and files in /etc. Nothing has run it. You can run it
# more than once.
#
# Each block is one finding. "Until the next boot": commands that apply at once, but not after a
# boot. "Kept": files that apply from the next boot on. "Boot loader": kernel parameters, which
# apply from the next boot on.
set -eu

if [ "$(id -u)" -ne 0 ]; then
    echo "run this script as root, because it changes the host" >&2
    exit 1
fi
)script";

constexpr std::string_view function_set_value = R"script(
# set_value FILE VALUE: writes the value to a file of the kernel
set_value() {
    printf '%s\n' "$2" >"$1"
}
)script";

constexpr std::string_view function_keep = R"script(
# keep FILE LINE...: replaces a file that only this script writes
keep() {
    file=$1
    shift
    mkdir -p "$(dirname "$file")"
    printf '%s\n' "$@" >"$file"
}
)script";

constexpr std::string_view function_boot_parameters = R"script(
# boot_parameters NAME WORDS: adds words to the kernel's command line, for update-grub at the end
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
    echo "boot to apply the kernel parameters" >&2
else
    echo "update-grub is missing: add these to the kernel's command line, and boot:" >&2
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

}  // namespace

std::string fix_script(const Findings& findings) {
    std::string blocks;
    for (const Finding& finding : findings) {
        if (finding.severity >= Severity::advice && !finding.fix.is_blank()) {
            blocks += block(finding);
        }
    }
    const auto calls = [&](std::string_view function) {
        return blocks.find(fmt::format("\n{} ", function)) != std::string::npos;
    };
    std::string out{head};
    // Includes only the functions that are used, so that the script is short to read.
    out += calls("set_value") ? function_set_value : "";
    out += calls("keep") ? function_keep : "";
    out += calls("boot_parameters") ? function_boot_parameters : "";
    out += blocks.empty() ? "\n# Nothing has to be fixed.\n" : blocks;
    out += calls("boot_parameters") ? tail_boot : "";
    return out;
}

}  // namespace pinstrike::actors::doctor
