// path: cold
//
// Files in the seekable format of zstd: what is written is read again, and no byte of a damaged
// table is trusted.
#include "nic/capture/seekable_zstd.h"

#include "nic/file_descriptor.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pinstrike::nic {
namespace {

/// Frames of 'a', 'b' and 'c', with these sizes, and their table.
struct Sample {
    std::vector<std::byte> bytes;
    std::vector<ZstdFrame> frames;

    explicit Sample(const std::vector<std::uint32_t>& sizes) {
        ZstdFrameWriter writer{1};
        char value = 'a';
        for (const std::uint32_t size : sizes) {
            const std::vector<std::byte> content(size, static_cast<std::byte>(value++));
            const auto frame = writer.compress(content);
            frames.push_back({static_cast<std::uint32_t>(frame.size()), size});
            bytes.insert(bytes.end(), frame.begin(), frame.end());
        }
        const auto table = seek_table_of(frames);
        bytes.insert(bytes.end(), table.begin(), table.end());
    }
};

FileDescriptor file_with(const std::vector<std::byte>& bytes) {
    FileDescriptor file{::memfd_create("seekable", MFD_CLOEXEC)};
    EXPECT_EQ(::write(file.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    return file;
}

std::string text_at(SeekableZstd& file, std::uint64_t offset) {
    const auto bytes = file.read(offset);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(SeekableZstd, ReadsFromAnyPlaceUpToTheEndOfItsFrame) {
    const FileDescriptor file = file_with(Sample{{3, 5, 2}}.bytes);
    auto opened = SeekableZstd::open(file.get());
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->bytes(), 10U);
    EXPECT_EQ(text_at(*opened, 0), "aaa");
    EXPECT_EQ(text_at(*opened, 4), "bbbb");
    EXPECT_EQ(text_at(*opened, 2), "a");
    EXPECT_EQ(text_at(*opened, 9), "c");
    EXPECT_EQ(text_at(*opened, 10), "");
    EXPECT_EQ(text_at(*opened, UINT64_MAX), "");
    EXPECT_EQ(opened->damaged(), 0U);
}

TEST(SeekableZstd, OtherProgramsOfZstdReadTheSameBytes) {
    const Sample sample{{70'000, 1, 4096}};
    std::vector<char> whole(80'000);
    EXPECT_EQ(ZSTD_decompress(whole.data(), whole.size(), sample.bytes.data(), sample.bytes.size()),
              74'097U);
}

TEST(SeekableZstd, ADamagedFrameHasZerosAndHidesNothingBehindIt) {
    Sample sample{{100, 200, 100}};
    sample.bytes[sample.frames[0].packed_bytes + 9] ^= std::byte{0xFF};
    const FileDescriptor file = file_with(sample.bytes);
    auto opened = SeekableZstd::open(file.get());
    ASSERT_TRUE(opened);
    EXPECT_EQ(text_at(*opened, 0), std::string(100, 'a'));
    EXPECT_EQ(text_at(*opened, 100), std::string(200, '\0'));
    EXPECT_EQ(opened->damaged(), 1U);
    EXPECT_EQ(opened->file_offset(), sample.frames[0].packed_bytes + sample.frames[1].packed_bytes);
    EXPECT_EQ(text_at(*opened, 300), std::string(100, 'c'));
}

TEST(SeekableZstd, ATableThatDoesNotFitTheFileIsRefused) {
    const Sample sample{{100, 200}};
    for (std::size_t cut = 1; cut <= sample.bytes.size(); ++cut) {  // at its end, then at its start
        const std::vector<std::byte> front{sample.bytes.begin(),
                                           sample.bytes.end() - static_cast<std::ptrdiff_t>(cut)};
        const std::vector<std::byte> back{sample.bytes.begin() + static_cast<std::ptrdiff_t>(cut),
                                          sample.bytes.end()};
        EXPECT_FALSE(SeekableZstd::open(file_with(front).get())) << cut;
        EXPECT_FALSE(SeekableZstd::open(file_with(back).get())) << cut;
    }
}

/// A changed table is refused, or its wrong sizes show as damaged frames.
TEST(SeekableZstd, AChangedTableGivesNoWrongBytes) {
    const Sample sample{{100, 200}};
    const std::string whole = std::string(100, 'a') + std::string(200, 'b');
    const std::size_t table = seek_table_of(sample.frames).size();
    for (std::size_t bit = 8 * (sample.bytes.size() - table); bit < 8 * sample.bytes.size();
         ++bit) {
        std::vector<std::byte> bytes = sample.bytes;
        bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
        const FileDescriptor file = file_with(bytes);
        if (auto opened = SeekableZstd::open(file.get())) {
            std::string content;
            while (content.size() < opened->bytes()) {
                content += text_at(*opened, content.size());
            }
            EXPECT_TRUE(content == whole || opened->damaged() != 0) << bit;
        }
    }
}

TEST(SeekableZstd, LargerFramesAndNoFramesAreRefused) {
    const std::vector<std::uint32_t> sizes{zstd_frame_bytes_max};
    EXPECT_TRUE(SeekableZstd::open(file_with(Sample{sizes}.bytes).get()));
    EXPECT_FALSE(SeekableZstd::open(file_with(Sample{{zstd_frame_bytes_max + 1}}.bytes).get()));
    EXPECT_FALSE(SeekableZstd::open(file_with(Sample{{}}.bytes).get()));
    EXPECT_FALSE(SeekableZstd::open(file_with({}).get()));
}

}  // namespace
}  // namespace pinstrike::nic
