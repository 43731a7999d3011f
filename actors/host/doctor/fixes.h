// path: cold
//
// Ways to fix a host, each as a command for a person and as lines of the script. The script defines
// three functions: set_value FILE VALUE, keep FILE LINE..., boot_parameters NAME WORDS.
#pragma once

#include "actors/host/doctor/finding.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors::doctor {

/// A word of a shell command, quoted if necessary.
[[nodiscard]] std::string shell_word(std::string_view text);

/// `sysctl -w`, made permanent in /etc/sysctl.d. Keys have slashes ("net/core/rmem_max"), because
/// names of interfaces may contain dots.
[[nodiscard]] Fix sysctl_fix(std::string_view key, std::int64_t value);

struct FileValue {
    std::string file;  ///< in /sys
    std::string value;
};

/// Writes values to files of /sys, and makes them permanent in /etc/tmpfiles.d/pinstrike-NAME.conf.
[[nodiscard]] Fix sysfs_fix(std::string_view name, const std::vector<FileValue>& values);

/// Adds words to the kernel's command line in GRUB's /etc/default/grub.d/pinstrike-NAME.cfg.
[[nodiscard]] Fix boot_fix(std::string_view name, std::string_view parameters);

/// For findings that no command can fix.
[[nodiscard]] Fix advice_fix(std::string advice);

}  // namespace pinstrike::actors::doctor
