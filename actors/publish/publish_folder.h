// path: cold
//
// Where memory files are, and how much space there is for one.
//
//     FOLDER/FEED            symbolic link to the file of the latest start
//     FOLDER/FEED.START      the file, by the time of the start in nanoseconds (memory: shm)
//
// FOLDER is /dev/shm/pinstrike, which the package creates, if it belongs to the user of this
// process. Otherwise it is /dev/shm/pinstrike-UID, which this process creates. The environment
// variable PINSTRIKE_FOLDER names another one, for tests and containers. With memory hugetlbfs, the
// file itself is in a folder `pinstrike` or `pinstrike-UID` of a mounted hugetlbfs. The package's
// folders have a setgid bit, so that the files get the readers' group.
#pragma once

#include "actors/publish/publish_config.h"
#include "config/memory_sizes.h"
#include "config/problem.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::actors {

/// The package's folder.
inline constexpr const char* published_shm_folder = "/dev/shm/pinstrike";

/// The folder in which this process creates and looks for links. Empty, with a Problem: the folder
/// belongs to somebody else, or others may write to it.
[[nodiscard]] std::string publish_folder(Problems& problems);

/// The folder for files of this kind of memory; `links` is publish_folder(). Empty, with a Problem,
/// as there, or if no hugetlbfs is mounted.
[[nodiscard]] std::string file_folder(PublishMemory memory, const std::string& links,
                                      Problems& problems);

/// The file to which the link leads; empty: there is no link.
[[nodiscard]] std::string target_of(const std::string& link);

/// The memory files of all starts of a feed in a folder: also those that a start left which was
/// killed before it made its link.
[[nodiscard]] std::vector<std::string> files_of(const std::string& folder, const std::string& feed);

/// The folder for this user's files in a mounted hugetlbfs, also if it does not exist; empty: none
/// is mounted.
[[nodiscard]] std::string huge_file_folder();

/// Whether a process holds the writer's lock on the file.
[[nodiscard]] bool has_writer(const std::string& path);

/// The space in a file system for memory files.
struct PublishSpace {
    std::string folder;  ///< where it is mounted or a folder in it; empty: no hugetlbfs is mounted
    std::uint64_t total_bytes = 0;
    std::uint64_t free_bytes = 0;
    /// Of the feed's files of the present and earlier starts. It is free for the next start, unless
    /// readers still map them.
    std::uint64_t own_bytes = 0;
    std::uint64_t page_bytes = ordinary_page_bytes;
};

/// Creates nothing. nullopt: the file system cannot be examined, or has no limit.
[[nodiscard]] std::optional<PublishSpace> publish_space(const std::string& feed,
                                                        PublishMemory memory);

/// Adds a Problem if a file of so many bytes does not fit: with the remedy `change` if it is larger
/// than the file system.
void check_space(const PublishSpace& space, std::uint64_t bytes, Problems& problems);

}  // namespace pinstrike::actors
