// path: cold
#include "feed/recording/followed_recording.h"

namespace pinstrike::feed {

namespace {

class FollowedFrames final : public nic::FrameStream {
  public:
    FollowedFrames(FollowedRecording recording, std::function<std::int64_t()> wall_ns,
                   std::shared_ptr<std::atomic<std::int64_t>> complete_ns, nic::GroupFilter filter)
        : recording_(std::move(recording)),
          wall_ns_(std::move(wall_ns)),
          complete_ns_(std::move(complete_ns)),
          filter_(std::move(filter)) {}

    [[nodiscard]] bool next(nic::CapturedFrame& out) override {
        while (next_recorded(out)) {
            if (filter_.selects(out)) {
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] std::optional<std::int64_t> waits_from() const override {
        return recording_.complete_ns();
    }

    [[nodiscard]] bool follows_writer() const override { return true; }

    [[nodiscard]] std::string path_of(std::uint32_t /*file*/) const override {
        return recording_.folder();
    }

    [[nodiscard]] std::uint64_t unread_count() const override { return recording_.damage().size(); }

    [[nodiscard]] std::vector<std::string> unread() const override { return recording_.damage(); }

    [[nodiscard]] std::vector<std::string> missing() const override { return recording_.missing(); }

  private:
    bool next_recorded(nic::CapturedFrame& out) {
        constexpr std::int64_t look_interval_ns = 50'000'000;
        std::optional<RecordedPacket> packet = recording_.next(now_ns_);
        if (!packet) {
            now_ns_ = wall_ns_();
            if (now_ns_ >= looked_ns_ && now_ns_ - looked_ns_ < look_interval_ns) {
                return false;
            }
            looked_ns_ = now_ns_;
            Problems problems;  // the folder may be away for a while
            static_cast<void>(recording_.look(problems));
            packet = recording_.next(now_ns_);
        }
        if (!packet) {
            complete_ns_->store(recording_.complete_ns(), std::memory_order_relaxed);
            return false;
        }
        out = {packet->frame, packet->ts_ns};
        out.record = ++packets_read_;
        return true;
    }

    FollowedRecording recording_;
    std::function<std::int64_t()> wall_ns_;
    std::shared_ptr<std::atomic<std::int64_t>> complete_ns_;
    nic::GroupFilter filter_;
    std::uint64_t packets_read_ = 0;
    std::int64_t now_ns_ = 0;
    std::int64_t looked_ns_ = 0;
};

}  // namespace

bool FollowedRecording::look(Problems& problems) {
    const std::size_t problems_before = problems.size();
    const std::vector<std::string> paths = segments_in(folder_, problems);
    if (problems.size() != problems_before) {
        return false;
    }
    for (const std::string& path : paths) {
        add(std::string{plain_path(path)});
    }
    for (Poller& poller : pollers_) {
        for (Segment& segment : poller.segments) {
            if (!segment.is_closed) {
                read_index(segment, segment.path == poller.newest);
            }
        }
        if (!poller.head) {
            advance(poller);
        }
    }
    return true;
}

/// The first paths of a poller's segments come in the order of their times. One that comes later
/// was begun later, also if the time in its name is earlier because the clock was set back.
void FollowedRecording::add(const std::string& path) {
    Poller& poller = poller_named(pollers_, poller_of(path));
    if (poller.known.insert(path).second) {
        poller.newest = path;
        poller.segments.push_back({path, {}, 0, false});
    }
}

/// A recorder closes a segment before it begins the next one of the poller. The index of an open
/// segment has its chunks in the order in which the disk took them, so only those without a hole
/// before them are used.
void FollowedRecording::read_index(Segment& segment, bool is_newest) {
    Problems unread;
    auto file = SegmentFile::open(segment.path, unread);
    if (!file) {
        if (!is_newest) {
            damage_.push_back(segment.path + ": " + unread.front().text);
            segment.is_closed = true;
        }
        return;  // its head is not written yet
    }
    const std::uint64_t first_chunk_at = file->head().bytes;
    std::optional<SegmentIndex> index;
    if (is_newest || file->is_being_written()) {
        index = file->growing_index();
    } else {
        index = file->index();
        segment.is_closed = true;
        if (!index) {
            index = scan(segment.path, std::move(*file), {first_chunk_at, {}}).index();
        }
    }
    for (std::size_t i = segment.chunks.size(); index && i < index->chunks.size(); ++i) {
        const auto hole = hole_before(index->chunks, i, first_chunk_at);
        if (hole && index->chunks[i].first_ts_ns >= range_.from_ns) {
            add_damage(segment.path, *hole);
        }
        index->chunks[i].lines.clear();
        segment.chunks.push_back(std::move(index->chunks[i]));
    }
}

std::optional<RecordedPacket> FollowedRecording::next(std::int64_t now_ns) {
    if (latest_ != nullptr) {
        advance(*latest_);
    }
    latest_ = earliest_of(pollers_);
    const bool all_have_one =
        std::ranges::all_of(pollers_, [](const Poller& poller) { return poller.head.has_value(); });
    if (latest_ != nullptr && (all_have_one || latest_->head->ts_ns < now_ns - lag_ns)) {
        return latest_->head;
    }
    complete_ns_ = std::max(complete_ns_, now_ns - lag_ns);
    latest_ = nullptr;
    return std::nullopt;
}

/// Finds the poller's next packet of the range.
void FollowedRecording::advance(Poller& poller) {
    while (!advance_in_chunk(poller) && next_chunk(poller)) {
    }
}

/// Reads the poller's next chunk with times of the range. False: there is none yet.
bool FollowedRecording::next_chunk(Poller& poller) {
    while (!poller.segments.empty()) {
        Segment& segment = poller.segments.front();
        while (segment.next < segment.chunks.size()) {
            const ChunkRecord& chunk = segment.chunks[segment.next++];
            if (chunk.last_ts_ns >= range_.from_ns && open_chunk(poller, segment, chunk)) {
                return true;
            }
        }
        if (!segment.is_closed) {
            return false;
        }
        poller.file.reset();
        poller.packets = ChunkPackets{{}};
        poller.segments.pop_front();
    }
    return false;
}

bool FollowedRecording::open_chunk(Poller& poller, const Segment& segment,
                                   const ChunkRecord& chunk) {
    if (!poller.file || poller.file->bytes() < chunk.offset + chunk.bytes) {  // it has grown
        Problems problems;
        poller.file = SegmentFile::open(segment.path, problems);
        if (!poller.file) {
            damage_.push_back(segment.path + ": " + problems.front().text);
            return false;
        }
    }
    return read_chunk(poller, *poller.file, chunk);
}

std::unique_ptr<nic::FrameStream> FollowedPart::open(nic::GroupFilter filter,
                                                     Problems& problems) const {
    FollowedRecording recording{folder_, range_};
    if (!recording.look(problems)) {
        return nullptr;
    }
    return std::make_unique<FollowedFrames>(std::move(recording), wall_ns_, complete_ns_,
                                            std::move(filter));
}

}  // namespace pinstrike::feed
