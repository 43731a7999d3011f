// path: cold
#include "actors/recorder/recording_disk.h"

#include "config/problem.h"
#include "feed/recording/segment_file.h"
#include "nic/capture/recording_chunk.h"
#include "nic/file_descriptor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace pinstrike::actors {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds patience{3};

std::string file_system_name(std::uint64_t type) {
    constexpr std::uint64_t xfs_magic = 0x58465342;  // not in <linux/magic.h>
    constexpr std::array<std::pair<std::uint64_t, std::string_view>, 6> names{{
        {EXT4_SUPER_MAGIC, "ext4"},
        {xfs_magic, "xfs"},
        {BTRFS_SUPER_MAGIC, "btrfs"},
        {TMPFS_MAGIC, "tmpfs"},
        {OVERLAYFS_SUPER_MAGIC, "overlay"},
        {NFS_SUPER_MAGIC, "nfs"},
    }};
    const auto* const found =
        std::ranges::find(names, type, [](const auto& row) { return row.first; });
    return found == names.end() ? fmt::format("{:x}", type) : std::string{found->second};
}

std::uint64_t bytes_of_segments(const std::string& folder) {
    Problems ignored;
    std::uint64_t bytes = 0;
    for (const std::string& path : feed::segments_in(folder, ignored)) {
        std::error_code error;
        const std::uintmax_t size = fs::file_size(path, error);
        bytes += error ? 0 : size;
    }
    return bytes;
}

bool is_recorded_to(const std::string& folder) {
    Problems ignored;
    return std::ranges::any_of(feed::segments_in(folder, ignored), [&](const std::string& path) {
        const auto segment = feed::SegmentFile::open(path, ignored);
        return segment && segment->is_being_written();
    });
}

/// Opens a file without a name. Not every file system has such files.
nic::FileDescriptor open_nameless(const std::string& folder, int flags) {
    constexpr mode_t mode = S_IRUSR | S_IWUSR;
    nic::FileDescriptor file{
        ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC | flags, mode)};
    if (!file.valid() && (errno == EOPNOTSUPP || errno == EISDIR)) {
        std::string path = folder + "/.pinstrike-XXXXXX";
        file = nic::FileDescriptor{::mkostemp(path.data(), O_CLOEXEC | flags)};
        if (file.valid()) {
            static_cast<void>(::unlink(path.c_str()));
        }
    }
    return file;
}

/// A buffer that no disk can compress.
std::vector<feed::Page> random_chunk() {
    std::vector<feed::Page> chunk(nic::chunk_bytes_max / sizeof(feed::Page));
    std::minstd_rand random;
    std::ranges::generate(std::as_writable_bytes(std::span{chunk}),
                          [&] { return static_cast<std::byte>(random() >> 8); });
    return chunk;
}

}  // namespace

/// A partition has no queue of its own, but a device of the device mapper has one.
std::string write_cache_of(std::uint64_t device, const std::string& sys) {
    std::error_code error;
    fs::path found = fs::canonical(
        fmt::format("{}/dev/block/{}:{}", sys, gnu_dev_major(device), gnu_dev_minor(device)),
        error);
    if (fs::exists(found / "partition", error)) {
        found = found.parent_path();
    }
    std::ifstream file{found / "queue/write_cache"};
    std::string text;
    std::getline(file, text);
    return text;
}

std::optional<RecordingDisk> find_recording_disk(const std::string& folder) {
    std::error_code error;
    fs::path there = fs::absolute(folder, error).lexically_normal();
    while (!error && !fs::exists(there) && there.has_relative_path()) {
        there = there.parent_path();
    }

    struct statfs status {};

    struct stat file {};

    if (error || ::statfs(there.c_str(), &status) != 0 || ::stat(there.c_str(), &file) != 0) {
        return std::nullopt;
    }
    const auto block_bytes = static_cast<std::uint64_t>(status.f_bsize);
    const auto type = static_cast<std::uint64_t>(status.f_type);
    return RecordingDisk{there,
                         file_system_name(type),
                         std::uint64_t{status.f_bavail} * block_bytes,
                         std::uint64_t{status.f_blocks} * block_bytes,
                         bytes_of_segments(folder),
                         type == TMPFS_MAGIC,
                         write_cache_of(file.st_dev)};
}

MeasuredWrites measure_writes(const RecordingDisk& disk, std::uint64_t bytes_max,
                              std::uint64_t spare_bytes) {
    MeasuredWrites measured;
    nic::FileDescriptor file = open_nameless(disk.folder, O_DIRECT);
    measured.direct = file.valid();
    if (!file.valid() && errno == EINVAL) {
        file = open_nameless(disk.folder, 0);
    }
    if (!file.valid()) {
        measured.obstacle = fmt::format("{}: {}", disk.folder, std::strerror(errno));
        return measured;
    }
    if (is_recorded_to(disk.folder)) {
        measured.obstacle = "an instance records there now";
        return measured;
    }
    if (disk.free_bytes < bytes_max + spare_bytes) {
        measured.obstacle = "too little free space";
        return measured;
    }
    const auto chunk = random_chunk();
    static_cast<void>(::fallocate(file.get(), FALLOC_FL_KEEP_SIZE, 0,
                                  static_cast<off_t>(bytes_max)));  // as the recorder does
    const auto begin = std::chrono::steady_clock::now();
    while (measured.bytes < bytes_max && std::chrono::steady_clock::now() - begin < patience) {
        if (::pwrite(file.get(), chunk.data(), nic::chunk_bytes_max,
                     static_cast<off_t>(measured.bytes)) !=
            static_cast<ssize_t>(nic::chunk_bytes_max)) {
            measured.obstacle = fmt::format("a write failed: {}", std::strerror(errno));
            return measured;
        }
        measured.bytes += nic::chunk_bytes_max;
    }
    static_cast<void>(::fdatasync(file.get()));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    measured.bytes_per_second = static_cast<double>(measured.bytes) / took.count();
    return measured;
}

}  // namespace pinstrike::actors
