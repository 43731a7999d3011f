// path: cold
#include "actors/host/doctor/fixes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pinstrike::actors::doctor {

std::string shell_word(std::string_view text) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
    if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos) {
        return std::string{text};
    }
    std::string word = "'";
    for (const char letter : text) {
        word += letter == '\'' ? std::string{"'\\''"} : std::string{letter};
    }
    return word + "'";
}

Fix sysctl_fix(std::string_view key, std::int64_t value) {
    std::string file{key};
    std::replace(file.begin(), file.end(), '/', '-');
    const std::string command = "sysctl -w " + shell_word(fmt::format("{}={}", key, value));
    return {command,
            "",
            {command},
            {fmt::format("keep {} {}",
                         shell_word(fmt::format("/etc/sysctl.d/60-pinstrike-{}.conf", file)),
                         shell_word(fmt::format("{} = {}", key, value)))}};
}

Fix sysfs_fix(std::string_view name, const std::vector<FileValue>& values) {
    Fix fix;
    std::string rows;
    for (const FileValue& value : values) {
        fix.command += fmt::format("{}echo {} > {}", fix.command.empty() ? "" : "; ",
                                   shell_word(value.value), shell_word(value.file));
        fix.now.push_back(
            fmt::format("set_value {} {}", shell_word(value.file), shell_word(value.value)));
        rows += " \\\n    " + shell_word(fmt::format("w {} - - - - {}", value.file, value.value));
    }
    fix.lasting = {fmt::format("keep /etc/tmpfiles.d/pinstrike-{}.conf{}", name, rows)};
    return fix;
}

Fix boot_fix(std::string_view name, std::string_view parameters) {
    return {fmt::format("kernel command line: {} (GRUB_CMDLINE_LINUX_DEFAULT, update-grub, boot)",
                        parameters),
            "",
            {},
            {fmt::format("boot_parameters {} {}", name, shell_word(parameters))},
            true};
}

Fix advice_fix(std::string advice) {
    return {"", std::move(advice), {}, {}};
}

}  // namespace pinstrike::actors::doctor
