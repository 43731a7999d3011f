// path: cold
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace pinstrike::actors {

/// What a control group lets its processes have together. Beyond it the kernel kills one of them.
struct CgroupMemory {
    std::string group;            ///< the one with the least limit: "/system.slice/a.service"
    std::size_t limit_bytes = 0;  ///< the least of this process's group and those around it
    std::size_t free_bytes = 0;   ///< the least that is left in one of them, caches that can be
                                  ///< dropped counted as left
};

/// Of this process, versions 1 and 2; nothing where no group has a limit. `root`: for tests.
[[nodiscard]] std::optional<CgroupMemory> read_cgroup_memory(
    const std::filesystem::path& root = "/");

}  // namespace pinstrike::actors
