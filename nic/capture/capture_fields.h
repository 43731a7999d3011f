// path: cold
#pragma once

#include "config/check.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace pinstrike::nic {

/// Reads integers from the header of a capture file, record or block, in the byte order of the host
/// that wrote it. The caller checks size() first, because a read beyond it aborts the program
/// (PINSTRIKE_CHECK).
class CaptureFields {
  public:
    CaptureFields(std::span<const std::byte> bytes, bool swapped)
        : bytes_(bytes), swapped_(swapped) {}

    [[nodiscard]] std::size_t size() const { return bytes_.size(); }

    [[nodiscard]] std::uint8_t u8(std::size_t at) const { return load<std::uint8_t>(at); }

    [[nodiscard]] std::uint16_t u16(std::size_t at) const {
        const auto raw = load<std::uint16_t>(at);
        return swapped_ ? __builtin_bswap16(raw) : raw;
    }

    [[nodiscard]] std::uint32_t u32(std::size_t at) const {
        const auto raw = load<std::uint32_t>(at);
        return swapped_ ? __builtin_bswap32(raw) : raw;
    }

    [[nodiscard]] std::uint64_t u64(std::size_t at) const {
        const auto raw = load<std::uint64_t>(at);
        return swapped_ ? __builtin_bswap64(raw) : raw;
    }

    [[nodiscard]] CaptureFields from(std::size_t at) const {
        PINSTRIKE_CHECK(at <= bytes_.size());
        return {bytes_.subspan(at), swapped_};
    }

    [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

  private:
    template <class T>
    [[nodiscard]] T load(std::size_t at) const {
        PINSTRIKE_CHECK(at + sizeof(T) <= bytes_.size());
        T value;
        std::memcpy(&value, bytes_.data() + at, sizeof value);
        return value;
    }

    std::span<const std::byte> bytes_;
    bool swapped_;
};

}  // namespace pinstrike::nic
