// path: cold
#include "nic/capture/capture_files.h"

#include "nic/capture/capture_reader.h"
#include "nic/file_descriptor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

namespace pinstrike::nic {

namespace {

namespace fs = std::filesystem;

/// The name of a file before it was compressed.
std::string_view plain_name(std::string_view name) {
    for (const std::string_view compressed : {".gz", ".zst", ".lz4", ".xz"}) {
        if (name.ends_with(compressed)) {
            name.remove_suffix(compressed.size());
            break;
        }
    }
    return name;
}

bool is_named_as_capture(std::string_view name) {
    name = plain_name(name);
    const std::size_t last = name.find_last_not_of("0123456789");
    const std::string_view stem = name.substr(0, last == std::string_view::npos ? 0 : last + 1);
    return stem.ends_with(".pcap") || stem.ends_with(".pcapng") || stem.ends_with(".cap");
}

std::vector<std::string> captures_in(const std::string& folder, Problems& problems) {
    std::vector<std::string> files;
    std::error_code error;
    fs::recursive_directory_iterator entry{folder, error};
    while (!error && entry != fs::recursive_directory_iterator{}) {
        std::error_code unknown;
        if (is_named_as_capture(entry->path().filename().string()) &&
            !entry->is_directory(unknown)) {
            files.push_back(entry->path().string());
        }
        entry.increment(error);
    }
    if (error) {
        add_problem(problems, folder, fmt::format("the folder cannot be read: {}", error.message()),
                    remedy_of(error.value()));
    } else if (files.empty()) {
        add_problem(
            problems, folder,
            "the folder has no capture: expected files that end in .pcap, .pcapng or .cap, with "
            "or without .gz, .zst, .lz4 or .xz after it");
    }
    std::sort(files.begin(), files.end());
    std::vector<std::string> kept;
    std::ranges::copy_if(files, std::back_inserter(kept), [&files](std::string_view file) {
        const std::string_view plain = plain_name(file);
        return plain == file || !std::ranges::binary_search(files, plain);
    });
    return kept;
}

}  // namespace

std::vector<std::string> capture_files(std::span<const std::string> paths, Problems& problems) {
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        std::error_code unknown;
        if (!fs::is_directory(path, unknown)) {
            files.push_back(path);
            continue;
        }
        std::vector<std::string> found = captures_in(path, problems);
        files.insert(files.end(), std::make_move_iterator(found.begin()),
                     std::make_move_iterator(found.end()));
    }
    return files;
}

bool is_gone_or_begun(const std::string& path) {
    const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    std::error_code unknown;
    return file.valid() ? ::flock(file.get(), LOCK_SH | LOCK_NB) != 0
                        : errno == ENOENT && !fs::exists(path + ".zst", unknown);
}

void check_captures(std::span<const std::string> paths, Problems& problems) {
    for (const std::string& path : paths) {
        Problems unread;
        bool some_open = false;
        for (const std::string& file : capture_files({&path, 1}, problems)) {
            std::error_code unknown;
            const fs::file_type kind = fs::status(file, unknown).type();
            const bool is_pipe =
                file == "-" || (kind != fs::file_type::regular && kind != fs::file_type::not_found);
            some_open = is_pipe || CaptureReader::open(file, unread) || some_open;
        }
        std::error_code unknown;
        if (!some_open || !fs::is_directory(path, unknown)) {
            problems.insert(problems.end(), unread.begin(), unread.end());
        }
    }
}

}  // namespace pinstrike::nic
