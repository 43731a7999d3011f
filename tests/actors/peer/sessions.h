// path: cold
//
// Two peers without sockets, and a block format that is simpler than any venue's.
#pragma once

#include "actors/peer/client_session.h"
#include "actors/peer/server_session.h"
#include "config/time_units.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::actors::peer::test {

using Bytes = std::vector<std::byte>;

inline constexpr std::int64_t start_ns = 1'000 * second_ns;

inline Bytes bytes_of(std::string_view text) {
    const auto bytes = std::as_bytes(std::span{text});
    return {bytes.begin(), bytes.end()};
}

/// A block of a test: its numbers, its time, and padding bytes.
struct TestBlock {
    std::uint32_t first = 0;
    std::uint32_t messages = 0;
    std::int64_t ts_ns = 0;
    std::uint32_t role = 0;
    std::uint32_t spare = 0;

    [[nodiscard]] Bytes bytes() const {
        Bytes made(sizeof *this);
        std::memcpy(made.data(), this, sizeof *this);
        return made;
    }
};

inline bool read_test_block(std::span<const std::byte> bytes, feed::Block& into) {
    TestBlock block;
    if (bytes.size() != sizeof block) {
        return false;
    }
    std::memcpy(&block, bytes.data(), sizeof block);
    into.bytes = bytes;
    into.sequence = block.first;
    into.messages = static_cast<std::uint16_t>(block.messages);
    into.ts_exchange_ns = block.ts_ns;
    into.role = static_cast<feed::BlockRole>(block.role % 4);
    return true;
}

inline Identity identity_of(std::uint8_t instance, std::string_view secret = "a secret of theirs",
                            std::string feed = "opra") {
    Identity identity{std::move(feed), Secret{bytes_of(secret)}, {}};
    identity.instance.fill(std::byte{instance});
    return identity;
}

inline Nonce nonce_of(std::uint8_t byte) {
    Nonce nonce;
    nonce.fill(std::byte{byte});
    return nonce;
}

/// The record of a series with quotes and trades.
inline StateRecord state_of_series() {
    StateRecord record;
    record.line = 1;
    record.place = {.reset_ts_ns = 5, .reset_sequence = 6, .sequence = 7};
    record.key = {0x1B'10'41'20'20'59'50'53, 100'00000000};  // SPY, 2027-01-16, a call
    record.quotes = 3;
    record.bid.value = 100 | std::uint64_t{10} << 32;
    record.bid.sequence = 4;
    record.bid.said = std::uint32_t{'C'} | std::uint32_t{'B'} << 8 |
                      std::uint32_t{side_known | side_present} << mark_shift;
    record.offer.sequence = 5;
    record.offer.said = std::uint32_t{side_known} << mark_shift;
    record.has_trades = true;
    record.trades.volume = 12;
    record.trades.trades = 2;
    record.trades.last = 105;
    record.trades.last_code = 'B';
    record.trades.last_participant = 'Q';
    record.trades.last_type = 'I';
    record.trades.flags = has_last | last_touched;
    return record;
}

/// The same without trades.
inline StateRecord quoted() {
    StateRecord record = state_of_series();
    record.has_trades = false;
    record.trades = {};
    return record;
}

inline StateRecord placed(std::uint16_t line) {
    StateRecord record;
    record.kind = StateRecord::Kind::place;
    record.line = line;
    record.place = {7, 2, 5};
    record.books = 3;
    return record;
}

/// Records all answers.
struct Answers final : feed::RepairAnswers {
    void block(std::uint16_t line, std::span<const std::byte> bytes) override {
        blocks.push_back({line, Bytes(bytes.begin(), bytes.end())});
    }

    void finished(std::uint64_t id) override { done.push_back(id); }

    void refused(std::uint64_t id, feed::Refusal reason) override {
        refusals.push_back({id, reason});
    }

    std::vector<std::pair<std::uint16_t, Bytes>> blocks;
    std::vector<std::uint64_t> done;
    std::vector<std::pair<std::uint64_t, feed::Refusal>> refusals;
};

inline feed::RepairRequest request_of(std::uint64_t id, std::uint16_t line, std::uint32_t first,
                                      std::uint32_t messages) {
    return {id,
            line,
            first,
            messages,
            std::numeric_limits<std::int64_t>::min(),
            std::numeric_limits<std::int64_t>::max()};
}

/// A client and a server, connected without sockets.
class Peers {
  public:
    explicit Peers(Identity server_is = identity_of(1), Identity client_is = identity_of(2),
                   SessionLimits limits = {}, std::string_view server_channel = {},
                   std::string_view client_channel = {})
        : server_identity(std::move(server_is)),
          client_identity(std::move(client_is)),
          server(server_identity, limits, history, server_counters, nonce_of(3),
                 std::as_bytes(std::span{server_channel}), start_ns),
          client(client_identity, limits, reader, client_counters, nonce_of(4),
                 std::as_bytes(std::span{client_channel}), start_ns) {}

    /// Blocks of 10 messages: numbers 1 to 10 * count, one stamped each microsecond.
    void keep(std::uint16_t line, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            const TestBlock block{1 + 10 * i, 10, start_ns + 1000 * i};
            const Bytes bytes = block.bytes();
            history.keep({line, 10, block.first, block.ts_ns, start_ns, bytes});
        }
    }

    /// Exchanges bytes until neither side has output.
    void talk() {
        while (!server.output().empty() || !client.output().empty()) {
            const Bytes down(server.output().begin(), server.output().end());
            server.sent(down.size(), now_ns);
            client.receive(down, now_ns, answers);
            const Bytes up(client.output().begin(), client.output().end());
            client.sent(up.size(), now_ns);
            server.receive(up, now_ns);
        }
    }

    /// Advances the time, steps both sides and exchanges their output.
    void pass(std::int64_t ns) {
        now_ns += ns;
        server.step(now_ns);
        client.step(now_ns, answers);
        talk();
    }

    std::int64_t now_ns = start_ns;
    std::vector<std::uint16_t> lines{1, 2};
    feed::History history{lines, {.keep_ns = 3600 * second_ns, .memory_bytes = 1 << 20}, {}};
    BlockReader reader{read_test_block, {}};
    ServerCounters server_counters;
    ClientCounters client_counters;
    Answers answers;
    Identity server_identity;
    Identity client_identity;
    ServerSession server;
    ClientSession client;
};

}  // namespace pinstrike::actors::peer::test
