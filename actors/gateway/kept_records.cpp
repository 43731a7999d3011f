// path: cold
#include "actors/gateway/kept_records.h"

#include <cstring>

namespace pinstrike::actors::gateway {

void KeptRecords::put(feed::dbn::Schema schema, InstrumentId id, std::span<const std::byte> record,
                      std::int64_t end_ns) {
    const Head head{end_ns, id, static_cast<std::uint16_t>(record.size()), schema};
    const std::size_t size = sizeof head + record.size();
    if (chunks_.empty() || chunks_.back().bytes.size() + size > chunk_bytes) {
        chunks_.emplace_back().bytes.reserve(chunk_bytes);
    }
    std::vector<std::byte>& bytes = chunks_.back().bytes;
    const auto head_bytes = std::as_bytes(std::span{&head, 1});
    bytes.insert(bytes.end(), head_bytes.begin(), head_bytes.end());
    bytes.insert(bytes.end(), record.begin(), record.end());
    bytes_ += size;
}

KeptRecords::Head KeptRecords::first_head() const {
    Head head;
    std::memcpy(static_cast<void*>(&head), &chunks_.front().bytes[chunks_.front().taken],
                sizeof head);
    return head;
}

KeptRecords::Entry KeptRecords::front() const {
    const Chunk& chunk = chunks_.front();
    const Head head = first_head();
    const auto record =
        std::span{chunk.bytes}.subspan(chunk.taken + sizeof head, head.record_bytes);
    return {head.schema, head.id, record, head.end_ns};
}

void KeptRecords::pop() {
    Chunk& chunk = chunks_.front();
    const std::size_t size = sizeof(Head) + first_head().record_bytes;
    chunk.taken += size;
    bytes_ -= size;
    if (chunk.taken == chunk.bytes.size()) {
        chunks_.pop_front();
    }
}

}  // namespace pinstrike::actors::gateway
