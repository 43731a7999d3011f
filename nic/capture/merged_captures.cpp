// path: cold
#include "nic/capture/merged_captures.h"

#include "nic/capture/capture_files.h"
#include "nic/capture/cut_frame.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

namespace pinstrike::nic {

namespace {

/// The number of files that stay open from the start. All later files are opened again when they
/// are due, and the process may have given up the rights for that by then. More open files would
/// cost memory and descriptors.
constexpr std::size_t files_kept_open = 64;

}  // namespace

std::unique_ptr<MergedCaptures> MergedCaptures::open(std::span<const std::string> files,
                                                     GroupFilter filter, Problems& problems) {
    Problems found;
    std::unique_ptr<MergedCaptures> merged{new MergedCaptures{std::move(filter)}};
    for (const std::string& path : files) {
        merged->add_path(path, found);
    }
    if (!found.empty()) {
        problems.insert(problems.end(), found.begin(), found.end());
        return nullptr;
    }
    return merged;
}

/// A capture of a folder that cannot be opened hides nothing of the others.
void MergedCaptures::add_path(const std::string& path, Problems& problems) {
    const std::size_t sources_before = sources_.size();
    Problems unread;
    for (const std::string& file : capture_files({&path, 1}, problems)) {
        if (auto reader = CaptureReader::open(file, unread)) {
            add(std::move(*reader));
        }
    }
    std::error_code unknown;
    if (sources_.size() == sources_before || !std::filesystem::is_directory(path, unknown)) {
        problems.insert(problems.end(), unread.begin(), unread.end());
        return;
    }
    for (const Problem& problem : unread) {
        if (!is_gone_or_begun(problem.place.file)) {
            Source& source = sources_.emplace_back();
            source.path = problem.place.file;
            source.complaint = source.path + ": " + problem.text;
            ++unread_files_;
        }
    }
}

/// Reads the first record, and closes the file if enough files are open already.
void MergedCaptures::add(CaptureReader reader) {
    const std::size_t index = sources_.size();
    Source& source = sources_.emplace_back();
    source.path = reader.path();
    has_pipe_ = has_pipe_ || !reader.can_open_again();
    source.reader = std::make_unique<CaptureReader>(std::move(reader));
    if (!source.reader->next(source.head)) {
        end(source);
        return;
    }
    if (index >= files_kept_open && source.reader->can_open_again()) {
        source.reader.reset();
        due_.emplace(source.head.ts_ns, index);
    } else if (select_head(index)) {
        due_.emplace(source.head.ts_ns, index);
    } else {
        advance(index);
    }
}

void MergedCaptures::open_again(std::size_t index) {
    Source& source = sources_[index];
    Problems problems;
    auto reader = CaptureReader::open(source.path, problems);
    if (!reader) {
        source.complaint =
            fmt::format("{}: could be opened at the start, but not when its packets were due: {}",
                        source.path, problems.front().text);
        ++unread_files_;
        return;
    }
    source.reader = std::make_unique<CaptureReader>(std::move(*reader));
    advance(index);
}

/// True if the frame just read, or the frame inside its tunnel, belongs to this queue. Such a frame
/// is counted if the snapshot length had cut it.
bool MergedCaptures::select_head(std::size_t index) {
    Source& source = sources_[index];
    CapturedFrame& frame = source.head;
    frame.file = static_cast<std::uint32_t>(index);
    frame.bytes = source.tunnel.inside(frame);
    if (!filter_.selects(frame)) {
        return false;
    }
    if (const auto group = group_of_cut(frame); group && filter_.knows(*group)) {
        ++source.cut_packets;
    }
    return true;
}

/// Reads up to the next frame of this queue, or to the end of the file.
void MergedCaptures::advance(std::size_t index) {
    Source& source = sources_[index];
    while (source.reader->next(source.head)) {
        if (select_head(index)) {
            due_.emplace(source.head.ts_ns, index);
            return;
        }
    }
    end(source);
}

void MergedCaptures::end(Source& source) {
    source.complaint = source.reader->complaint();
    if (!source.complaint.empty()) {
        ++unread_files_;
    }
    source.reader.reset();
}

bool MergedCaptures::next(CapturedFrame& out) {
    if (latest_ != none) {
        advance(latest_);
        latest_ = none;
    }
    while (!due_.empty()) {
        const std::size_t index = due_.top().second;
        due_.pop();
        if (sources_[index].reader) {
            out = sources_[index].head;
            latest_ = index;
            return true;
        }
        open_again(index);
    }
    return false;
}

std::vector<std::string> MergedCaptures::unread() const {
    std::vector<std::string> reported;
    for (const Source& source : sources_) {
        if (!source.complaint.empty()) {
            reported.push_back(source.complaint);
        }
        if (source.cut_packets != 0) {
            reported.push_back(
                fmt::format("{}: the snapshot length of the capture cut {} packets of "
                            "lines: these are lost",
                            source.path, source.cut_packets));
        }
    }
    return reported;
}

}  // namespace pinstrike::nic
