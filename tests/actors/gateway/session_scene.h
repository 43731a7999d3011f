// path: cold
//
// A session with a host of the test, and what its client reads.
#pragma once

#include "actors/gateway/client_keys.h"
#include "actors/gateway/session.h"
#include "feed/dbn/metadata.h"
#include "feed/dbn/records.h"

#include <zstd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors::gateway::test {

inline constexpr std::string_view first_key = "db-0123456789abcdef0123456789abc";
inline constexpr std::string_view limited_key = "db-AAPLonly456789abcdef012345678";

/// Two keys: one without limits, and one for AAPL and SPY with one session.
inline ClientKeys test_keys() {
    ClientKey first;
    first.user = "first";
    first.key = first_key;
    ClientKey limited;
    limited.user = "limited";
    limited.key = limited_key;
    limited.underlyings = {"AAPL", "SPY"};
    limited.sessions = 1;
    limited.subscriptions = 3;
    return {first, limited};
}

/// What the gateway has read of the feed.
class FakeFeed final : public LiveFeed {
  public:
    [[nodiscard]] InstrumentId id_of(const pinstrike_key& key) override {
        const auto found = ids.find(hash_of(key));
        return found == ids.end() ? 0 : found->second;
    }

    [[nodiscard]] const LivePlaces& places() const override { return read; }

    [[nodiscard]] std::int64_t market_ns() const override { return time_ns; }

    std::map<std::uint32_t, InstrumentId> ids;  ///< by hash_of()
    LivePlaces read;
    std::int64_t time_ns = 0;
};

/// Gives the source that a test has set.
class FakeReplays final : public ReplayHost {
  public:
    [[nodiscard]] LiveFeed& feed() override { return live; }

    [[nodiscard]] bool has_recording() const override { return recording; }

    [[nodiscard]] Started start(const ClientKey& /*key*/,
                                const std::vector<ReplayWanted>& wanted) override {
        asked.push_back(wanted);
        return {std::move(source), refusal};
    }

    [[nodiscard]] std::size_t kept_bytes() const override { return kept_max; }

    FakeFeed live;
    bool recording = false;
    std::vector<std::vector<ReplayWanted>> asked;
    std::unique_ptr<ReplaySource> source;
    std::string refusal = "refused";
    std::size_t kept_max = std::size_t{1} << 20;
};

class FakeHost final : public SessionHost {
  public:
    explicit FakeHost(bool has_state = true) {
        the_config.queue_bytes = std::size_t{1} << 20;
        if (has_state) {
            static_cast<void>(the_market.take_state({}));
        }
    }

    [[nodiscard]] const ClientKeys& keys() const override { return client_keys; }

    [[nodiscard]] unsigned sessions_of(const std::string& user) const override {
        const auto found = sessions.find(user);
        return found == sessions.end() ? 0 : found->second;
    }

    [[nodiscard]] Market& market() override { return the_market; }

    [[nodiscard]] ChunkPool& chunks() override { return pool; }

    [[nodiscard]] const GatewayConfig& config() const override { return the_config; }

    [[nodiscard]] const std::string& feed_problem() const override { return problem; }

    [[nodiscard]] ReplayHost& replays() override { return the_replays; }

    ClientKeys client_keys = test_keys();
    std::map<std::string, unsigned> sessions;
    Market the_market;
    ChunkPool pool;
    GatewayConfig the_config;
    std::string problem;
    FakeReplays the_replays;
};

/// All that waits in a queue, taken in pieces of at most `piece` bytes.
inline std::vector<std::byte> drain(OutputQueue& queue, std::size_t piece = SIZE_MAX) {
    std::vector<std::byte> all;
    for (auto bytes = queue.next(); !bytes.empty(); bytes = queue.next()) {
        const auto part = bytes.first(std::min(piece, bytes.size()));
        all.insert(all.end(), part.begin(), part.end());
        queue.sent(part.size());
    }
    return all;
}

inline std::string text_of(const std::vector<std::byte>& bytes) {
    std::string text(bytes.size(), '\0');
    std::transform(bytes.begin(), bytes.end(), text.begin(),
                   [](std::byte byte) { return static_cast<char>(byte); });
    return text;
}

/// What one zstd frame holds so far, decompressed as it comes.
class Decompressor {
  public:
    std::vector<std::byte> operator()(const std::vector<std::byte>& compressed) {
        std::vector<std::byte> all;
        ZSTD_inBuffer in{compressed.data(), compressed.size(), 0};
        std::size_t result = 0;
        bool full = true;
        while ((in.pos < in.size || full) && ZSTD_isError(result) == 0) {
            std::vector<std::byte> part(ZSTD_DStreamOutSize());
            ZSTD_outBuffer out{part.data(), part.size(), 0};
            result = ZSTD_decompressStream(context_.get(), &out, &in);
            full = out.pos == out.size;
            all.insert(all.end(), part.begin(),
                       part.begin() + static_cast<std::ptrdiff_t>(out.pos));
        }
        failed_ = failed_ || ZSTD_isError(result) != 0;
        return all;
    }

    [[nodiscard]] bool failed() const { return failed_; }

  private:
    struct Free {
        void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
    };

    std::unique_ptr<ZSTD_DCtx, Free> context_{ZSTD_createDCtx()};
    bool failed_ = false;
};

/// One record, as its bytes.
struct ReadRecord {
    std::vector<std::byte> bytes;

    template <class Record>
    [[nodiscard]] Record as() const {
        Record record;
        std::memcpy(&record, bytes.data(), std::min(sizeof record, bytes.size()));
        return record;
    }

    /// Such as "system 1: Heartbeat", "map 7: parent AAPL.OPT, AAPL  261218C00250000" or
    /// "cmbp-1 7, snapshot".
    [[nodiscard]] std::string text() const {
        using feed::dbn::RecordType;
        const auto header = as<feed::dbn::RecordHeader>();
        const std::string id = std::to_string(header.instrument);
        const auto snapshot = [&](std::uint8_t flags) {
            return id + ((flags & feed::dbn::flag_snapshot) != 0 ? ", snapshot" : "");
        };
        switch (header.type) {
            case RecordType::system: {
                const auto record = as<feed::dbn::SystemRecord>();
                return "system " + std::to_string(record.code) + ": " + record.text.data();
            }
            case RecordType::error: {
                const auto record = as<feed::dbn::ErrorRecord>();
                return "error " + std::to_string(record.code) + ": " + record.text.data();
            }
            case RecordType::symbol_mapping: {
                const auto record = as<feed::dbn::SymbolMappingRecord>();
                const char* const types[] = {"instrument_id", "raw_symbol", "", "", "parent"};
                return "map " + id + ": " + types[static_cast<std::size_t>(record.in_type)] + " " +
                       record.in_symbol.data() + ", " + record.out_symbol.data();
            }
            case RecordType::cmbp_1:
                return "cmbp-1 " + snapshot(as<feed::dbn::ConsolidatedRecord>().flags);
            case RecordType::mbp_1:
                return "mbp-1 " + snapshot(as<feed::dbn::VenueRecord>().flags);
            case RecordType::cbbo_1s:
                return "cbbo-1s " + snapshot(as<feed::dbn::IntervalRecord>().flags);
            case RecordType::trade:
                return "trade " + id;
            case RecordType::definition:
                return "definition " + id;
            case RecordType::statistics:
                return "statistics " + id;
            default:
                return "type " + std::to_string(static_cast<unsigned>(header.type)) + " " + id;
        }
    }
};

/// Cuts records apart by their lengths; nullopt: the last one is not complete.
inline std::optional<std::vector<ReadRecord>> split_records(const std::vector<std::byte>& bytes) {
    std::vector<ReadRecord> records;
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t length = static_cast<std::size_t>(bytes[at]) * 4;
        if (length < sizeof(feed::dbn::RecordHeader) || at + length > bytes.size()) {
            return std::nullopt;
        }
        const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
        records.push_back({{begin, begin + static_cast<std::ptrdiff_t>(length)}});
        at += length;
    }
    return records;
}

/// A session and its client.
struct SessionScene {
    explicit SessionScene(FakeHost& of) : host(of) {}

    void say(const std::string& line) { session.read(line + "\n", now_ns); }

    /// Text that waits.
    std::string read_text() { return text_of(drain(session.output().queue())); }

    /// Reads the greeting and logs in, with more pairs of the login line.
    std::string log_in(std::string_view key = first_key, const std::string& more = "") {
        const std::string greeting = read_text();
        challenge = greeting.substr(greeting.find("cram=") + 5, challenge_bytes);
        say("auth=" + answer_of(challenge, key) + "|dataset=OPRA.PILLAR|encoding=dbn" + more);
        return read_text();
    }

    /// The metadata that waits; later records follow.
    std::vector<std::byte> read_metadata() {
        std::vector<std::byte> bytes = drain(session.output().queue());
        const std::size_t size = std::min(bytes.size(), feed::dbn::metadata_bytes);
        behind_metadata.assign(bytes.begin() + static_cast<std::ptrdiff_t>(size), bytes.end());
        bytes.resize(size);
        return bytes;
    }

    /// The records that wait, after the metadata was read.
    std::vector<ReadRecord> read_records() {
        std::vector<std::byte> bytes = std::move(behind_metadata);
        behind_metadata.clear();
        const auto more = drain(session.output().queue());
        bytes.insert(bytes.end(), more.begin(), more.end());
        return split_records(bytes).value_or(std::vector<ReadRecord>{});
    }

    /// The texts of the records that wait.
    std::vector<std::string> read() {
        std::vector<std::string> texts;
        for (const ReadRecord& record : read_records()) {
            texts.push_back(record.text());
        }
        return texts;
    }

    /// Logs in and starts, and reads up to the metadata.
    void start(const std::string& subscription = "", const std::string& login = "") {
        log_in(first_key, login);
        if (!subscription.empty()) {
            say(subscription);
        }
        say("start_session=0");
        read_metadata();
    }

    void step(std::int64_t later_ns = 0) {
        now_ns += later_ns;
        session.step(now_ns);
    }

    FakeHost& host;
    std::int64_t now_ns = 1'795'791'600'000'000'000;
    Session session{host, SessionOrigin{17, "192.0.2.1", now_ns}};
    std::string challenge;
    std::vector<std::byte> behind_metadata;
};

}  // namespace pinstrike::actors::gateway::test
