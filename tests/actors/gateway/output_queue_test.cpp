// path: cold
//
// The bytes that wait for a client.
#include "actors/gateway/output_queue.h"

#include "feed/dbn/records.h"
#include "tests/actors/gateway/session_scene.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

namespace pinstrike::actors::gateway::test {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(const std::string& text) {
    const auto bytes = std::as_bytes(std::span{text});
    return {bytes.begin(), bytes.end()};
}

/// A record of `words` * 4 bytes that differs from others.
Bytes record_of(std::uint8_t words, std::uint8_t seed) {
    Bytes record(words * std::size_t{4});
    for (std::size_t i = 0; i < record.size(); ++i) {
        record[i] = static_cast<std::byte>(i * 7 + seed);
    }
    record[0] = static_cast<std::byte>(words);
    return record;
}

/// Records of several sizes, more than three chunks of them, and their bytes in a row.
Bytes append_many(OutputQueue& queue, std::size_t& count) {
    Bytes expected;
    for (count = 0; expected.size() < 3 * Chunk::capacity + 1000; ++count) {
        const std::array<std::uint8_t, 4> words{12, 20, 80, 130};
        const Bytes record = record_of(words[count % 4], static_cast<std::uint8_t>(count));
        queue.append_record(record, 0);
        expected.insert(expected.end(), record.begin(), record.end());
    }
    return expected;
}

TEST(OutputQueue, gives_bytes_in_their_order) {
    ChunkPool pool;
    OutputQueue queue{pool};
    EXPECT_TRUE(queue.next().empty());
    queue.append(bytes_of("abc"));
    queue.append_record(record_of(1, 9), 0);
    queue.append(bytes_of("de"));
    Bytes expected = bytes_of("abc");
    const Bytes record = record_of(1, 9);
    expected.insert(expected.end(), record.begin(), record.end());
    for (const std::byte byte : bytes_of("de")) {
        expected.push_back(byte);
    }
    EXPECT_EQ(queue.bytes(), 9U);
    EXPECT_EQ(queue.records_appended(), 1U);
    EXPECT_EQ(drain(queue), expected);
    EXPECT_EQ(queue.bytes(), 0U);
    EXPECT_EQ(queue.records_sent(), 1U);
    EXPECT_EQ(queue.bytes_sent(), 9U);
    EXPECT_TRUE(queue.next().empty());
}

TEST(OutputQueue, states_the_oldest_event_of_what_was_written) {
    ChunkPool pool;
    OutputQueue queue{pool};
    const auto append = [&](std::int64_t event_ns) {
        queue.append_record(record_of(4, 1), 0, event_ns);
    };
    for (const std::int64_t event_ns : {0, 50, 60}) {
        append(event_ns);
    }
    const std::size_t bytes = queue.next().size();
    const Write first = queue.take_offered();
    EXPECT_EQ(first.event_ns, 50);
    EXPECT_EQ(first.records, 3U);
    append(70);  // too late for this write
    queue.sent(bytes - 1);
    ASSERT_FALSE(queue.next().empty());  // the byte that was left, and the record behind it
    const Write second = queue.take_offered();
    EXPECT_EQ(second.event_ns, 70);
    EXPECT_EQ(second.records, 1U);
    append(0);
    queue.sent(queue.next().size());
    EXPECT_EQ(queue.take_offered().event_ns, 0);
}

TEST(OutputQueue, states_the_oldest_event_of_compressed_bytes) {
    ChunkPool pool;
    OutputQueue queue{pool};
    queue.compress();
    queue.append_record(record_of(4, 1), 0, 50);
    queue.append_record(record_of(4, 1), 0, 60);
    ASSERT_FALSE(queue.next().empty());
    const Write write = queue.take_offered();
    EXPECT_EQ(write.event_ns, 50);
    EXPECT_EQ(write.records, 2U);
    queue.sent(1);
    ASSERT_FALSE(queue.next().empty());
    EXPECT_EQ(queue.take_offered().records, 0U);
}

TEST(OutputQueue, gives_all_of_several_chunks_in_any_pieces) {
    for (const std::size_t piece : {std::size_t{777}, Chunk::capacity, SIZE_MAX}) {
        ChunkPool pool;
        OutputQueue queue{pool};
        std::size_t count = 0;
        const Bytes expected = append_many(queue, count);
        EXPECT_EQ(queue.bytes(), expected.size());
        EXPECT_EQ(queue.records_appended(), count);
        EXPECT_TRUE(drain(queue, piece) == expected) << piece;
        EXPECT_EQ(queue.bytes(), 0U);
        EXPECT_EQ(queue.records_sent(), count);
        EXPECT_EQ(queue.bytes_sent(), expected.size());
    }
}

TEST(OutputQueue, bytes_that_are_being_sent_stay_where_they_are) {
    ChunkPool pool;
    OutputQueue queue{pool};
    queue.append(bytes_of("abc"));
    const auto sending = queue.next();
    queue.append(bytes_of("defg"));
    queue.append_record(record_of(250, 1), 0);
    EXPECT_EQ(queue.next().data(), sending.data());
    queue.sent(1);
    EXPECT_EQ(queue.next().data(), sending.data() + 1);
    EXPECT_EQ(queue.next().size(), 6U + 1000);
    EXPECT_EQ(queue.records_sent(), 0U);
    queue.sent(6 + 1000);
    EXPECT_EQ(queue.records_sent(), 1U);
}

TEST(OutputQueue, a_record_is_counted_when_its_chunk_was_sent) {
    ChunkPool pool;
    OutputQueue queue{pool};
    queue.append_record(record_of(20, 1), 0);
    queue.sent(queue.next().size() - 1);
    EXPECT_EQ(queue.records_sent(), 0U);
    EXPECT_EQ(queue.bytes(), 1U);
    queue.sent(1);
    EXPECT_EQ(queue.records_sent(), 1U);
}

TEST(OutputQueue, adds_the_time_of_sending_to_records_alone) {
    ChunkPool pool;
    OutputQueue queue{pool};
    queue.append_record(record_of(12, 1), 0x0102030405060708);
    queue.add_send_times();
    queue.append(bytes_of("text"));
    queue.append_record(record_of(130, 2), 0x0102030405060708);
    const Bytes got = drain(queue);
    ASSERT_EQ(got.size(), 48U + 4 + 520 + 8);
    EXPECT_EQ(static_cast<unsigned>(got[0]), 12U);
    EXPECT_EQ(static_cast<unsigned>(got[52]), 132U);
    const Bytes record = record_of(130, 2);
    EXPECT_TRUE(std::equal(record.begin() + 1, record.end(), got.begin() + 53));
    for (std::size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(static_cast<unsigned>(got[572 + i]), 8 - i);
    }
}

TEST(OutputQueue, compressed_bytes_are_the_same_after_decompression) {
    for (const std::size_t piece : {std::size_t{99}, SIZE_MAX}) {
        ChunkPool pool;
        OutputQueue queue{pool};
        queue.compress();
        EXPECT_TRUE(queue.next().empty());
        std::size_t count = 0;
        const Bytes expected = append_many(queue, count);
        Decompressor decompress;
        const Bytes sent = drain(queue, piece);
        EXPECT_TRUE(decompress(sent) == expected);
        EXPECT_LT(sent.size(), expected.size());
        EXPECT_EQ(queue.records_sent(), count);
        EXPECT_EQ(queue.bytes(), 0U);
        EXPECT_EQ(queue.bytes_sent(), sent.size());
        // The frame goes on, and each batch can be decompressed as soon as it has come.
        const Bytes later = record_of(20, 3);
        queue.append_record(later, 0);
        EXPECT_EQ(decompress(drain(queue, piece)), later);
        EXPECT_EQ(queue.records_sent(), count + 1);
        EXPECT_FALSE(decompress.failed());
    }
}

TEST(OutputQueue, compressed_bytes_that_are_being_sent_stay_while_others_come) {
    ChunkPool pool;
    OutputQueue queue{pool};
    queue.compress();
    queue.append_record(record_of(20, 1), 0);
    const auto first = queue.next();
    const Bytes copy{first.begin(), first.end()};
    queue.append_record(record_of(20, 2), 0);
    queue.sent(1);
    const auto rest = queue.next();
    EXPECT_EQ(rest.data(), first.data() + 1);
    EXPECT_TRUE(std::equal(rest.begin(), rest.end(), copy.begin() + 1));
    EXPECT_EQ(queue.records_sent(), 0U);
    queue.sent(rest.size());
    EXPECT_EQ(queue.records_sent(), 1U);
    Decompressor decompress;
    EXPECT_EQ(decompress(copy), record_of(20, 1));
    EXPECT_EQ(decompress(drain(queue)), record_of(20, 2));
}

TEST(OutputQueue, what_waits_before_the_compression_is_sent_as_it_is) {
    ChunkPool pool;
    OutputQueue queue{pool};
    queue.append(bytes_of("success=1\n"));
    const auto sending = queue.next();
    queue.compress();
    queue.append_record(record_of(20, 1), 0);
    EXPECT_EQ(queue.next().data(), sending.data());
    ASSERT_EQ(queue.next().size(), 10U);
    queue.sent(4);
    EXPECT_EQ(text_of({queue.next().begin(), queue.next().end()}), "ess=1\n");
    queue.sent(6);
    Decompressor decompress;
    EXPECT_EQ(decompress(drain(queue)), record_of(20, 1));
    EXPECT_FALSE(decompress.failed());
}

TEST(OutputQueue, chunks_are_used_again_and_an_empty_queue_has_none) {
    ChunkPool pool;
    std::set<const std::byte*> first_places;
    {
        OutputQueue queue{pool};
        std::size_t count = 0;
        append_many(queue, count);
        for (auto bytes = queue.next(); !bytes.empty(); bytes = queue.next()) {
            first_places.insert(bytes.data());
            queue.sent(bytes.size());
        }
    }
    EXPECT_EQ(first_places.size(), 4U);
    OutputQueue other{pool};
    for (int i = 0; i < 4; ++i) {
        other.append(bytes_of("x"));
        EXPECT_TRUE(first_places.contains(other.next().data()));
        ASSERT_EQ(other.next().size(), 1U);  // nothing of its use before
        other.sent(1);
        EXPECT_EQ(other.records_sent(), 0U);
    }
}

TEST(OutputQueue, knows_when_the_oldest_record_that_waits_was_appended) {
    for (const bool compressed : {false, true}) {
        ChunkPool pool;
        OutputQueue queue{pool};
        if (compressed) {
            queue.compress();
        }
        EXPECT_EQ(queue.oldest_ns(), 0);
        queue.append_record(record_of(12, 1), 7);
        queue.append_record(record_of(12, 2), 9);
        EXPECT_EQ(queue.oldest_ns(), 7);
        queue.sent(queue.next().size() - 1);
        EXPECT_EQ(queue.oldest_ns(), 7);
        queue.sent(1);
        EXPECT_EQ(queue.oldest_ns(), 0);
        queue.append_record(record_of(12, 3), 11);
        EXPECT_EQ(queue.oldest_ns(), 11);
    }
}

TEST(OutputQueue, a_queue_that_ends_gives_its_chunks_back) {
    ChunkPool pool;
    const std::byte* place = nullptr;
    {
        OutputQueue queue{pool};
        queue.append_record(record_of(20, 1), 0);
        place = queue.next().data();
    }
    const auto chunk = pool.get();
    EXPECT_EQ(chunk->bytes.data(), place);
    EXPECT_EQ(chunk->used, 0U);
    EXPECT_EQ(chunk->sent, 0U);
    EXPECT_EQ(chunk->records, 0U);
}

}  // namespace
}  // namespace pinstrike::actors::gateway::test
