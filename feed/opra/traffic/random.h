// path: hot
//
// Random numbers whose sequence depends on the seed alone. The distributions of the standard
// library differ between implementations, so this file has its own.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace pinstrike::feed::opra::traffic {

/// One step of splitmix64: a good hash of a counter.
inline std::uint64_t scramble(std::uint64_t x) {
    x += 0x9E37'79B9'7F4A'7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EBULL;
    return x ^ (x >> 31);
}

/// xoshiro256++ (Blackman and Vigna), seeded through splitmix64.
class Random {
  public:
    explicit Random(std::uint64_t seed) {
        for (std::uint64_t& word : state_) {
            word = scramble(seed);
            seed += 0x9E37'79B9'7F4A'7C15ULL;
        }
    }

    std::uint64_t next() {
        const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
        const std::uint64_t t = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= t;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }

    /// Uniform in 0 .. bound - 1; bound > 0.
    std::uint64_t below(std::uint64_t bound) {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
    }

    /// Uniform in first .. last, both included.
    std::int64_t between(std::int64_t first, std::int64_t last) {
        return first +
               static_cast<std::int64_t>(below(static_cast<std::uint64_t>(last - first) + 1));
    }

    /// Uniform in [0, 1).
    double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

    bool chance(double probability) { return unit() < probability; }

    /// Exponential, 0 or more, with mean `mean`.
    double exponential(double mean) { return -mean * std::log1p(-unit()); }

    /// Geometric: the number of trials up to the first success (1, 2, 3 ...), with mean `mean`
    /// >= 1.
    unsigned geometric(double mean) {
        if (mean <= 1) {
            return 1;
        }
        return 1 + static_cast<unsigned>(std::log1p(-unit()) / std::log1p(-1 / mean));
    }

    template <class T>
    const T& one_of(std::span<const T> choices) {
        return choices[static_cast<std::size_t>(below(choices.size()))];
    }

  private:
    std::uint64_t state_[4];
};

}  // namespace pinstrike::feed::opra::traffic
