// path: cold
//
// The published memory of a feed with one core, in memory of the test instead of a file.
#pragma once

#include "actors/publish/core_memory.h"
#include "actors/publish/layout_hash.h"
#include "actors/publish/pages.h"
#include "actors/publish/pinstrike.h"
#include "actors/publish/reader/feed_reader.h"

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

namespace pinstrike::actors::test {

class FeedImage {
  public:
    static constexpr std::size_t arrays_at = sizeof(pinstrike_header) + sizeof(pinstrike_core);

    explicit FeedImage(const CoreShape& shape) : pages_(bytes_for(shape)) {
        auto& header = *static_cast<pinstrike_header*>(pages_.data());
        std::memcpy(header.magic, PINSTRIKE_MAGIC, sizeof header.magic);
        header.byte_order = PINSTRIKE_BYTE_ORDER;
        header.major = PINSTRIKE_LAYOUT_MAJOR;
        header.layout_hash = layout_hash();
        header.file_bytes = pages_.bytes();
        header.header_bytes = sizeof(pinstrike_header);
        header.core_bytes = sizeof(pinstrike_core);
        header.cores_count = 1;
        header.state = PINSTRIKE_LIVE;
        lay_out(core(), shape, arrays_at);
    }

    [[nodiscard]] std::byte* bytes() const { return static_cast<std::byte*>(pages_.data()); }

    [[nodiscard]] pinstrike_core& core() const {
        return *reinterpret_cast<pinstrike_core*>(bytes() + sizeof(pinstrike_header));
    }

    [[nodiscard]] CoreMemory memory() const { return {core(), bytes()}; }

    /// A reader of it. Throws reader::Error.
    [[nodiscard]] std::unique_ptr<reader::FeedReader> attach() const {
        return std::make_unique<reader::FeedReader>(
            "image", std::make_shared<const reader::Mapping>(std::span{bytes(), pages_.bytes()}));
    }

  private:
    static std::size_t bytes_for(const CoreShape& shape) {
        pinstrike_core core{};
        return lay_out(core, shape, arrays_at);
    }

    Pages pages_;
};

}  // namespace pinstrike::actors::test
