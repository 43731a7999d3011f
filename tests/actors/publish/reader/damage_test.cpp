// path: cold
//
// Damaged and foreign files: they are refused with a sentence, and what is damaged later gives
// wrong values or an error, but no crash and no endless loop.
#include "actors/publish/reader/error.h"
#include "actors/publish/reader/event_stream.h"
#include "tests/actors/publish/published.h"
#include "tests/actors/publish/reader/damaged_memory.h"
#include "tests/actors/publish/reader/reading.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace pinstrike::actors::test {
namespace {

/// A byte of the header or of a core's header, and what readers do if it is another.
struct Field {
    const char* name;
    std::size_t at;
    bool refused;
};

constexpr std::size_t core_at = sizeof(pinstrike_header);

#define HEADER(field, refused)                             \
    Field {                                                \
        #field, offsetof(pinstrike_header, field), refused \
    }
#define CORE(field, refused)                                               \
    Field {                                                                \
        "core." #field, core_at + offsetof(pinstrike_core, field), refused \
    }
#define ARRAY(field)                                                             \
    Field {                                                                      \
        "offset of " #field, core_at + offsetof(pinstrike_core, field) + 7, true \
    }
#define COUNT(field)                                                            \
    Field {                                                                     \
        "count of " #field, core_at + offsetof(pinstrike_core, field) + 8, true \
    }

const Field fields[] = {
    HEADER(magic, true),
    HEADER(byte_order, true),
    HEADER(major, true),
    HEADER(minor, false),
    HEADER(layout_hash, true),
    HEADER(file_bytes, true),
    HEADER(header_bytes, true),
    HEADER(core_bytes, true),
    HEADER(cores_count, true),
    HEADER(state, false),
    HEADER(feed, false),
    HEADER(build, false),
    HEADER(start_ns, false),
    HEADER(trade_date, false),
    HEADER(sharding, false),
    HEADER(number_last, false),
    HEADER(wake, false),
    CORE(name, false),
    ARRAY(lines),
    ARRAY(entries),
    ARRAY(groups),
    ARRAY(trades),
    ARRAY(series),
    ARRAY(roots),
    ARRAY(stream),
    COUNT(lines),
    COUNT(entries),
    COUNT(groups),
    COUNT(trades),
    COUNT(series),
    COUNT(roots),
    COUNT(stream),
    CORE(base_ms, false),
    CORE(alive_ns, false),
    CORE(series_count, false),
    CORE(intent, false),
    CORE(tail_version, false),
    CORE(tail, false),
    CORE(tail_stamp, false),
    CORE(tail_ms, false),
    CORE(tail_changes, false),
};

TEST(Damage, of_each_field_of_the_headers_is_refused_or_harmless) {
    const PublishFolder folder;
    PublishedFeed published;
    Day day{1};
    published.books[0]->on_events(EventBatch{day.next(300)});
    auto* const bytes = reinterpret_cast<unsigned char*>(&published.file->core(0).core()) - core_at;
    for (const Field& field : fields) {
        SCOPED_TRACE(field.name);
        for (const unsigned change : {0x01U, 0x80U}) {
            bytes[field.at] = static_cast<unsigned char>(bytes[field.at] ^ change);
            const FeedHandle feed{pinstrike_open("test")};
            EXPECT_EQ(feed == nullptr, field.refused) << pinstrike_error();
            if (feed != nullptr) {
                EXPECT_GT(pinstrike_chain(feed.get(), nullptr, nullptr, 0), 0);
                const StreamHandle stream{pinstrike_subscribe(feed.get(), nullptr)};
                std::vector<pinstrike_record> records(64);
                if (stream != nullptr) {
                    (void)pinstrike_poll(stream.get(), records.data(), records.size());
                }
            } else {
                EXPECT_NE(std::string{pinstrike_error()}.find("not the memory of a feed"),
                          std::string::npos);
            }
            bytes[field.at] = static_cast<unsigned char>(bytes[field.at] ^ change);
        }
    }
}

TEST(Damage, of_random_bytes_crashes_no_reader) {
    DamagedMemory memory;
    std::mt19937_64 random{7};
    for (int round = 0; round < 400; ++round) {
        const std::size_t changes = 1 + random() % 40;
        for (std::size_t i = 0; i < changes; ++i) {
            memory.damage(static_cast<std::uint16_t>(random()),
                          static_cast<std::uint8_t>(random()));
        }
        memory.read();
        memory.restore();
    }
    EXPECT_GT(memory.reads_without_error(), 20U);
}

TEST(Damage, files_of_wrong_owners_modes_and_kinds_are_refused) {
    const PublishFolder folder;
    const PublishedFeed published;
    const std::string file = published.file->path();
    const auto refused = [](const char* name) {
        return FeedHandle{pinstrike_open(name)} == nullptr;
    };
    EXPECT_FALSE(refused("test"));
    ASSERT_EQ(::chmod(file.c_str(), 0660), 0);
    EXPECT_TRUE(refused("test"));
    ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
    EXPECT_FALSE(refused("test"));
    ASSERT_EQ(::chmod(folder.path().c_str(), 0770), 0);
    EXPECT_TRUE(refused("test"));
    ASSERT_EQ(::chmod(folder.path().c_str(), 0700), 0);
    std::filesystem::create_symlink(folder.path(), folder.path() + "/folder");
    EXPECT_TRUE(refused("folder"));
    std::filesystem::create_symlink("/dev/null", folder.path() + "/null");
    EXPECT_TRUE(refused("null"));
    std::filesystem::create_symlink("nowhere", folder.path() + "/dangling");
    EXPECT_TRUE(refused("dangling"));
    ASSERT_EQ(::truncate(file.c_str(), 4096), 0);
    EXPECT_TRUE(refused("test"));
}

}  // namespace
}  // namespace pinstrike::actors::test
