// path: cold
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace pinstrike::actors {

/// The memory that a control group allows all its processes together. Beyond the limit the kernel
/// kills one of them.
struct CgroupMemory {
    std::string group;            ///< the group with the lowest limit: "/system.slice/a.service"
    std::size_t limit_bytes = 0;  ///< the lowest limit of this process's group and its ancestors
    std::size_t free_bytes = 0;   ///< the least free memory in one of them, with caches that can be
                                  ///< dropped counted as free
};

/// Of this process, for control groups version 1 and 2; nullopt if no group has a limit. `root`:
/// for tests.
[[nodiscard]] std::optional<CgroupMemory> read_cgroup_memory(
    const std::filesystem::path& root = "/");

}  // namespace pinstrike::actors
