// path: cold
//
// Live records that wait until a replay is over, in their order.
#pragma once

#include "actors/market/instruments.h"
#include "feed/dbn/schema.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace pinstrike::actors::gateway {

class KeptRecords {
  public:
    struct Entry {
        feed::dbn::Schema schema;
        InstrumentId id;                    ///< 0: the end of an interval
        std::span<const std::byte> record;  ///< valid until pop()
        std::int64_t end_ns;                ///< of the interval
    };

    void put(feed::dbn::Schema schema, InstrumentId id, std::span<const std::byte> record,
             std::int64_t end_ns);

    [[nodiscard]] bool empty() const { return chunks_.empty(); }

    /// The first one. There must be one.
    [[nodiscard]] Entry front() const;

    void pop();

    /// Bytes that all of them take.
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

    void clear() {
        chunks_.clear();
        bytes_ = 0;
    }

  private:
    static constexpr std::size_t chunk_bytes = std::size_t{64} << 10;

    struct Head {
        std::int64_t end_ns;
        InstrumentId id;
        std::uint16_t record_bytes;
        feed::dbn::Schema schema;
    };

    struct Chunk {
        std::vector<std::byte> bytes;
        std::size_t taken = 0;
    };

    [[nodiscard]] Head first_head() const;

    std::deque<Chunk> chunks_;  ///< each has records
    std::size_t bytes_ = 0;
};

}  // namespace pinstrike::actors::gateway
