// path: cold
//
// The capture reader on pcapng with several interfaces and sections, on damaged and on compressed
// files.
#include "config/time_units.h"
#include "nic/capture/capture_reader.h"
#include "nic/capture/capture_writer.h"
#include "tests/nic/frames.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace pinstrike::nic {
namespace {

using testing::HasSubstr;

/// Writes pcapng by hand, in the byte order of the last section.
class Blocks {
  public:
    explicit Blocks(bool swapped = false) { section(swapped); }

    void section(bool swapped) {
        swapped_ = swapped;
        block(0x0A0D0D0A, u32(0x1A2B3C4D) + u16(1) + u16(0) + u32(~0U) + u32(~0U));
    }

    void interface(std::uint16_t link_type, std::uint32_t snapshot_bytes,
                   const std::string& options = "") {
        block(1, u16(link_type) + u16(0) + u32(snapshot_bytes) + options);
    }

    void packet(std::uint32_t interface, std::uint64_t ticks, std::string_view frame,
                std::uint32_t sent_bytes = 0) {
        block(6, u32(interface) + tail(ticks, frame, sent_bytes));
    }

    void old_packet(std::uint16_t interface, std::uint64_t ticks, std::string_view frame) {
        block(2, u16(interface) + u16(0) + tail(ticks, frame, 0));
    }

    void simple_packet(std::string_view frame, std::uint32_t sent_bytes) {
        block(3, u32(sent_bytes) + padded(frame));
    }

    void block(std::uint32_t type, const std::string& body) {
        const std::string length = u32(static_cast<std::uint32_t>(body.size() + 12));
        bytes_ += u32(type) + length + body + length;
    }

    /// One option that is also the last of its list.
    [[nodiscard]] std::string option(std::uint16_t code, const std::string& value) const {
        return u16(code) + u16(static_cast<std::uint16_t>(value.size())) + padded(value) + u32(0);
    }

    [[nodiscard]] std::string u16(std::uint16_t value) const {
        value = swapped_ ? __builtin_bswap16(value) : value;
        return {reinterpret_cast<const char*>(&value), sizeof value};
    }

    [[nodiscard]] std::string u32(std::uint32_t value) const {
        value = swapped_ ? __builtin_bswap32(value) : value;
        return {reinterpret_cast<const char*>(&value), sizeof value};
    }

    [[nodiscard]] std::string u64(std::uint64_t value) const {
        value = swapped_ ? __builtin_bswap64(value) : value;
        return {reinterpret_cast<const char*>(&value), sizeof value};
    }

    [[nodiscard]] std::string& bytes() { return bytes_; }

  private:
    static std::string padded(std::string_view bytes) {
        return std::string(bytes) + std::string((4 - bytes.size() % 4) % 4, '\0');
    }

    [[nodiscard]] std::string tail(std::uint64_t ticks, std::string_view frame,
                                   std::uint32_t sent_bytes) const {
        const auto length = static_cast<std::uint32_t>(frame.size());
        return u32(static_cast<std::uint32_t>(ticks >> 32)) +
               u32(static_cast<std::uint32_t>(ticks)) + u32(length) +
               u32(std::max(length, sent_bytes)) + padded(frame);
    }

    bool swapped_ = false;
    std::string bytes_;
};

struct Read {
    std::string frame;
    std::int64_t ts_ns;
    std::uint32_t cut_bytes;

    friend bool operator==(const Read&, const Read&) = default;
};

void PrintTo(const Read& read, std::ostream* out) {
    *out << read.frame << " at " << read.ts_ns << ", cut " << read.cut_bytes;
}

struct ReadFile {
    std::vector<Read> frames;
    std::string complaint;
};

ReadFile read_file(const std::string& path) {
    Problems problems;
    auto reader = CaptureReader::open(path, problems);
    ReadFile read;
    if (!reader) {
        read.complaint = "not opened: " + problems.at(0).text;
        return read;
    }
    CapturedFrame frame;
    while (reader->next(frame)) {
        read.frames.push_back({text_of(frame.bytes), frame.ts_ns, frame.cut_bytes});
    }
    EXPECT_FALSE(reader->next(frame)) << "the end is the end";
    read.complaint = reader->complaint();
    return read;
}

ReadFile read_bytes(const std::string& bytes) {
    const ScratchDirectory scratch;
    std::ofstream(scratch.file("x"), std::ios::binary) << bytes;
    return read_file(scratch.file("x"));
}

constexpr std::uint64_t second_us = 1'000'000;

TEST(Pcapng, ReadsEachPacketByItsOwnInterface) {
    Blocks blocks;
    blocks.interface(1, 65535);
    blocks.interface(1, 262144, blocks.option(9, "\x09"));
    blocks.packet(0, 5 * second_us, "micro");
    blocks.packet(1, 6'000'000'007, "nano", 100);
    blocks.interface(101, 0, blocks.option(9, "\x8A") /* 2^-10 */);
    blocks.packet(2, 7 << 10, "");
    blocks.interface(1, 0, blocks.option(14, blocks.u64(static_cast<std::uint64_t>(-3))));
    blocks.block(0x80000001, "unknown blocks are passed over..");
    blocks.old_packet(3, 11 * second_us, "old");
    const ReadFile read = read_bytes(blocks.bytes());
    EXPECT_EQ(read.complaint, "");
    EXPECT_THAT(
        read.frames,
        testing::ElementsAre(Read{"micro", 5 * second_ns, 0}, Read{"nano", 6 * second_ns + 7, 96},
                             Read{std::string(12, '\0') + "\xFF\xFF", 7 * second_ns, 0},
                             Read{"old", 8 * second_ns, 0}));
}

TEST(Pcapng, TakesTimesOfAnyResolution) {
    for (const auto& [resolution, ticks, ns] :
         {std::tuple{0, 3ULL, 3 * second_ns},
          {12, 3'000'000'000'000ULL, 3 * second_ns},
          {127, ~0ULL, std::int64_t{0}},
          {0xFF, ~0ULL, std::int64_t{0}},
          {0x80, 3ULL, 3 * second_ns},
          {0, ~0ULL, std::numeric_limits<std::int64_t>::max()}}) {
        Blocks blocks;
        blocks.interface(1, 0, blocks.option(9, std::string(1, static_cast<char>(resolution))));
        blocks.packet(0, ticks, "x");
        const ReadFile read = read_bytes(blocks.bytes());
        ASSERT_EQ(read.frames.size(), 1U) << read.complaint;
        EXPECT_EQ(read.frames[0].ts_ns, ns) << resolution;
    }
}

TEST(Pcapng, ReadsSectionsOfEitherByteOrder) {
    for (const bool first : {false, true}) {
        Blocks blocks{first};
        blocks.interface(1, 0);
        blocks.packet(0, second_us, "first");
        blocks.section(!first);
        blocks.interface(1, 0, blocks.option(9, "\x09"));
        blocks.packet(0, 2'000'000'000, "second");
        blocks.simple_packet("simp", 9);
        const ReadFile read = read_bytes(blocks.bytes());
        EXPECT_EQ(read.complaint, "");
        EXPECT_THAT(read.frames, testing::ElementsAre(Read{"first", second_ns, 0},
                                                      Read{"second", 2 * second_ns, 0},
                                                      Read{"simp", 2 * second_ns, 5}));
    }
}

TEST(Pcapng, InterfacesEndWithTheirSection) {
    Blocks blocks;
    blocks.interface(1, 0);
    blocks.section(false);
    blocks.packet(0, second_us, "whose?");
    const ReadFile read = read_bytes(blocks.bytes());
    EXPECT_TRUE(read.frames.empty());
    EXPECT_THAT(read.complaint, HasSubstr("1 packets of an interface that the file does not"));
}

TEST(Pcapng, LeavesOutWhatItCannotReadAndReportsIt) {
    Blocks blocks;
    blocks.interface(1, 0);
    blocks.interface(105, 0);
    blocks.packet(1, second_us, "wireless");
    blocks.packet(0, second_us, "wired");
    blocks.packet(1, second_us, "wireless");
    blocks.packet(9, second_us, "of no interface");
    const ReadFile read = read_bytes(blocks.bytes());
    EXPECT_THAT(read.frames, testing::ElementsAre(Read{"wired", second_ns, 0}));
    EXPECT_THAT(read.complaint, HasSubstr("2 packets of an interface of link type 105"));
    EXPECT_THAT(read.complaint, HasSubstr("1 packets of an interface that the file does not"));
}

/// After any damage, the packets before it have been read, and the error names the place.
TEST(Pcapng, StopsWhereItIsDamaged) {
    Blocks blocks;
    blocks.interface(1, 0);
    blocks.packet(0, second_us, "whole");
    const std::string good = blocks.bytes();
    const auto u32 = [&](std::uint32_t value) { return blocks.u32(value); };
    const std::string packet = u32(0) + u32(0) + u32(0);
    const std::vector<std::pair<std::string, std::string>> cases{
        {u32(6) + u32(13) + "....." + u32(13), "has 13 bytes, a multiple of 4"},
        {u32(6) + u32(8), "has 8 bytes, a multiple of 4"},
        {u32(5) + u32(16) + "...." + u32(20), "16 bytes at its beginning, 20 at its end"},
        {u32(6) + u32(16) + "...." + u32(16), "is too short for a packet"},
        {u32(3) + u32(12) + u32(12), "is too short for a packet"},
        {u32(1) + u32(16) + "...." + u32(16), "is too short for an interface"},
        {u32(1) + u32(24) + u32(1) + u32(0) + blocks.u16(9) + blocks.u16(5) + u32(24),
         "an option of 5 bytes where 0 are left"},
        {u32(6) + u32(36) + packet + u32(5) + u32(5) + "...." + u32(36),
         "claims a packet of 5 bytes, 4 are there"},
        {u32(6) + u32(0x40000000), "has 1073741824 bytes, at most"},
        {u32(0x0A0D0D0A) + u32(28) + u32(1) + u32(1) + std::string(8, '\0') + u32(28),
         "has the byte order mark 00000001"},
        {u32(0x0A0D0D0A) + u32(28) + u32(0x1A2B3C4D) + u32(2) + std::string(8, '\0') + u32(28),
         "is of version 2"},
        {u32(6) + u32(32), "is cut: it has 32 bytes, the file ends after 8"},
        {"..", "is cut"},
    };
    for (const auto& [damage, said] : cases) {
        const ReadFile read = read_bytes(good + damage);
        EXPECT_EQ(read.frames.size(), 1U) << said;
        EXPECT_THAT(read.complaint, HasSubstr("reading stopped: "));
        EXPECT_THAT(read.complaint, HasSubstr(said));
        EXPECT_THAT(read.complaint, HasSubstr(fmt::format("at byte {}", good.size()))) << said;
    }
}

TEST(Pcapng, IsReportedWhereverItIsCut) {
    Blocks blocks;
    blocks.interface(1, 0);
    const std::size_t first = blocks.bytes().size();
    blocks.packet(0, second_us, "a frame");
    const std::string& good = blocks.bytes();
    for (std::size_t size = 0; size < good.size(); ++size) {
        const ReadFile read = read_bytes(good.substr(0, size));
        EXPECT_TRUE(read.frames.empty()) << size;
        const bool at_a_border = size == first || size == 28;
        EXPECT_EQ(read.complaint.empty(), at_a_border) << size << ": " << read.complaint;
    }
}

class Compressed : public testing::TestWithParam<int (*)(archive*)> {};

void compress(const std::string& bytes, const std::string& path, int (*filter)(archive*)) {
    archive* const writer = archive_write_new();
    ASSERT_EQ(filter(writer), ARCHIVE_OK);
    ASSERT_EQ(archive_write_set_format_raw(writer), ARCHIVE_OK);
    ASSERT_EQ(archive_write_open_filename(writer, path.c_str()), ARCHIVE_OK);
    archive_entry* const entry = archive_entry_new();
    archive_entry_set_filetype(entry, AE_IFREG);
    ASSERT_EQ(archive_write_header(writer, entry), ARCHIVE_OK);
    ASSERT_EQ(archive_write_data(writer, bytes.data(), bytes.size()),
              static_cast<la_ssize_t>(bytes.size()));
    archive_entry_free(entry);
    ASSERT_EQ(archive_write_close(writer), ARCHIVE_OK);
    archive_write_free(writer);
}

TEST_P(Compressed, IsReadLikeTheOriginal) {
    const ScratchDirectory scratch;
    Problems problems;
    auto writer = CaptureWriter::open(scratch.file("x.pcap"), problems);
    for (int i = 0; i < 5000; ++i) {  // several of libarchive's blocks
        const std::string payload =
            fmt::format("{} {}", i, std::string(static_cast<std::size_t>(i % 97), 'x'));
        writer->write(udp_frame(route_of_tests, bytes_of(payload)), i);
    }
    ASSERT_TRUE(writer->close(problems));
    std::ifstream file(scratch.file("x.pcap"), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
    compress(bytes, scratch.file("x.packed"), GetParam());
    const ReadFile original = read_file(scratch.file("x.pcap"));
    const ReadFile read = read_file(scratch.file("x.packed"));
    EXPECT_EQ(read.complaint, "");
    EXPECT_EQ(read.frames.size(), 5000U);
    EXPECT_EQ(read.frames, original.frames);

    const auto size = std::filesystem::file_size(scratch.file("x.packed"));
    std::filesystem::resize_file(scratch.file("x.packed"), size - size / 3);
    const ReadFile cut = read_file(scratch.file("x.packed"));
    EXPECT_LT(cut.frames.size(), 5000U);
    EXPECT_NE(cut.complaint, "");
}

INSTANTIATE_TEST_SUITE_P(Filters, Compressed,
                         testing::Values(archive_write_add_filter_gzip,
                                         archive_write_add_filter_zstd,
                                         archive_write_add_filter_lz4,
                                         archive_write_add_filter_xz));

}  // namespace
}  // namespace pinstrike::nic
