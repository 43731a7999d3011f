// path: cold
#include "actors/snapshot/snapshot_reader.h"

#include "actors/peer/state_frames.h"

#include <fmt/format.h>

namespace pinstrike::actors {

std::optional<StateRecord> read_state_frame(const peer::Frame& frame) {
    const auto state = peer::parse_state(frame);
    const bool good = state && (state->record.kind != StateRecord::Kind::series ||
                                peer::is_possible(state->record));
    return good ? std::optional{state->record} : std::nullopt;
}

std::optional<std::vector<StateRecord>> read_state_frames(std::span<const std::byte> frames,
                                                          std::size_t count) {
    peer::FrameReader reader;
    reader.push(frames);
    std::vector<StateRecord> records;
    peer::Frame frame;
    std::size_t read_bytes = 0;
    while (reader.next(frame) == peer::FrameReader::Result::frame) {
        const auto record = read_state_frame(frame);
        if (!record) {
            return std::nullopt;
        }
        records.push_back(*record);
        read_bytes += peer::header_bytes + frame.body.size();
    }
    const bool whole = read_bytes == frames.size() && records.size() == count;
    return whole ? std::optional{std::move(records)} : std::nullopt;
}

std::span<const StateRecord> SnapshotReader::next() {
    records_.clear();
    const auto chunk = damage_.empty() ? file_.next() : std::nullopt;
    if (!chunk) {
        return {};
    }
    const auto frames = file_.frames();
    auto records = frames.empty() ? std::nullopt : read_state_frames(frames, chunk->records);
    if (!records) {
        damage_ = fmt::format("{}: chunk {} is damaged", file_.path(), chunk->number);
        return {};
    }
    records_ = std::move(*records);
    end_ns_ = chunk->end_ns;
    return records_;
}

}  // namespace pinstrike::actors
