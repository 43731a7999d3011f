// path: cold
#include "feed/recording/recorded_packets.h"

#include "nic/capture/capture_files.h"
#include "nic/capture/recording_chunk.h"

#include <fmt/format.h>

#include <span>

namespace pinstrike::feed {

namespace {

/// Descriptors of one reader. A day has more segments than a process may open files.
constexpr std::size_t open_segments_max = 64;

/// A time of an index, with which one can calculate: a segment may state any.
std::int64_t possible_time(std::int64_t ns) {
    return std::clamp<std::int64_t>(ns, 0, INT64_MAX / 2);
}

/// A segment ends when its poller's next one begins, which comes next in the list.
std::vector<std::string> segments_of(const std::vector<std::string>& segments,
                                     const SegmentSpan& span) {
    std::vector<std::string> selected;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const bool last =
            i + 1 == segments.size() || poller_of(segments[i + 1]) != poller_of(segments[i]);
        const bool ended = !last && time_in_name(segments[i + 1]).value_or(0) < span.since_ns;
        if (!ended && time_in_name(segments[i]).value_or(0) < span.begun_before_ns) {
            selected.push_back(segments[i]);
        }
    }
    return selected;
}

}  // namespace

bool PacketRange::selects(const RecordedInterface& from) const {
    if (from.line == 0) {
        return lines.empty() && !stream;
    }
    return (lines.empty() || std::ranges::binary_search(lines, from.line)) &&
           (!stream || (*stream == from.stream && !from.repaired));
}

std::vector<std::string> RangeReader::missing() const {
    if (not_recorded_ == 0) {
        return {};
    }
    return {
        fmt::format("up to {} packets are missing because they were not recorded", not_recorded_)};
}

bool RangeReader::advance_in_chunk(PollerPackets& poller) const {
    while ((poller.head = poller.packets.next())) {
        const RecordedPacket& packet = *poller.head;
        if (packet.ts_ns >= range_.from_ns && packet.ts_ns < range_.to_ns &&
            packet.interface < poller.segment->interfaces.size() &&
            range_.selects(poller.origin())) {
            return true;
        }
    }
    return false;
}

bool RangeReader::read_chunk(PollerPackets& poller, SegmentFile& file, const ChunkRecord& chunk) {
    not_recorded_ += chunk.not_recorded;
    const std::span<const std::byte> bytes = file.read(chunk.offset);
    const auto head = nic::load_chunk_head(bytes);
    if (!head || head->bytes != chunk.bytes || !nic::is_whole(*head, bytes)) {
        add_damage(file.path(), {chunk.offset, chunk.bytes});
        return false;
    }
    poller.segment = &file.head();
    poller.packets = ChunkPackets{bytes.first(chunk.bytes)};
    return true;
}

SegmentScan RangeReader::scan(const std::string& path, SegmentFile file, SegmentIndex known) {
    SegmentScan scan{std::move(file), nullptr};
    scan.begin_behind(std::move(known));
    while (scan.step()) {
    }
    for (const DamagedBytes& damage : scan.damaged()) {
        if (damage.offset >= scan.index().end()) {
            add_damage(path, damage);
        }
    }
    return scan;
}

void RangeReader::add_damage(const std::string& path, const DamagedBytes& damage) {
    damage_.push_back(
        fmt::format("{}: {} bytes from byte {} on are damaged", path, damage.bytes, damage.offset));
}

std::optional<RecordedPackets> RecordedPackets::open(const std::string& folder, Problems& problems,
                                                     const SegmentSpan& span) {
    RecordedPackets packets;
    const std::size_t problems_before = problems.size();
    const std::vector<std::string> segments = segments_in(folder, problems);
    if (problems.size() != problems_before) {
        return std::nullopt;
    }
    Problems unread;
    for (const std::string& path : segments_of(segments, span)) {
        const std::size_t unread_before = unread.size();
        if (auto file = SegmentFile::open(path, unread)) {
            packets.add(std::move(*file));
        } else if (nic::is_gone_or_begun(path)) {
            unread.resize(unread_before);
        } else {
            packets.damage_.push_back(path + ": " + unread.back().text);
        }
    }
    packets.find_last();
    if (packets.first_ns_ > packets.last_ns_) {
        problems.insert(problems.end(), unread.begin(), unread.end());
        add_problem(problems, folder, "has no recorded packet");
        return std::nullopt;
    }
    return packets;
}

/// Reads only the beginning of the index, because a day has many segments.
void RecordedPackets::add(SegmentFile file) {
    const auto first_ns = file.first_time();
    Segment& segment = poller_named(pollers_, poller_of(file.path())).segments.emplace_back();
    segment.path = file.path();
    if (!first_ns) {
        segment.file = std::move(file);
        load(segment);
        segment.file.reset();
        return;
    }
    segment.first_ns = possible_time(*first_ns);
    first_ns_ = std::min(first_ns_, segment.first_ns);
}

/// Reads the index, or the segment if the index is lost, wrong or not finished.
void RecordedPackets::load(Segment& segment) {
    if (auto index = segment.file->index()) {
        segment.chunks = std::move(index->chunks);
    } else {
        SegmentIndex known = segment.file->beginning();
        SegmentScan found = scan(segment.path, std::move(*segment.file), std::move(known));
        segment.chunks = found.index().chunks;
        segment.file = std::move(found).take_file();
    }
    for (const ChunkRecord& chunk : *segment.chunks) {
        first_ns_ = std::min(first_ns_, possible_time(chunk.first_ts_ns));
        last_ns_ = std::max(last_ns_, possible_time(chunk.last_ts_ns));
    }
    if (!segment.chunks->empty()) {
        segment.first_ns = possible_time(
            std::ranges::min(*segment.chunks, {}, &ChunkRecord::first_ts_ns).first_ts_ns);
    }
}

/// Loads the last segment of each poller that has packets.
void RecordedPackets::find_last() {
    for (Poller& poller : pollers_) {
        for (auto segment = poller.segments.rbegin(); segment != poller.segments.rend();
             ++segment) {
            if (!segment->chunks) {
                Problems problems;
                segment->file = SegmentFile::open(segment->path, problems);
            }
            if (segment->file) {
                load(*segment);
                segment->file.reset();
            }
            if (segment->chunks && !segment->chunks->empty()) {
                break;
            }
        }
    }
}

void RecordedPackets::select(PacketRange range) {
    range_ = std::move(range);
    for (Poller& poller : pollers_) {
        advance(poller);
    }
}

std::optional<RecordedPacket> RecordedPackets::next() {
    if (latest_ != nullptr) {
        advance(*latest_);
    }
    latest_ = earliest_of(pollers_);
    return latest_ == nullptr ? std::nullopt : latest_->head;
}

double RecordedPackets::share_read() const {
    const std::int64_t begin_ns = std::max(range_.from_ns, first_ns_);
    const std::int64_t end_ns = std::min(range_.to_ns, last_ns_);
    if (latest_ == nullptr || end_ns <= begin_ns) {
        return 0;
    }
    const auto read_ns = static_cast<double>(latest_->head->ts_ns - begin_ns);
    return std::clamp(read_ns / static_cast<double>(end_ns - begin_ns), 0.0, 1.0);
}

/// Finds the poller's next packet of the range.
void RecordedPackets::advance(Poller& poller) {
    while (!advance_in_chunk(poller) && next_chunk(poller)) {
    }
}

bool RecordedPackets::may_have_range(const ChunkRecord& chunk) const {
    return chunk.last_ts_ns >= range_.from_ns && chunk.first_ts_ns < range_.to_ns;
}

/// Whether a segment may have packets of the range, by the times at which it and the next one
/// begin. A clock that was set back makes such times worthless, so then every segment may.
bool RecordedPackets::may_have_range(const Poller& poller, std::size_t index) const {
    constexpr std::int64_t margin_ns = 10'000'000'000;
    const Segment& segment = poller.segments[index];
    if (segment.chunks) {  // a hole between two chunks may have all of the range
        return std::ranges::any_of(*segment.chunks,
                                   [this](const ChunkRecord& chunk) {
                                       return chunk.last_ts_ns >= range_.from_ns;
                                   }) &&
               std::ranges::any_of(*segment.chunks, [this](const ChunkRecord& chunk) {
                   return chunk.first_ts_ns < range_.to_ns;
               });
    }
    const Segment* const next =
        index + 1 < poller.segments.size() ? &poller.segments[index + 1] : nullptr;
    const bool ends = next != nullptr && next->first_ns >= segment.first_ns;
    return !ends || (next->first_ns + margin_ns > range_.from_ns &&
                     segment.first_ns - margin_ns < range_.to_ns);
}

/// Opens the current segment and the next ones of the range, so that they are not removed before
/// their turn. One that cannot be opened now is tried again when it is the current one.
void RecordedPackets::open_next(Poller& poller) {
    const std::size_t count = std::max<std::size_t>(open_segments_max / pollers_.size(), 2);
    const std::size_t end = std::min(poller.segments.size(), poller.current + count);
    for (std::size_t i = poller.current + 1; i < end; ++i) {
        Segment& segment = poller.segments[i];
        if (!segment.file && may_have_range(poller, i)) {
            Problems later;
            segment.file = SegmentFile::open(segment.path, later);
        }
    }
    Segment& segment = poller.segments[poller.current];
    if (!segment.file) {
        Problems problems;
        segment.file = SegmentFile::open(segment.path, problems);
        for (const Problem& problem : problems) {
            damage_.push_back(segment.path + ": " + problem.text);
        }
    }
}

/// Loads the current segment. False: it has nothing of the range, or cannot be read.
bool RecordedPackets::load_current(Poller& poller) {
    if (!may_have_range(poller, poller.current)) {
        return false;
    }
    Segment& segment = poller.segments[poller.current];
    if (poller.chunk == 0) {
        open_next(poller);
    }
    if (segment.file && !segment.chunks) {
        load(segment);
    }
    return segment.file.has_value();
}

/// Reports the bytes before a chunk that belong to none, if they may have packets of the range.
void RecordedPackets::report_hole(const Segment& segment, std::size_t chunk) {
    const auto hole = hole_before(*segment.chunks, chunk, segment.file->head().bytes);
    const std::int64_t begin_ns = chunk == 0 ? time_in_name(segment.path).value_or(0)
                                             : (*segment.chunks)[chunk - 1].last_ts_ns;
    if (hole && begin_ns < range_.to_ns && (*segment.chunks)[chunk].first_ts_ns >= range_.from_ns) {
        add_damage(segment.path, *hole);
    }
}

/// Reads the poller's next chunk with times of the range. False: there is none.
bool RecordedPackets::next_chunk(Poller& poller) {
    for (; poller.current < poller.segments.size(); ++poller.current) {
        Segment& segment = poller.segments[poller.current];
        if (load_current(poller)) {
            while (poller.chunk < segment.chunks->size()) {
                report_hole(segment, poller.chunk);
                const ChunkRecord& chunk = (*segment.chunks)[poller.chunk++];
                if (may_have_range(chunk) && read_chunk(poller, *segment.file, chunk)) {
                    return true;
                }
            }
            segment.chunks->clear();  // it is not needed again
        }
        segment.file.reset();
        poller.chunk = 0;
    }
    return false;
}

}  // namespace pinstrike::feed
