// path: cold
//
// Reads any text as lines of a client of the gateway. The first byte selects who sends it: 0 a
// stranger, 1 a client that has logged in, 2 one that has started, 3 to 5 the same with a limited
// key, compression and the times of sending. The second byte determines the size of the pieces into
// which the rest is cut.
#include "actors/gateway/limits.h"
#include "actors/gateway/protocol.h"
#include "config/check.h"
#include "tests/actors/gateway/session_scene.h"
#include "tests/fuzz/fuzz.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>

namespace {

using pinstrike::actors::Market;
using namespace pinstrike::actors::gateway;
using namespace pinstrike::actors::gateway::test;

/// A text that the gateway says is one line without pairs.
void check_text(std::string_view text) {
    PINSTRIKE_CHECK(!text.empty());
    PINSTRIKE_CHECK(std::all_of(text.begin(), text.end(),
                                [](char c) { return c >= ' ' && c <= '~' && c != '|'; }));
}

void check_list(const SymbolList& list) {
    PINSTRIKE_CHECK(!list.symbols.empty() && list.symbols.size() <= symbols_max);
    for (const std::string& symbol : list.symbols) {
        PINSTRIKE_CHECK(symbol.find_first_of("|,abcdefghijklmnopqrstuvwxyz") == std::string::npos);
    }
}

void check_parsers(std::string_view line) {
    const auto login = parse_login(line);
    PINSTRIKE_CHECK(login.value.has_value() == login.error.empty());
    if (login.value) {
        PINSTRIKE_CHECK(login.value->heartbeat_seconds >= heartbeat_seconds_min &&
                        login.value->heartbeat_seconds <= heartbeat_seconds_max);
        PINSTRIKE_CHECK(login.value->client.find('|') == std::string::npos);
    }
    const auto request = parse_request(line);
    PINSTRIKE_CHECK(request.value.has_value() == request.error.empty());
    if (!request.value) {
        check_text(protocol_text(request.error, request.error.size()));
    } else if (request.value->kind != Request::Kind::start) {
        check_list(request.value->list);
        PINSTRIKE_CHECK(!request.value->has_start || !request.value->snapshot);
    }
}

/// A market with some series and their quotes.
void fill(Market& market) {
    for (std::uint32_t id = 1; id <= 8; ++id) {
        pinstrike_value value{};
        const std::string_view root = id % 2 == 0 ? "AAPL" : "SPY";
        root.copy(static_cast<char*>(value.key.root), sizeof value.key.root);
        value.key.right = id % 4 < 2 ? 'C' : 'P';
        value.key.expiration = 20261218;
        value.key.id = id;
        value.key.strike_e8 = id * std::int64_t{100'000'000};
        PINSTRIKE_CHECK(market.take_state({&value, 1}));
    }
}

/// A trade and a quote of each series.
void send_events(FakeHost& host, std::int64_t now_ns) {
    Market& market = host.the_market;
    for (std::uint32_t id = 1; id <= 8; ++id) {
        pinstrike_record record{};
        record.has_key = 1;
        record.key = market.instruments().key_of(id);
        record.participant = 'C';
        record.receive_ns = record.exchange_ns = now_ns;
        record.kind = PINSTRIKE_TRADE;
        record.decimals = 2;
        record.of.trade = {.price = 100, .size = 1, .reference = 0};
        PINSTRIKE_CHECK(market.apply(record));
        record.kind = PINSTRIKE_QUOTE;
        record.indicator = 'F';
        record.has_best = 1;
        PINSTRIKE_CHECK(market.apply(record));
    }
    market.advance(now_ns + 2'000'000'000);
}

/// What a session has to say before it starts: complete lines of pairs.
void check_lines(const std::string& text) {
    PINSTRIKE_CHECK(text.empty() || text.ends_with('\n'));
    for (const char c : text) {
        PINSTRIKE_CHECK(c == '\n' || (c >= ' ' && c <= '~'));
    }
}

/// Behind the metadata are whole records, and texts of them have no separators.
void check_records(const std::vector<std::byte>& bytes, std::size_t trailer) {
    const auto records = split_records(bytes);
    PINSTRIKE_CHECK(records.has_value());
    for (const ReadRecord& record : *records) {
        using pinstrike::feed::dbn::RecordType;
        const auto type = record.as<pinstrike::feed::dbn::RecordHeader>().type;
        if (type == RecordType::system || type == RecordType::error) {
            PINSTRIKE_CHECK(record.bytes.size() == 320 + trailer);
            const auto text = record.as<pinstrike::feed::dbn::SystemRecord>().text;
            check_text(std::string_view{text.data()}.substr(0, 302));
        }
        PINSTRIKE_CHECK(record.text().size() < 400);
    }
}

/// Sends the text and events, and checks what the session says.
void play(std::string_view text, std::size_t piece, unsigned mode) {
    FakeHost host;
    fill(host.the_market);
    SessionScene scene{host};
    const bool rich = mode >= 3;
    const unsigned phase = mode % 3;
    if (phase >= 1) {
        scene.log_in(rich ? limited_key : first_key, rich ? "|ts_out=1|compression=zstd" : "");
        PINSTRIKE_CHECK(scene.session.phase() == Session::Phase::subscribing);
    } else {
        scene.read_text();
    }
    if (phase == 2) {
        scene.say("start_session");
    }
    for (std::size_t at = 0; at < text.size(); at += piece) {
        scene.session.read(text.substr(at, piece), scene.now_ns);
    }
    send_events(host, scene.now_ns);
    for (int i = 0; i < 4; ++i) {
        scene.step(4'000'000'000);
    }
    const bool dbn = phase == 2 || (phase == 1 && scene.session.output().queue().bytes() != 0);
    std::vector<std::byte> said = drain(scene.session.output().queue(), piece);
    if (!dbn) {
        check_lines(text_of(said));
        PINSTRIKE_CHECK(phase != 0 || scene.session.phase() == Session::Phase::ended);
    } else {
        if (rich) {
            Decompressor decompress;
            said = decompress(said);
            PINSTRIKE_CHECK(!decompress.failed());
        }
        PINSTRIKE_CHECK(said.size() >= pinstrike::feed::dbn::metadata_bytes);
        said.erase(said.begin(), said.begin() + pinstrike::feed::dbn::metadata_bytes);
        check_records(said, rich ? 8 : 0);
    }
    scene.session.output().give_up();
    const SessionCounters& counters = scene.session.output().counters();
    PINSTRIKE_CHECK(counters.read(SessionCount::records) ==
                    counters.read(SessionCount::sent) + counters.read(SessionCount::skipped) +
                        counters.read(SessionCount::unsent));
}

}  // namespace

int fuzz_one(std::span<const std::byte> bytes) {
    if (bytes.size() < 2) {
        return 0;
    }
    const std::string text = text_of({bytes.begin() + 2, bytes.end()});
    check_parsers(std::string_view{text}.substr(0, text.find('\n')));
    play(text, 1 + static_cast<std::size_t>(bytes[1]) * 8, static_cast<unsigned>(bytes[0]) % 6);
    return 0;
}
