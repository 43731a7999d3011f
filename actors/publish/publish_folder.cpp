// path: cold
#include "actors/publish/publish_folder.h"

#include "config/memory_sizes.h"
#include "nic/file_descriptor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace pinstrike::actors {
namespace {

constexpr mode_t folder_mode = S_IRWXU | S_IRGRP | S_IXGRP;

/// Whether the folder is this user's and nobody else can write to it.
bool is_own(const struct stat& status) {
    return S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
           (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// `packaged` if it is this user's own. Otherwise `packaged`-UID.
std::string name_of_folder(const std::string& packaged) {
    struct stat status {};

    return ::lstat(packaged.c_str(), &status) == 0 && is_own(status)
               ? packaged
               : fmt::format("{}-{}", packaged, ::geteuid());
}

/// The folder of this name_of_folder(), which is created if it is missing. Empty, with a Problem:
/// it belongs to somebody else, or others may write to it.
std::string own_folder(const std::string& packaged, Problems& problems) {
    struct stat status {};

    std::string own = name_of_folder(packaged);
    const bool made = ::mkdir(own.c_str(), folder_mode) == 0 || errno == EEXIST;
    if (!made || ::lstat(own.c_str(), &status) != 0) {
        add_problem(
            problems, own,
            fmt::format("cannot create the folder for published memory: {}", std::strerror(errno)),
            remedy_of(errno));
        return {};
    }
    if (!is_own(status)) {
        add_problem(
            problems, own,
            "found a folder of another user, or one that others may write to; expected a folder "
            "of this user with mode 0750");
        return {};
    }
    return own;
}

/// The first mounted hugetlbfs; empty: there is none.
std::string huge_page_mount() {
    std::ifstream mounts{"/proc/self/mounts"};
    for (std::string device, folder, type, rest;
         mounts >> device >> folder >> type && std::getline(mounts, rest);) {
        if (type == "hugetlbfs") {
            return folder;
        }
    }
    return {};
}

/// A count of the kernel's huge pages of one size, in bytes.
std::uint64_t pool_bytes(std::uint64_t page_bytes, const char* count) {
    std::ifstream file{fmt::format("/sys/kernel/mm/hugepages/hugepages-{}kB/{}_hugepages",
                                   page_bytes / 1024, count)};
    std::uint64_t pages = 0;
    return file >> pages ? pages * page_bytes : 0;
}

/// The kernel's huge pages limit a hugetlbfs, which itself may have no limit (0 blocks).
void limit_by_pages(const struct statfs& status, PublishSpace& space) {
    const bool limited = status.f_blocks != 0;
    const auto least = [limited](std::uint64_t of_mount, std::uint64_t of_kernel) {
        return limited ? std::min(of_mount, of_kernel) : of_kernel;
    };
    const std::uint64_t free_bytes = pool_bytes(space.page_bytes, "free");
    const std::uint64_t promised_bytes = pool_bytes(space.page_bytes, "resv");
    space.total_bytes = least(space.total_bytes, pool_bytes(space.page_bytes, "nr"));
    space.free_bytes = least(space.free_bytes, free_bytes - std::min(free_bytes, promised_bytes));
}

constexpr const char* packaged_name = "/pinstrike";  ///< of the package's folder in a hugetlbfs

std::string links_folder() {
    const char* const given = ::secure_getenv("PINSTRIKE_FOLDER");
    return given != nullptr ? given : name_of_folder(published_shm_folder);
}

}  // namespace

std::string publish_folder(Problems& problems) {
    const char* const given = ::secure_getenv("PINSTRIKE_FOLDER");
    if (given == nullptr) {
        return own_folder(published_shm_folder, problems);
    }

    struct stat status {};

    if (::stat(given, &status) == 0 && is_own(status)) {
        return given;
    }
    add_problem(problems, given,
                "PINSTRIKE_FOLDER names no folder of this user that others cannot write to");
    return {};
}

std::string file_folder(PublishMemory memory, const std::string& links, Problems& problems) {
    if (memory != PublishMemory::hugetlbfs) {
        return links;
    }
    const std::string mount = huge_page_mount();
    if (mount.empty()) {
        add_problem(problems, "publish.memory", "expected a mounted hugetlbfs, found none");
        return {};
    }
    return own_folder(mount + packaged_name, problems);
}

std::string huge_file_folder() {
    const std::string mount = huge_page_mount();
    return mount.empty() ? mount : name_of_folder(mount + packaged_name);
}

std::vector<std::string> files_of(const std::string& folder, const std::string& feed) {
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator{folder, error}) {
        const std::string name = entry.path().filename().string();
        const bool of_feed =
            name.size() > feed.size() + 1 && name.starts_with(feed) && name[feed.size()] == '.' &&
            name.find_first_not_of("0123456789", feed.size() + 1) == std::string::npos;
        if (of_feed && entry.symlink_status(error).type() == std::filesystem::file_type::regular) {
            files.push_back(entry.path().string());
        }
    }
    return files;
}

std::string target_of(const std::string& link) {
    std::error_code error;
    const std::filesystem::path target = std::filesystem::read_symlink(link, error);
    return error ? std::string{} : (std::filesystem::path{link}.parent_path() / target).string();
}

bool has_writer(const std::string& path) {
    const nic::FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!file.valid()) {
        return false;
    }

    struct flock lock {};

    lock.l_type =
        F_RDLCK;  // conflicts with the writer's lock, not with those that readers can take
    lock.l_whence = SEEK_SET;
    return ::fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

std::optional<PublishSpace> publish_space(const std::string& feed, PublishMemory memory) {
    const std::string links = links_folder();
    PublishSpace space;
    const bool huge = memory == PublishMemory::hugetlbfs;
    space.folder = huge ? huge_page_mount() : links;
    if (space.folder.empty()) {
        return space;
    }

    struct statfs status {};

    if (::statfs(space.folder.c_str(), &status) != 0) {
        space.folder = "/dev/shm";  // the folder is not there yet
        if (::statfs(space.folder.c_str(), &status) != 0) {
            return std::nullopt;
        }
    }
    if (!huge && status.f_blocks == 0) {
        return std::nullopt;  // a tmpfs without a limit
    }
    space.page_bytes = static_cast<std::uint64_t>(status.f_bsize);
    space.total_bytes = std::uint64_t{status.f_blocks} * space.page_bytes;
    space.free_bytes = std::uint64_t{status.f_bavail} * space.page_bytes;
    if (huge) {
        limit_by_pages(status, space);
    }

    for (const std::string& path : files_of(huge ? huge_file_folder() : links, feed)) {
        struct stat file {};

        if (::stat(path.c_str(), &file) == 0) {
            space.own_bytes += static_cast<std::uint64_t>(file.st_blocks) * 512;
        }
    }
    return space;
}

void check_space(const PublishSpace& space, std::uint64_t bytes, Problems& problems) {
    if (space.folder.empty()) {
        add_problem(problems, "publish.memory", "expected a mounted hugetlbfs, found none");
        return;
    }
    const std::uint64_t need = (bytes + space.page_bytes - 1) / space.page_bytes * space.page_bytes;
    const std::uint64_t free_bytes = space.free_bytes + space.own_bytes;
    if (need > space.total_bytes) {
        add_problem(problems, "publish.memory",
                    fmt::format("found {} MiB in the whole file system of {}, expected {} or more "
                                "(pinstrike doctor says how to enlarge it)",
                                space.total_bytes / mebibyte, space.folder, need / mebibyte));
    } else if (need > free_bytes) {
        add_problem(problems, "publish.memory",
                    fmt::format("found {} MiB free of {} in {}, expected {}; readers may still map "
                                "the memory of an earlier start",
                                free_bytes / mebibyte, space.total_bytes / mebibyte, space.folder,
                                need / mebibyte),
                    Remedy::retry);
    }
}

}  // namespace pinstrike::actors
