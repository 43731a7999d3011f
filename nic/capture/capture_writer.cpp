// path: cold
#include "nic/capture/capture_writer.h"

#include "config/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pinstrike::nic {

namespace {

constexpr std::int64_t ns_per_second = 1'000'000'000;
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
struct PcapngFileHeader {
    std::uint32_t section_type = 0x0A0D0D0A;
    std::uint32_t section_bytes = 28;
    std::uint32_t byte_order_magic = 0x1A2B3C4D;
    std::uint16_t major = 1;
    std::uint16_t minor = 0;
    std::uint32_t section_length_low = 0xFFFFFFFF;  // not stated
    std::uint32_t section_length_high = 0xFFFFFFFF;
    std::uint32_t section_bytes_again = 28;
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

static_assert(sizeof(PcapngFileHeader) == 60);

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

}  // namespace

CaptureWriter::CaptureWriter(std::string path, std::FILE* file, CaptureFormat format)
    : path_(std::move(path)), file_(file, Close{std::make_unique<Buffer>()}), format_(format) {
    Buffer& buffer = *file_.get_deleter().buffer;
    std::setvbuf(file, buffer.data(), _IOFBF, buffer.size());
}

std::optional<CaptureWriter> CaptureWriter::open(const std::string& path, Problems& problems) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) {
        add_problem(problems, path, fmt::format("cannot be written: {}", std::strerror(errno)));
        return std::nullopt;
    }
    const auto format = path.ends_with(".pcapng") ? CaptureFormat::pcapng : CaptureFormat::pcap;
    CaptureWriter writer(path, file, format);
    writer.write_file_header();
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

void CaptureWriter::write_file_header() {
    if (format_ == CaptureFormat::pcap) {
        const PcapFileHeader header;
        put(&header, sizeof header);
    } else {
        const PcapngFileHeader header;
        put(&header, sizeof header);
    }
}

void CaptureWriter::write(std::span<const std::byte> frame, std::int64_t ts_ns) {
    PINSTRIKE_CHECK(file_ != nullptr && ts_ns >= 0);
    const auto original_bytes = static_cast<std::uint32_t>(frame.size());
    frame = frame.first(std::min(frame.size(), capture_frame_bytes_max));
    const auto captured_bytes = static_cast<std::uint32_t>(frame.size());
    if (format_ == CaptureFormat::pcap) {
        const PcapRecordHeader header{static_cast<std::uint32_t>(ts_ns / ns_per_second),
                                      static_cast<std::uint32_t>(ts_ns % ns_per_second),
                                      captured_bytes, original_bytes};
        put(&header, sizeof header);
        put(frame.data(), frame.size());
        return;
    }
    const std::uint32_t padding_bytes = (4 - captured_bytes % 4) % 4;
    const auto block_bytes = static_cast<std::uint32_t>(sizeof(EnhancedPacketHeader)) +
                             captured_bytes + padding_bytes + 4;
    const auto ts = static_cast<std::uint64_t>(ts_ns);
    const EnhancedPacketHeader header{.block_bytes = block_bytes,
                                      .ts_high = static_cast<std::uint32_t>(ts >> 32),
                                      .ts_low = static_cast<std::uint32_t>(ts),
                                      .captured_bytes = captured_bytes,
                                      .original_bytes = original_bytes};
    constexpr std::array<std::byte, 4> zeros{};
    put(&header, sizeof header);
    put(frame.data(), frame.size());
    put(zeros.data(), padding_bytes);
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
