// path: cold
//
// Reads any bytes as an index, as the head of a segment, as a chunk, and as a comment of a cut.
#include "config/check.h"
#include "feed/recording/left_out.h"
#include "feed/recording/segment_index.h"
#include "feed/venue_services.h"
#include "tests/fuzz/fuzz.h"

#include <vector>

using namespace pinstrike;

int fuzz_one(std::span<const std::byte> bytes) {
    const feed::NumbersOf numbers_of = feed::venue_services("opra").numbers_of;
    if (const auto index = feed::read_index(bytes)) {
        std::vector<std::byte> again;
        feed::append_index_head(again, index->first_chunk_at);
        for (const feed::ChunkRecord& chunk : index->chunks) {
            feed::append_record(again, chunk);
        }
        PINSTRIKE_CHECK(feed::read_index(again)->chunks == index->chunks);
    }
    if (const auto head = feed::read_head(bytes)) {
        PINSTRIKE_CHECK(head->bytes <= bytes.size() && !head->interfaces.empty());
    }
    feed::ChunkPackets packets{bytes};
    while (const auto packet = packets.next()) {
        PINSTRIKE_CHECK(packets.whole_bytes() <= bytes.size());
        PINSTRIKE_CHECK(packet->frame.size() <= bytes.size());
    }
    static_cast<void>(feed::record_of({}, 0, bytes, numbers_of));
    const auto* const text = reinterpret_cast<const char*>(bytes.data());  // tidy: text
    feed::LeftOutByLine left_out;
    const std::size_t ranges = feed::read_comment({text, bytes.size()}, left_out);
    PINSTRIKE_CHECK((ranges == 0) == left_out.empty() && ranges <= bytes.size());
    if (const auto head = nic::load_chunk_head(bytes)) {
        std::vector<std::byte> stored(nic::chunk_head_bytes);
        nic::store_chunk_head(std::span<std::byte, nic::chunk_head_bytes>{stored}, *head);
        PINSTRIKE_CHECK(nic::load_chunk_head(stored)->checksum == head->checksum);
    }
    return 0;
}
