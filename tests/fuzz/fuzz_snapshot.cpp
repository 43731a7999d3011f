// path: cold
//
// Reads any bytes as the head of a snapshot, as the head of a chunk, and as the frames of a chunk
// whose number of records is the first byte.
#include "actors/peer/frames.h"
#include "actors/peer/state_frames.h"
#include "actors/snapshot/snapshot_reader.h"
#include "config/check.h"
#include "feed/recording/state_file.h"
#include "tests/fuzz/fuzz.h"

#include <algorithm>
#include <vector>

using namespace pinstrike;

int fuzz_one(std::span<const std::byte> bytes) {
    if (const auto head = feed::read_state_head(bytes)) {
        PINSTRIKE_CHECK(feed::read_state_head(feed::bytes_of(*head)) == head);
    }
    if (const auto chunk = feed::read_state_chunk(bytes)) {
        PINSTRIKE_CHECK(chunk->frames_bytes <= feed::state_frames_bytes_max);
    }
    if (bytes.empty()) {
        return 0;
    }
    const auto count = static_cast<std::size_t>(bytes[0]);
    const auto frames = bytes.subspan(1);
    if (const auto records = actors::read_state_frames(frames, count)) {
        PINSTRIKE_CHECK(records->size() == count);
        actors::peer::FrameWriter writer;
        for (const actors::StateRecord& record : *records) {
            actors::peer::put(writer, actors::peer::StateFrame{0, record});
        }
        const auto again = actors::read_state_frames(writer.waiting(), count);
        PINSTRIKE_CHECK(again.has_value());
    }
    return 0;
}
