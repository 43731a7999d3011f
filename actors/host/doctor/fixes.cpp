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

Mend sysctl_mend(std::string_view key, std::int64_t value) {
    std::string file{key};
    std::replace(file.begin(), file.end(), '/', '-');
    Mend mend;
    mend.command = "sysctl -w " + shell_word(fmt::format("{}={}", key, value));
    mend.now = {mend.command};
    mend.lasting = {fmt::format("keep {} {}",
                                shell_word(fmt::format("/etc/sysctl.d/60-pinstrike-{}.conf", file)),
                                shell_word(fmt::format("{} = {}", key, value)))};
    return mend;
}

Mend sysfs_mend(std::string_view name, const std::vector<FileValue>& values) {
    Mend mend;
    std::string rows;
    for (const FileValue& value : values) {
        mend.command += fmt::format("{}echo {} > {}", mend.command.empty() ? "" : "; ",
                                    shell_word(value.value), shell_word(value.file));
        mend.now.push_back(
            fmt::format("set_value {} {}", shell_word(value.file), shell_word(value.value)));
        rows += " \\\n    " + shell_word(fmt::format("w {} - - - - {}", value.file, value.value));
    }
    mend.lasting = {fmt::format("keep /etc/tmpfiles.d/pinstrike-{}.conf{}", name, rows)};
    return mend;
}

Mend boot_mend(std::string_view name, std::string_view parameters) {
    Mend mend;
    mend.command = fmt::format(
        "kernel command line: {} (GRUB_CMDLINE_LINUX_DEFAULT, update-grub, "
        "boot)",
        parameters);
    mend.lasting = {fmt::format("boot_parameters {} {}", name, shell_word(parameters))};
    mend.boot_loader = true;
    return mend;
}

Mend advice_mend(std::string advice) {
    Mend mend;
    mend.advice = std::move(advice);
    return mend;
}

}  // namespace pinstrike::actors::doctor
