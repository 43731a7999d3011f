// path: cold
#include "nic/capture/seekable_zstd.h"

#include "nic/capture/capture_fields.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

namespace pinstrike::nic {

namespace {

constexpr std::uint32_t skippable_frame = 0x184D'2A5E;
constexpr std::uint32_t seek_table_magic = 0x8F92'EAB1;
constexpr std::size_t table_head_bytes = 8;  // type and size of the skippable frame
constexpr std::size_t footer_bytes = 9;      // number of frames, descriptor, magic
constexpr std::size_t entry_bytes = 8;
constexpr std::byte has_checksums{0x80};
constexpr std::byte reserved_bits{0x7C};
/// A segment of the largest size has fewer frames.
constexpr std::uint32_t frames_max = 1 << 21;

/// The integers of a table are little-endian, as those of this host (nic/packet/bytes.h).
CaptureFields fields_of(std::span<const std::byte> bytes) {
    return {bytes, false};
}

bool read_whole(int fd, std::span<std::byte> into, std::uint64_t offset) {
    std::size_t done = 0;
    while (done < into.size()) {
        const ssize_t got =
            ::pread(fd, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
        if (got <= 0) {
            return false;
        }
        done += static_cast<std::size_t>(got);
    }
    return true;
}

/// The bytes of the seek table at the end of a file; empty if there is none.
std::vector<std::byte> seek_table_in(int fd, std::uint64_t file_bytes) {
    std::vector<std::byte> footer(footer_bytes);
    if (file_bytes < table_head_bytes + footer_bytes ||
        !read_whole(fd, footer, file_bytes - footer_bytes) ||
        fields_of(footer).u32(5) != seek_table_magic) {
        return {};
    }
    const std::uint32_t count = fields_of(footer).u32(0);
    const bool checksums = (footer[4] & has_checksums) != std::byte{0};
    const std::size_t entry = entry_bytes + (checksums ? sizeof(std::uint32_t) : 0);
    const std::uint64_t bytes = table_head_bytes + std::uint64_t{count} * entry + footer_bytes;
    if (count == 0 || count > frames_max || bytes > file_bytes ||
        (footer[4] & reserved_bits) != std::byte{0}) {
        return {};
    }
    std::vector<std::byte> table(bytes);
    if (!read_whole(fd, table, file_bytes - bytes) || fields_of(table).u32(0) != skippable_frame ||
        fields_of(table).u32(4) != bytes - table_head_bytes) {
        return {};
    }
    return table;
}

}  // namespace

std::vector<std::byte> seek_table_of(std::span<const ZstdFrame> frames) {
    const std::size_t behind_head = frames.size() * entry_bytes + footer_bytes;
    std::vector<std::byte> table(table_head_bytes + behind_head);
    std::byte* at = table.data();
    const auto add = [&at](std::size_t value) {
        const auto word = static_cast<std::uint32_t>(value);
        std::memcpy(at, &word, sizeof word);
        at += sizeof word;
    };
    add(skippable_frame);
    add(behind_head);
    for (const ZstdFrame& frame : frames) {
        add(frame.packed_bytes);
        add(frame.bytes);
    }
    add(frames.size());
    ++at;  // 0: no checksums here, because each frame has its own
    add(seek_table_magic);
    return table;
}

void ZstdFrameWriter::Free::operator()(ZSTD_CCtx_s* context) const {
    ZSTD_freeCCtx(context);
}

ZstdFrameWriter::ZstdFrameWriter(int level) : context_(ZSTD_createCCtx()) {
    if (context_ != nullptr) {
        ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
        ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
    }
}

std::span<const std::byte> ZstdFrameWriter::compress(std::span<const std::byte> bytes) {
    if (context_ == nullptr) {
        return {};
    }
    frame_.resize(ZSTD_compressBound(bytes.size()));
    const std::size_t size =
        ZSTD_compress2(context_.get(), frame_.data(), frame_.size(), bytes.data(), bytes.size());
    return std::span{frame_}.first(ZSTD_isError(size) != 0 ? 0 : size);
}

void SeekableZstd::Free::operator()(ZSTD_DCtx_s* context) const {
    ZSTD_freeDCtx(context);
}

SeekableZstd::SeekableZstd(int fd) : fd_(fd), context_(ZSTD_createDCtx()) {}

std::optional<SeekableZstd> SeekableZstd::open(int fd) {
    struct stat status {};

    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        return std::nullopt;
    }
    const auto file_bytes = static_cast<std::uint64_t>(status.st_size);
    const std::vector<std::byte> table = seek_table_in(fd, file_bytes);
    if (table.empty()) {
        return std::nullopt;
    }
    const std::size_t count = fields_of(table).u32(table.size() - footer_bytes);
    const std::size_t entry = (table.size() - table_head_bytes - footer_bytes) / count;
    SeekableZstd file{fd};
    Frame frame;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t bytes = fields_of(table).u32(table_head_bytes + i * entry + 4);
        frame.packed_bytes = fields_of(table).u32(table_head_bytes + i * entry);
        frame.end += bytes;
        if (bytes > zstd_frame_bytes_max ||
            frame.packed_bytes > ZSTD_compressBound(zstd_frame_bytes_max)) {
            return std::nullopt;
        }
        file.frames_.push_back(frame);
        frame.at += frame.packed_bytes;
    }
    const bool fits = frame.at + table.size() == file_bytes && file.context_ != nullptr;
    return fits ? std::optional{std::move(file)} : std::nullopt;
}

std::span<const std::byte> SeekableZstd::read(std::uint64_t offset) {
    const auto found = std::ranges::upper_bound(frames_, offset, {}, &Frame::end);
    if (found == frames_.end()) {
        return {};
    }
    const auto index = static_cast<std::size_t>(found - frames_.begin());
    const std::uint64_t begin = index == 0 ? 0 : frames_[index - 1].end;
    if (index != loaded_) {
        loaded_ = index;
        if (!load(*found, found->end - begin)) {
            ++damaged_;
            std::ranges::fill(content_, std::byte{0});
        }
    }
    return std::span{content_}.subspan(offset - begin);
}

/// False: the frame is damaged, or the disk cannot read it.
bool SeekableZstd::load(const Frame& frame, std::size_t bytes) {
    content_.resize(bytes);
    packed_.resize(frame.packed_bytes);
    file_offset_ = frame.at + frame.packed_bytes;
    if (!read_whole(fd_, packed_, frame.at)) {
        ++unread_;
        loaded_ = SIZE_MAX;
        return false;
    }
    return ZSTD_decompressDCtx(context_.get(), content_.data(), bytes, packed_.data(),
                               packed_.size()) == bytes;
}

}  // namespace pinstrike::nic
