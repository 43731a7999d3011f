// path: cold
//
// Measures the codec alone, on blocks that stay in the cache: checking a block, and checking and
// decoding it into slots that are used again and again.
#include "feed/opra/opra.h"
#include "tests/bench/measure.h"
#include "tests/bench/shapes.h"

#include <array>
#include <vector>

namespace pinstrike::bench {
namespace {

using feed::Event;

/// An EventSink that accepts all events into the same slots and keeps none.
class Slots {
  public:
    Event* next_slots(std::size_t records) {
        return records <= slots_.size() ? slots_.data() : nullptr;
    }

    void commit(std::size_t, std::size_t) {}

    void push(std::span<const Event> message) { hash_ ^= feed::hash(message.front().body.series); }

    void broadcast(const Event&) {}

    void filtered() {}

    [[nodiscard]] static bool wants_tests() { return false; }

    [[nodiscard]] std::uint64_t hash() const { return hash_; }

  private:
    std::array<Event, 320> slots_{};
    std::uint64_t hash_ = 0;
};

void measure(const Shape& shape) {
    constexpr std::size_t blocks_count = 256;
    BlockMaker maker{shape, 1, 1'500'000};
    std::vector<BlockBytes> blocks;
    std::uint64_t messages = 0;
    for (std::size_t i = 0; i < blocks_count; ++i) {
        unsigned count = 0;
        blocks.push_back(maker.make(static_cast<std::uint32_t>(messages + 1), count));
        messages += count;
    }
    feed::opra::Opra::Scratch scratch;
    feed::Block block;
    const auto open_all = [&](bool checksum) {
        for (const BlockBytes& bytes : blocks) {
            keep(feed::opra::Opra::open_repair(bytes, checksum, block).accepted);
        }
        return messages;
    };
    Slots slots;
    const feed::Header base;
    const auto decode_fast = [&] {
        for (const BlockBytes& bytes : blocks) {
            feed::opra::Opra::open_repair(bytes, true, block);
            keep(feed::opra::Opra::decode_fast(block, base, false, slots));
        }
        keep(slots.hash());
        return messages;
    };
    const auto walk_first = [&] {
        for (const BlockBytes& bytes : blocks) {
            feed::opra::Opra::check(bytes, true, scratch, block);
            feed::opra::Opra::decode(block, 0, block.decodable, base, false, slots);
        }
        keep(slots.hash());
        return messages;
    };
    const std::string name = shape.name;
    print_row(name + ": header", rate_millions([&] { return open_all(false); }), "M messages/s");
    print_row(name + ": header, checksum", rate_millions([&] { return open_all(true); }),
              "M messages/s");
    print_row(name + ": fast path", rate_millions(decode_fast), "M messages/s");
    print_row(name + ": walked, then decoded", rate_millions(walk_first), "M messages/s");
}

}  // namespace
}  // namespace pinstrike::bench

int main() {
    pinstrike::bench::print_head("codec");
    for (const auto& shape : pinstrike::bench::shapes) {
        pinstrike::bench::measure(shape);
    }
}
