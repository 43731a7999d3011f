// path: cold
#include "actors/topology/cgroup_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

namespace pinstrike::actors {
namespace {

namespace fs = std::filesystem;

/// The folder of a version's groups, and the names of its files.
struct Version {
    std::string_view folder;
    std::string_view limit;
    std::string_view used;
    std::array<std::string_view, 2> caches;  ///< rows of memory.stat that can be dropped
};

constexpr Version version_2{
    "sys/fs/cgroup", "memory.max", "memory.current", {"inactive_file", "active_file"}};
constexpr Version version_1{"sys/fs/cgroup/memory",
                            "memory.limit_in_bytes",
                            "memory.usage_in_bytes",
                            {"total_inactive_file", "total_active_file"}};

/// nullopt if the file is missing or contains "max".
std::optional<std::size_t> number_in(const fs::path& file) {
    std::ifstream in(file);
    std::size_t number = 0;
    return in >> number ? std::optional{number} : std::nullopt;
}

std::size_t caches_in(const fs::path& group, const Version& version) {
    std::ifstream in(group / "memory.stat");
    std::size_t bytes = 0;
    std::string name;
    for (std::size_t value = 0; in >> name >> value;) {
        bytes += std::ranges::count(version.caches, name) != 0 ? value : 0;
    }
    return bytes;
}

/// Lowers the answer's figures to those of one group.
void reckon_with(const fs::path& group, const std::string& name, const Version& version,
                 std::optional<CgroupMemory>& memory) {
    // Version 1 writes "no limit" as the largest number of whole pages.
    constexpr std::size_t unlimited = std::size_t{1} << 62;
    const auto limit = number_in(group / version.limit);
    if (!limit || *limit >= unlimited) {
        return;
    }
    const std::size_t used = number_in(group / version.used).value_or(0);
    const std::size_t held = used - std::min(used, caches_in(group, version));
    const std::size_t free = *limit - std::min(*limit, held);
    if (!memory || *limit < memory->limit_bytes) {
        memory = CgroupMemory{name, *limit, memory ? memory->free_bytes : free};
    }
    memory->free_bytes = std::min(memory->free_bytes, free);
}

/// The group in a line of /proc/self/cgroup and its ancestors. In a container the path may be the
/// host's. Then no files exist at that path, and the root has the container's own limit.
void reckon_with_all(const fs::path& root, fs::path path, const Version& version,
                     std::optional<CgroupMemory>& memory) {
    path = path.lexically_normal();
    while (true) {
        reckon_with(root / version.folder / path.relative_path(), path.string(), version, memory);
        if (path == path.parent_path()) {
            return;
        }
        path = path.parent_path();
    }
}

}  // namespace

std::optional<CgroupMemory> read_cgroup_memory(const fs::path& root) {
    std::optional<CgroupMemory> memory;
    std::ifstream in(root / "proc/self/cgroup");
    for (std::string line; std::getline(in, line);) {  // "4:memory:/a/b", "0::/a/b"
        const std::size_t controllers = line.find(':');
        const std::size_t path = line.find(':', controllers + 1);
        if (controllers == std::string::npos || path == std::string::npos) {
            continue;
        }
        const std::string named =
            fmt::format(",{},", line.substr(controllers + 1, path - controllers - 1));
        if (named == ",,") {
            reckon_with_all(root, line.substr(path + 1), version_2, memory);
        } else if (named.find(",memory,") != std::string::npos) {
            reckon_with_all(root, line.substr(path + 1), version_1, memory);
        }
    }
    return memory;
}

}  // namespace pinstrike::actors
