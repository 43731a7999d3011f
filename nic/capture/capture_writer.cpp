// path: cold
#include "nic/capture/capture_writer.h"

#include "config/check.h"
#include "config/time_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

namespace pinstrike::nic {

namespace {

constexpr std::uint32_t link_type_ethernet = 1;

// Both formats are written in the host's byte order; readers detect it from the magic number.

/// draft-ietf-opsawg-pcap, "File Header" and "Packet Record".
struct PcapFileHeader {
    std::uint32_t magic = 0xA1B23C4D;  // times in nanoseconds
    std::uint16_t major = 2;
    std::uint16_t minor = 4;
    std::uint32_t reserved_1 = 0;
    std::uint32_t reserved_2 = 0;
    std::uint32_t snapshot_bytes = capture_frame_bytes_max;
    std::uint32_t link_type = link_type_ethernet;
};

static_assert(sizeof(PcapFileHeader) == 24);

struct PcapRecordHeader {
    std::uint32_t seconds;
    std::uint32_t nanoseconds;
    std::uint32_t captured_bytes;
    std::uint32_t original_bytes;
};

static_assert(sizeof(PcapRecordHeader) == 16);

/// draft-ietf-opsawg-pcapng: section header, interface description with if_tsresol = 9, enhanced
/// packet block.
struct PcapngSection {
    std::uint32_t type = 0x0A0D0D0A;
    std::uint32_t block_bytes;
    std::uint32_t byte_order_magic = 0x1A2B3C4D;
    std::uint16_t major = 1;
    std::uint16_t minor = 0;
    std::uint32_t section_length_low = 0xFFFFFFFF;  // not stated
    std::uint32_t section_length_high = 0xFFFFFFFF;
};

static_assert(sizeof(PcapngSection) == 24);

struct PcapngInterface {
    std::uint32_t interface_type = 1;
    std::uint32_t interface_bytes = 32;
    std::uint16_t link_type = link_type_ethernet;
    std::uint16_t reserved = 0;
    std::uint32_t snapshot_bytes = capture_frame_bytes_max;
    std::uint16_t resolution_option = 9;
    std::uint16_t resolution_bytes = 1;
    std::uint8_t resolution_power = 9;
    std::array<std::uint8_t, 3> padding{};
    std::uint32_t end_of_options = 0;
    std::uint32_t interface_bytes_again = 32;
};

static_assert(sizeof(PcapngInterface) == 32);

struct EnhancedPacketHeader {
    std::uint32_t type = 6;
    std::uint32_t block_bytes;
    std::uint32_t interface_index = 0;
    std::uint32_t ts_high;
    std::uint32_t ts_low;
    std::uint32_t captured_bytes;
    std::uint32_t original_bytes;
};

static_assert(sizeof(EnhancedPacketHeader) == 28);

constexpr std::uint32_t padding_of(std::size_t bytes) {
    return static_cast<std::uint32_t>((4 - bytes % 4) % 4);
}

/// The bytes of a comment among the options of a block, and of their end.
std::uint32_t comment_bytes(std::string_view comment) {
    constexpr std::uint32_t around_bytes = 4 + 4;
    return comment.empty() ? 0
                           : around_bytes + static_cast<std::uint32_t>(comment.size()) +
                                 padding_of(comment.size());
}

}  // namespace

CaptureWriter::CaptureWriter(std::string path, std::FILE* file)
    : path_(std::move(path)),
      file_(file, Close{std::make_unique<Buffer>()}),
      is_pcapng_(path_.ends_with(".pcapng")) {
    Buffer& buffer = *file_.get_deleter().buffer;
    std::setvbuf(file, buffer.data(), _IOFBF, buffer.size());
}

std::optional<CaptureWriter> CaptureWriter::open(const std::string& path, Problems& problems,
                                                 std::string_view comment) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) {
        add_problem(problems, path, fmt::format("cannot be written: {}", std::strerror(errno)));
        return std::nullopt;
    }
    CaptureWriter writer(path, file);
    writer.write_file_header(comment);
    return writer;
}

void CaptureWriter::put(const void* bytes, std::size_t count) {
    if (error_ == 0 && std::fwrite(bytes, 1, count, file_.get()) != count) {
        error_ = errno != 0 ? errno : EIO;
    }
}

void CaptureWriter::flush() {
    if (error_ == 0 && std::fflush(file_.get()) != 0) {
        error_ = errno != 0 ? errno : EIO;
    }
}

void CaptureWriter::put_padded(const void* bytes, std::size_t count) {
    constexpr std::array<std::byte, 4> zeros{};
    put(bytes, count);
    put(zeros.data(), padding_of(count));
}

void CaptureWriter::put_comment(std::string_view comment) {
    constexpr std::uint16_t comment_option = 1;
    constexpr std::uint32_t end_of_options = 0;
    if (!comment.empty()) {
        PINSTRIKE_CHECK(comment.size() <= std::numeric_limits<std::uint16_t>::max());
        const std::array<std::uint16_t, 2> option{comment_option,
                                                  static_cast<std::uint16_t>(comment.size())};
        put(option.data(), sizeof option);
        put_padded(comment.data(), comment.size());
        put(&end_of_options, sizeof end_of_options);
    }
}

void CaptureWriter::write_file_header(std::string_view comment) {
    if (!is_pcapng_) {
        const PcapFileHeader header;
        put(&header, sizeof header);
    } else {
        const auto block_bytes = static_cast<std::uint32_t>(sizeof(PcapngSection)) +
                                 comment_bytes(comment) +
                                 static_cast<std::uint32_t>(sizeof(std::uint32_t));
        const PcapngSection section{.block_bytes = block_bytes};
        put(&section, sizeof section);
        put_comment(comment);
        put(&block_bytes, sizeof block_bytes);
        const PcapngInterface interface;
        put(&interface, sizeof interface);
    }
}

void CaptureWriter::write(std::span<const std::byte> frame, std::int64_t ts_ns,
                          std::string_view comment) {
    PINSTRIKE_CHECK(file_ != nullptr);
    ts_ns = std::max<std::int64_t>(ts_ns, 0);
    const auto original_bytes = static_cast<std::uint32_t>(frame.size());
    frame = frame.first(std::min(frame.size(), capture_frame_bytes_max));
    const auto captured_bytes = static_cast<std::uint32_t>(frame.size());
    if (!is_pcapng_) {
        const PcapRecordHeader header{static_cast<std::uint32_t>(ts_ns / second_ns),
                                      static_cast<std::uint32_t>(ts_ns % second_ns), captured_bytes,
                                      original_bytes};
        put(&header, sizeof header);
        put(frame.data(), frame.size());
        return;
    }
    const auto block_bytes = static_cast<std::uint32_t>(sizeof(EnhancedPacketHeader)) +
                             captured_bytes + padding_of(captured_bytes) + comment_bytes(comment) +
                             static_cast<std::uint32_t>(sizeof(std::uint32_t));
    const auto ts = static_cast<std::uint64_t>(ts_ns);
    const EnhancedPacketHeader header{.block_bytes = block_bytes,
                                      .ts_high = static_cast<std::uint32_t>(ts >> 32),
                                      .ts_low = static_cast<std::uint32_t>(ts),
                                      .captured_bytes = captured_bytes,
                                      .original_bytes = original_bytes};
    put(&header, sizeof header);
    put_padded(frame.data(), frame.size());
    put_comment(comment);
    put(&block_bytes, sizeof block_bytes);
}

bool CaptureWriter::close(Problems& problems) {
    PINSTRIKE_CHECK(file_ != nullptr);
    if (std::fclose(file_.release()) != 0 && error_ == 0) {
        error_ = errno != 0 ? errno : EIO;
    }
    if (error_ != 0) {
        add_problem(problems, path_,
                    fmt::format("was not written whole: {}", std::strerror(error_)));
    }
    return error_ == 0;
}

}  // namespace pinstrike::nic
