// path: cold
#include "actors/recorder/compressor_task.h"

#include "feed/recording/segment_file.h"

#include <utility>

namespace pinstrike::actors {

namespace {

constexpr std::int64_t search_interval_ns = 1'000'000'000;
constexpr std::int64_t failed_interval_ns = 60'000'000'000;

}  // namespace

CompressorTask::CompressorTask(std::string folder, int level, RecorderCounters& counters)
    : folder_(std::move(folder)), level_(level), counters_(counters) {}

bool CompressorTask::step(std::int64_t now_ns) {
    if (!current_) {
        if (now_ns < next_look_ns_) {
            return false;
        }
        next_look_ns_ = now_ns + search_interval_ns;
        begin_next();
        if (!problems_.empty()) {
            fail(now_ns);
        }
        return current_.has_value();
    }
    if (current_->step(problems_)) {
        return true;
    }
    if (problems_.empty() && current_->finish(problems_)) {
        counters_.bump(RecorderCount::compressed);
        counters_.bump(RecorderCount::compressed_from, current_->bytes());
        counters_.bump(RecorderCount::compressed_to, current_->compressed_bytes());
        next_look_ns_ = now_ns;
    } else {
        fail(now_ns);
    }
    current_.reset();
    return true;
}

/// The oldest segment that is closed and has its index. One that a start of the program left
/// unfinished is repaired by the recorder's thread first.
void CompressorTask::begin_next() {
    Problems unread;
    for (const std::string& path : feed::segments_in(folder_, unread)) {
        if (feed::plain_path(path) != path) {
            continue;
        }
        auto segment = feed::SegmentFile::open(path, unread);
        if (!segment || segment->is_being_written()) {
            continue;
        }
        if (const auto index = segment->index()) {
            current_ =
                feed::SegmentCompressor::begin(std::move(*segment), *index, level_, problems_);
            return;
        }
    }
}

/// For example because the disk is full. The segment stays as it is.
void CompressorTask::fail(std::int64_t now_ns) {
    if (!problems_.empty()) {
        const std::lock_guard lock{failure_mutex_};
        const Problem& problem = problems_.front();
        failure_ = problem.place.text() + ": " + problem.text;
    }
    problems_.clear();
    counters_.bump(RecorderCount::compress_failures);
    next_look_ns_ = now_ns + failed_interval_ns;
}

}  // namespace pinstrike::actors
