// path: cold
//
// Blocks of the packet shapes on which all measurements are made: full blocks of about 1000 bytes,
// and ordinary ones with 2.26 messages on average. They hold plain short quotes, or the realistic
// mix (a quarter long quotes, an eighth with an appendage).
#pragma once

#include "feed/opra/encode.h"
#include "feed/opra/layout.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::bench {

struct Shape {
    const char* name;
    bool full;
    bool mix;
};

inline constexpr Shape shapes[] = {{"full, plain", true, false},
                                   {"full, mix", true, true},
                                   {"ordinary, plain", false, false},
                                   {"ordinary, mix", false, true}};

using BlockBytes = std::vector<std::byte>;

class BlockMaker {
  public:
    BlockMaker(Shape shape, std::uint64_t seed, std::size_t series_count)
        : shape_(shape), random_(seed), series_count_(series_count) {}

    /// Makes a block whose first number is `sequence`. Sets `messages` to its number of messages.
    BlockBytes make(std::uint32_t sequence, unsigned& messages) {
        std::byte buffer[feed::opra::block::bytes_max];
        feed::opra::BlockBuilder builder{buffer};
        builder.begin({.sequence = sequence, .seconds = 1'700'000'000});
        const unsigned wanted = shape_.full ? 255 : ordinary_count();
        while (builder.messages() < wanted && add(builder)) {
        }
        messages = builder.messages();
        const std::span<const std::byte> block = builder.finish();
        return {block.begin(), block.end()};
    }

  private:
    unsigned ordinary_count() {
        return 1 + std::geometric_distribution<unsigned>{1 / 2.26}(random_);
    }

    bool add(feed::opra::BlockBuilder& builder) {
        namespace wire = feed::opra::wire;
        const std::uint64_t series = random_() % series_count_;
        const auto strike = static_cast<std::uint16_t>(10 + series % 400 * 10);
        const auto root = static_cast<unsigned>(series / 400);
        const std::array<char, 4> symbol{static_cast<char>('A' + root % 26),
                                         static_cast<char>('A' + root / 26 % 26),
                                         static_cast<char>('A' + root / 676 % 26), ' '};
        const wire::Expiration expiration{static_cast<char>('A' + series % 24),
                                          static_cast<std::uint8_t>(1 + series % 28), 26};
        wire::Header header{.participant = "ABCDEHIJMNPQTUWXZ"[random_() % 17],
                            .type = ' ',
                            .indicator = 'F',
                            .transaction_id = static_cast<std::uint32_t>(random_())};
        if (shape_.mix && random_() % 100 < 12) {
            header.indicator = random_() % 2 == 0 ? 'M' : 'C';
        }
        const auto cents = static_cast<std::uint16_t>(random_() % 5000);
        const auto size = static_cast<std::uint16_t>(1 + random_() % 500);
        const wire::Appendage best{'N', 'B', cents, size};
        if (shape_.mix && random_() % 4 == 0) {
            const wire::Series key{
                {symbol[0], symbol[1], symbol[2], ' ', ' '}, expiration, 'A', strike};
            return builder.add(
                {header, wire::LongQuote{key, 'B', cents, size, cents + 5, size, best, best}});
        }
        return builder.add(
            {header, wire::ShortQuote{symbol, expiration, strike, cents, size,
                                      static_cast<std::uint16_t>(cents + 5), size, best, best}});
    }

    Shape shape_;
    std::mt19937_64 random_;
    std::size_t series_count_;
};

}  // namespace pinstrike::bench
