// path: cold
//
// Ways to mend a host, each as the command for a person and as lines of the script. The script has
// three functions of its own: set_value FILE VALUE, keep FILE LINE..., boot_parameters NAME WORDS.
#pragma once

#include "actors/host/doctor/finding.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors::doctor {

/// A word of a shell's command line; in quotes where it needs them.
[[nodiscard]] std::string shell_word(std::string_view text);

/// `sysctl -w`, kept by /etc/sysctl.d. Keys with slashes ("net/core/rmem_max"): names of interfaces
/// may hold dots.
[[nodiscard]] Mend sysctl_mend(std::string_view key, std::int64_t value);

struct FileValue {
    std::string file;  ///< in /sys
    std::string value;
};

/// Writes values into files of /sys, kept by /etc/tmpfiles.d/pinstrike-NAME.conf.
[[nodiscard]] Mend sysfs_mend(std::string_view name, const std::vector<FileValue>& values);

/// Words for the kernel's command line, by GRUB's /etc/default/grub.d/pinstrike-NAME.cfg.
[[nodiscard]] Mend boot_mend(std::string_view name, std::string_view parameters);

/// What no command mends.
[[nodiscard]] Mend advice_mend(std::string advice);

}  // namespace pinstrike::actors::doctor
