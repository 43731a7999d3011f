// path: cold
#include "actors/recorder/compressor_task.h"

#include "feed/recording/segment_file.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace pinstrike::actors {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t search_interval_ns = 1'000'000'000;
constexpr std::int64_t failed_interval_ns = 60'000'000'000;

}  // namespace

CompressorTask::CompressorTask(std::string folder, int level, RecorderCounters& counters)
    : folder_(std::move(folder)), level_(level), counters_(counters) {}

bool CompressorTask::step(std::int64_t now_ns) {
    clock_.step(now_ns);
    if (!current_) {
        if (clock_.now_ns() < next_look_ns_) {
            return false;
        }
        next_look_ns_ = clock_.now_ns() + search_interval_ns;
        begin_next();
        return current_.has_value();
    }
    if (current_->step(problems_)) {
        return true;
    }
    if (problems_.empty() && current_->finish(problems_)) {
        counters_.bump(RecorderCount::compressed);
        counters_.bump(RecorderCount::compressed_from, current_->bytes());
        counters_.bump(RecorderCount::compressed_to, current_->compressed_bytes());
        next_look_ns_ = clock_.now_ns();
    } else if (std::error_code error; !fs::exists(current_->path(), error) && !error) {
        problems_.clear();  // the recorder had chosen it for removal before it was opened
        next_look_ns_ = clock_.now_ns();
    } else {
        fail(current_->path());
    }
    current_.reset();
    return true;
}

/// The oldest segment that is closed and has its index. One that a start of the program left
/// unfinished is repaired by the recorder's thread first.
void CompressorTask::begin_next() {
    Problems unread;
    std::vector<std::string> paths = feed::segments_in(folder_, unread);
    std::ranges::sort(paths, {}, [](const std::string& path) {
        return feed::time_in_name(path).value_or(INT64_MAX);
    });
    for (const std::string& path : paths) {
        if (feed::plain_path(path) != path || failed_.contains(path)) {
            continue;
        }
        auto segment = feed::SegmentFile::open(path, unread);
        if (!segment || segment->is_being_written()) {
            continue;
        }
        if (const auto index = segment->index()) {
            current_ =
                feed::SegmentCompressor::begin(std::move(*segment), *index, level_, problems_);
            if (!current_) {
                fail(path);
            }
            return;
        }
    }
    failed_.clear();  // nothing else is left to compress
}

/// For example because the disk is full. The segment stays as it is.
void CompressorTask::fail(const std::string& path) {
    if (!problems_.empty()) {
        const std::lock_guard lock{failure_mutex_};
        const Problem& problem = problems_.front();
        failure_ = problem.place.text() + ": " + problem.text;
    }
    problems_.clear();
    failed_.insert(path);
    counters_.bump(RecorderCount::compress_failures);
    next_look_ns_ = clock_.now_ns() + failed_interval_ns;
}

}  // namespace pinstrike::actors
