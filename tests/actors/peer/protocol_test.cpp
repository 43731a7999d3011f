// path: cold
#include "config/time_units.h"
#include "tests/actors/peer/sessions.h"

#include <gtest/gtest.h>

#include <random>

namespace pinstrike::actors::peer::test {
namespace {

using Refusals = std::vector<std::pair<std::uint64_t, feed::Refusal>>;

template <class Put>
Bytes frame_of(Put put) {
    FrameWriter writer;
    put(writer);
    return {writer.waiting().begin(), writer.waiting().end()};
}

/// Hexadecimal digits without spaces.
Bytes from_hex(std::string_view text) {
    Bytes bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        bytes.push_back(
            static_cast<std::byte>(std::stoi(std::string{text.substr(i, 2)}, nullptr, 16)));
    }
    return bytes;
}

// --- the bytes themselves: README.md and other implementations rely on them ---

TEST(Frames, StandByteForByteAsDocumented) {
    EXPECT_EQ(frame_of([](FrameWriter& w) { w.put_keep_alive(); }), from_hex("5053020800000000"));
    EXPECT_EQ(frame_of([](FrameWriter& w) {
                  w.put(feed::RepairRequest{0x0102030405060708, 0x2021, 0x11121314, 1000, -2, 3});
              }),
              from_hex("5053020426000000"
                       "0807060504030201"
                       "FEFFFFFFFFFFFFFF"
                       "0300000000000000"
                       "1413121100000000"
                       "E8030000"
                       "2120"));
    EXPECT_EQ(frame_of([](FrameWriter& w) {
                  w.put(BlockFrame{7, 0x0201, std::as_bytes(std::span{std::string_view{"xyz"}})});
              }),
              from_hex("505302050D000000"
                       "0700000000000000"
                       "0102"
                       "78797A"));
    EXPECT_EQ(frame_of([](FrameWriter& w) {
                  w.put(Done{7, 5});
              }),
              from_hex("505302060C000000"
                       "0700000000000000"
                       "05000000"));
    EXPECT_EQ(frame_of([](FrameWriter& w) {
                  w.put(Refused{7, PeerRefusal::not_kept, feed::KeptRange{1, 2, 3, 4}});
              }),
              from_hex("505302072A000000"
                       "0700000000000000"
                       "0701"
                       "01000000000000000200000000000000"
                       "03000000000000000400000000000000"));
    const Bytes proof = frame_of([](FrameWriter& w) {
        w.put(Proof{nonce_of(1), identity_of(2).instance, nonce_of(3), "opra"});
    });
    EXPECT_EQ(proof.size(), 8U + 32 + 16 + 32 + 1 + 4);
    EXPECT_EQ(Bytes(proof.end() - 6, proof.end()), from_hex("03046F707261"));
    EXPECT_EQ(frame_of([](FrameWriter& w) { w.put(Challenge{}); }).size(), 8U + 48);
    EXPECT_EQ(frame_of([](FrameWriter& w) { w.put(Welcome{}); }).size(), 8U + 32);
}

/// Numbers of refusals on the wire never change.
TEST(Frames, RefusalsKeepTheirNumbers) {
    EXPECT_EQ(static_cast<int>(PeerRefusal::malformed), 0);
    EXPECT_EQ(static_cast<int>(PeerRefusal::wrong_version), 1);
    EXPECT_EQ(static_cast<int>(PeerRefusal::not_authenticated), 2);
    EXPECT_EQ(static_cast<int>(PeerRefusal::wrong_feed), 3);
    EXPECT_EQ(static_cast<int>(PeerRefusal::itself), 4);
    EXPECT_EQ(static_cast<int>(PeerRefusal::late), 5);
    EXPECT_EQ(static_cast<int>(PeerRefusal::unknown_line), 6);
    EXPECT_EQ(static_cast<int>(PeerRefusal::not_kept), 7);
    EXPECT_EQ(static_cast<int>(PeerRefusal::over_budget), 8);
    EXPECT_EQ(static_cast<int>(PeerRefusal::no_state), 9);
}

/// Computed by Python's hmac module over the bytes that README.md lists.
TEST(Secrets, AreProvedAsDocumented) {
    const Secret secret{bytes_of("0123456789abcdef")};
    Handshake handshake;
    const Bytes channel = bytes_of("channel");
    handshake.channel = channel;
    handshake.server.nonce.fill(std::byte{1});
    handshake.server.instance.fill(std::byte{2});
    handshake.client_nonce.fill(std::byte{3});
    handshake.client_instance.fill(std::byte{4});
    handshake.feed = "opra";
    const Mac client = prove(secret, Role::client, handshake);
    const Mac server = prove(secret, Role::server, handshake);
    EXPECT_EQ(Bytes(client.begin(), client.end()), from_hex("C5835324A58D54FF60D1CDCFA25FF8C0"
                                                            "449B84EE4ED6CEC8FABCE354EBA1255E"));
    EXPECT_EQ(Bytes(server.begin(), server.end()), from_hex("026CD337EBEE9551F39C24E5692CA934"
                                                            "3CFD931B0EB8FFD0F6C8D347780488C6"));
    EXPECT_TRUE(same(client, client));
    EXPECT_FALSE(same(client, server));
}

TEST(Secrets, EveryPartOfAHandshakeCounts) {
    const Secret secret{bytes_of("0123456789abcdef")};
    Handshake handshake;
    handshake.feed = "opra";
    const Mac proved = prove(secret, Role::client, handshake);
    const auto differs = [&](auto change) {
        Handshake other = handshake;
        change(other);
        return !same(proved, prove(secret, Role::client, other));
    };
    const Bytes channel(1);
    EXPECT_TRUE(differs([&](Handshake& h) { h.channel = channel; }));
    EXPECT_TRUE(differs([](Handshake& h) { h.server.nonce[31] = std::byte{1}; }));
    EXPECT_TRUE(differs([](Handshake& h) { h.server.instance[15] = std::byte{1}; }));
    EXPECT_TRUE(differs([](Handshake& h) { h.client_nonce[0] = std::byte{1}; }));
    EXPECT_TRUE(differs([](Handshake& h) { h.client_instance[0] = std::byte{1}; }));
    EXPECT_TRUE(differs([](Handshake& h) { h.feed = "oprb"; }));
    EXPECT_FALSE(
        same(proved, prove(Secret{bytes_of("0123456789abcdeg")}, Role::client, handshake)));
    Nonce one{};
    Nonce other{};
    ASSERT_TRUE(draw(one));
    ASSERT_TRUE(draw(other));
    EXPECT_NE(one, other);
}

TEST(FrameReader, CutsAtAnyByte) {
    FrameWriter writer;
    writer.put(Challenge{nonce_of(9), identity_of(8).instance});
    writer.put(request_of(1, 2, 3, 4));
    writer.put_keep_alive();
    const Bytes all(writer.waiting().begin(), writer.waiting().end());
    for (std::size_t piece = 1; piece <= all.size(); ++piece) {
        FrameReader reader;
        std::vector<FrameType> types;
        for (std::size_t at = 0; at < all.size(); at += piece) {
            reader.push(std::span{all}.subspan(at, std::min(piece, all.size() - at)));
            Frame frame;
            FrameReader::Result result;
            while ((result = reader.next(frame)) == FrameReader::Result::frame) {
                types.push_back(frame.type);
            }
            ASSERT_EQ(result, FrameReader::Result::incomplete);
        }
        ASSERT_EQ(types,
                  (std::vector{FrameType::challenge, FrameType::request, FrameType::keep_alive}));
    }
}

TEST(FrameReader, RefusesWhatNoFrameCanBe) {
    const auto result_of = [](std::string_view hex) {
        FrameReader reader;
        reader.push(from_hex(hex));
        Frame frame;
        return reader.next(frame);
    };
    using enum FrameReader::Result;
    EXPECT_EQ(result_of(""), incomplete);
    EXPECT_EQ(result_of("50"), incomplete);
    EXPECT_EQ(result_of("5053"), incomplete);
    EXPECT_EQ(result_of("5054"), malformed);
    EXPECT_EQ(result_of("505301"), wrong_version);
    EXPECT_EQ(result_of("50530204"), incomplete);
    EXPECT_EQ(result_of("5053020000000000"), malformed);   // no type 0
    EXPECT_EQ(result_of("5053020900000000"), malformed);   // nor 9
    EXPECT_EQ(result_of("5053020801000000"), malformed);   // a keep-alive has no body
    EXPECT_EQ(result_of("5053020425000000"), malformed);   // a request has 38 bytes
    EXPECT_EQ(result_of("50530205FFFFFFFF"), malformed);   // 4 GiB of block
    EXPECT_EQ(result_of("505302050B400000"), malformed);   // one byte too many
    EXPECT_EQ(result_of("505302050A400000"), incomplete);  // 16394: the largest
}

TEST(FrameReader, ReadsTheLargestBlockThatAHistoryKeeps) {
    const Bytes largest(feed::kept_block_bytes_max, std::byte{7});
    FrameReader reader;
    reader.push(frame_of([&](FrameWriter& w) { w.put(BlockFrame{7, 1, largest}); }));
    Frame frame;
    ASSERT_EQ(reader.next(frame), FrameReader::Result::frame);
    const auto block = parse_block(frame.body);
    ASSERT_TRUE(block);
    EXPECT_EQ(Bytes(block->bytes.begin(), block->bytes.end()), largest);
}

// --- authentication ---

TEST(PeerSession, BothProveTheSecret) {
    Peers peers;
    EXPECT_EQ(peers.client.request(request_of(1, 1, 1, 1), start_ns), feed::Refusal::not_connected);
    peers.talk();
    EXPECT_TRUE(peers.server.open());
    EXPECT_TRUE(peers.client.open());
    EXPECT_EQ(peers.server_counters.counts.read(ServerCount::authenticated), 1U);
    EXPECT_EQ(peers.client_counters.counts.read(ClientCount::authenticated), 1U);
}

struct NotLetIn {
    const char* name;
    Identity server;
    Identity client;
    PeerRefusal why;
};

class PeersNotLetIn : public testing::TestWithParam<NotLetIn> {};

TEST_P(PeersNotLetIn, AreReported) {
    Peers peers(GetParam().server, GetParam().client);
    peers.talk();
    EXPECT_EQ(peers.server.end(), SessionEnd::refused);
    EXPECT_EQ(peers.server.why(), GetParam().why);
    EXPECT_EQ(peers.client.end(), SessionEnd::was_refused);
    EXPECT_EQ(peers.client.why(), GetParam().why);
    EXPECT_EQ(peers.server_counters.refusals.read(GetParam().why), 1U);
    EXPECT_EQ(peers.server_counters.ends.read(SessionEnd::refused), 1U);
    EXPECT_EQ(peers.client_counters.why.read(GetParam().why), 1U);
    EXPECT_EQ(peers.client.request(request_of(1, 1, 1, 1), start_ns), feed::Refusal::not_connected);
}

INSTANTIATE_TEST_SUITE_P(
    Peers, PeersNotLetIn,
    testing::Values(NotLetIn{"secret", identity_of(1), identity_of(2, "another secret"),
                             PeerRefusal::not_authenticated},
                    NotLetIn{"feed", identity_of(1), identity_of(2, "a secret of theirs", "other"),
                             PeerRefusal::wrong_feed},
                    NotLetIn{"both", identity_of(1), identity_of(2, "another secret", "other"),
                             PeerRefusal::not_authenticated}),
    [](const auto& param) { return std::string{param.param.name}; });

TEST(PeerSession, EveryByteOfTheProofCounts) {
    for (std::size_t wrong = 0; wrong <= sizeof(Mac); ++wrong) {
        Peers peers;
        Handshake handshake;
        handshake.server = {nonce_of(3), peers.server_identity.instance};
        handshake.client_instance = identity_of(2).instance;
        handshake.feed = "opra";
        Mac mac = prove(peers.server_identity.secret, Role::client, handshake);
        if (wrong != sizeof(Mac)) {
            mac[wrong] ^= std::byte{1};
        }
        peers.server.receive(frame_of([&](FrameWriter& w) {
                                 w.put(Proof{{}, handshake.client_instance, mac, "opra"});
                             }),
                             start_ns);
        EXPECT_EQ(peers.server.open(), wrong == sizeof(Mac)) << wrong;
        EXPECT_EQ(peers.server_counters.refusals.read(PeerRefusal::not_authenticated),
                  wrong == sizeof(Mac) ? 0U : 1U);
    }
}

TEST(PeerSession, AnInstanceDoesNotTalkToItself) {
    Peers peers(identity_of(1), identity_of(1));
    peers.talk();
    EXPECT_EQ(peers.client.end(), SessionEnd::refused);  // it sent no proof
    EXPECT_EQ(peers.client.why(), PeerRefusal::itself);
    // An attacker between them changes the server's instance:
    Peers relayed;
    Handshake handshake;
    handshake.server = {nonce_of(3), relayed.server_identity.instance};
    handshake.client_instance = relayed.server_identity.instance;
    handshake.feed = "opra";
    relayed.server.receive(
        frame_of([&](FrameWriter& w) {
            w.put(Proof{{},
                        handshake.client_instance,
                        prove(relayed.server_identity.secret, Role::client, handshake),
                        "opra"});
        }),
        start_ns);
    EXPECT_EQ(relayed.server.why(), PeerRefusal::itself);
}

TEST(PeerSession, AServerThatDoesNotKnowTheSecretIsLeft) {
    Peers peers;
    peers.client.receive(frame_of([](FrameWriter& w) { w.put(Challenge{}); }), start_ns,
                         peers.answers);
    EXPECT_FALSE(peers.client.output().empty());
    peers.client.receive(frame_of([](FrameWriter& w) { w.put(Welcome{nonce_of(1)}); }), start_ns,
                         peers.answers);
    EXPECT_EQ(peers.client.end(), SessionEnd::refused);
    EXPECT_EQ(peers.client.why(), PeerRefusal::not_authenticated);
}

/// A server cannot send the client's own mac back as its proof.
TEST(PeerSession, AProofCannotBeTurnedRound) {
    Peers peers;
    peers.client.receive(frame_of([](FrameWriter& w) { w.put(Challenge{}); }), start_ns,
                         peers.answers);
    FrameReader reader;
    reader.push(peers.client.output());
    Frame frame;
    ASSERT_EQ(reader.next(frame), FrameReader::Result::frame);
    const auto proof = parse_proof(frame.body);
    ASSERT_TRUE(proof);
    peers.client.receive(frame_of([&](FrameWriter& w) { w.put(Welcome{proof->mac}); }), start_ns,
                         peers.answers);
    EXPECT_EQ(peers.client.why(), PeerRefusal::not_authenticated);
}

TEST(PeerSession, SomebodyBetweenTwoTlsChannelsIsFound) {
    Peers peers(identity_of(1), identity_of(2), {}, "the channel to the server",
                "the channel to the client");
    peers.talk();
    EXPECT_EQ(peers.server.why(), PeerRefusal::not_authenticated);
}

TEST(PeerSession, AnotherVersionIsReported) {
    Peers peers;
    peers.server.receive(from_hex("5053010000000000"), start_ns);
    EXPECT_EQ(peers.server.why(), PeerRefusal::wrong_version);
    peers.client.receive(peers.server.output(), start_ns, peers.answers);
    EXPECT_EQ(peers.client.end(), SessionEnd::was_refused);
    EXPECT_EQ(peers.client.why(), PeerRefusal::wrong_version);
    Peers others;
    others.client.receive(from_hex("5053010000000000"), start_ns, others.answers);
    EXPECT_EQ(others.client.end(), SessionEnd::refused);
    EXPECT_EQ(others.client.why(), PeerRefusal::wrong_version);
}

TEST(PeerSession, WhatIsOutOfTurnEndsIt) {
    const std::vector<Bytes> to_server{
        bytes_of("GET / HTTP/1.1\r\n\r\n"),
        frame_of([](FrameWriter& w) { w.put_keep_alive(); }),
        frame_of([](FrameWriter& w) { w.put(request_of(1, 1, 1, 1)); }),
        frame_of([](FrameWriter& w) { w.put(Challenge{}); }),
        frame_of([](FrameWriter& w) { w.put(Done{}); }),
    };
    for (const Bytes& bytes : to_server) {
        Peers peers;
        peers.server.receive(bytes, start_ns);
        EXPECT_EQ(peers.server.why(), PeerRefusal::malformed);
        const std::size_t said = peers.server.output().size();
        peers.server.receive(to_server[0], start_ns);  // the session has ended
        EXPECT_EQ(peers.server.output().size(), said);
    }
    for (const Bytes& bytes : {to_server[0], to_server[1], to_server[4],
                               frame_of([](FrameWriter& w) { w.put(Welcome{}); })}) {
        Peers peers;
        peers.client.receive(bytes, start_ns, peers.answers);
        EXPECT_EQ(peers.client.why(), PeerRefusal::malformed);
    }
    Peers open;
    open.talk();
    open.server.receive(frame_of([](FrameWriter& w) { w.put(request_of(0, 1, 1, 1)); }), start_ns);
    open.client.receive(frame_of([](FrameWriter& w) { w.put(Challenge{}); }), start_ns,
                        open.answers);
    EXPECT_EQ(open.server.why(), PeerRefusal::malformed);  // request id 0 is invalid
    EXPECT_EQ(open.client.why(), PeerRefusal::malformed);
}

// --- requests ---

TEST(PeerSession, BlocksOfTheRangeAreServed) {
    Peers peers;
    peers.keep(1, 100);
    peers.talk();
    EXPECT_EQ(peers.client.request(request_of(5, 1, 15, 20), start_ns), std::nullopt);
    peers.talk();
    ASSERT_EQ(peers.answers.blocks.size(), 3U);  // 11, 21, 31
    EXPECT_EQ(peers.answers.blocks[0].first, 1);
    EXPECT_EQ(peers.answers.blocks[0].second, (TestBlock{11, 10, start_ns + 1000}.bytes()));
    EXPECT_EQ(peers.answers.done, (std::vector<std::uint64_t>{5}));
    EXPECT_TRUE(peers.answers.refusals.empty());
    EXPECT_EQ(peers.server_counters.counts.read(ServerCount::served), 1U);
    EXPECT_EQ(peers.server_counters.counts.read(ServerCount::served_blocks), 3U);
    EXPECT_EQ(peers.server_counters.counts.read(ServerCount::served_bytes),
              peers.client_counters.counts.read(ClientCount::bytes));
}

TEST(PeerSession, RefusesWhatItCannotServe) {
    Peers peers;
    peers.keep(1, 10);
    peers.talk();
    const auto refusal_of = [&](const feed::RepairRequest& request) {
        peers.answers.refusals.clear();
        EXPECT_EQ(peers.client.request(request, peers.now_ns), std::nullopt);
        peers.talk();
        EXPECT_EQ(peers.answers.refusals.size(), 1U);
        return peers.answers.refusals.at(0).second;
    };
    EXPECT_EQ(refusal_of(request_of(1, 3, 1, 1)), feed::Refusal::unknown_line);
    EXPECT_EQ(refusal_of(request_of(2, 1, 101, 1)), feed::Refusal::not_kept);
    EXPECT_EQ(refusal_of(request_of(3, 2, 1, 1)), feed::Refusal::not_kept);
    EXPECT_EQ(refusal_of(request_of(4, 1, 0, 1)), feed::Refusal::malformed);
    EXPECT_EQ(refusal_of(request_of(5, 1, 1, 0)), feed::Refusal::malformed);
    EXPECT_EQ(refusal_of(request_of(6, 1, 1, 1001)), feed::Refusal::malformed);
    feed::RepairRequest turned = request_of(7, 1, 1, 1);
    turned.ts_before_ns = 2;
    turned.ts_behind_ns = 1;
    EXPECT_EQ(refusal_of(turned), feed::Refusal::malformed);
    EXPECT_TRUE(peers.server.open());  // it still answers valid requests
    EXPECT_EQ(peers.client.request(request_of(8, 1, 1, 1), start_ns), std::nullopt);
    peers.talk();
    EXPECT_EQ(peers.answers.done, (std::vector<std::uint64_t>{8}));
}

TEST(PeerSession, SaysWhatIsKept) {
    Peers peers;
    peers.keep(1, 10);
    peers.talk();
    const auto request = frame_of([](FrameWriter& w) { w.put(request_of(2, 1, 101, 1)); });
    peers.server.receive(request, start_ns);
    FrameReader reader;
    reader.push(peers.server.output());
    Frame frame;
    ASSERT_EQ(reader.next(frame), FrameReader::Result::frame);
    const auto refused = parse_refused(frame.body);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->id, 2U);
    EXPECT_EQ(refused->reason, PeerRefusal::not_kept);
    EXPECT_EQ(refused->kept, (feed::KeptRange{1, 100, start_ns, start_ns + 9000}));
}

TEST(PeerSession, GivesNoMoreThanItsBudget) {
    Peers peers(identity_of(1), identity_of(2),
                {.requests_per_second = 5, .messages_per_second = 1500});
    peers.keep(1, 100);
    peers.talk();
    std::uint64_t id = 1;
    const auto ask = [&](std::uint32_t messages) {
        const auto before = peers.answers.done.size();
        EXPECT_EQ(peers.client.request(request_of(id++, 1, 1, messages), peers.now_ns),
                  std::nullopt);
        peers.talk();
        return peers.answers.done.size() > before;
    };
    EXPECT_TRUE(ask(1000));
    EXPECT_FALSE(ask(1000));  // 500 messages are left
    EXPECT_TRUE(ask(500));
    EXPECT_FALSE(ask(1));
    peers.pass(second_ns);
    for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(ask(1));
    }
    EXPECT_FALSE(ask(1));  // a sixth request
    EXPECT_EQ(peers.answers.refusals.back().second, feed::Refusal::over_budget);
    peers.pass(10 * second_ns);
    EXPECT_TRUE(ask(1000));
    EXPECT_FALSE(ask(501));  // the budget of unused seconds is not saved up
}

TEST(PeerSession, AReaderWhoDoesNotReadGetsNoMore) {
    Peers peers(identity_of(1), identity_of(2),
                {.requests_per_second = 1'000'000,
                 .messages_per_second = 4'000'000'000,
                 .queue_bytes_max = 10'000});
    peers.keep(1, 100);
    peers.talk();
    const auto request = frame_of([](FrameWriter& w) { w.put(request_of(1, 1, 1, 1000)); });
    std::size_t most = 0;
    for (int i = 0; i < 2000 && !peers.server.ended(); ++i) {
        peers.server.receive(request, start_ns);
        most = std::max(most, peers.server.output().size());
    }
    EXPECT_EQ(peers.server.why(), PeerRefusal::over_budget);
    EXPECT_LT(most, 25'000U);
    EXPECT_EQ(peers.server_counters.counts.read(ServerCount::served), 3U);  // of 4,200 bytes each
}

TEST(PeerSession, ARequestIsInFlightOnceAndNotForever) {
    Peers peers(identity_of(1), identity_of(2), {.in_flight_max = 2});
    peers.talk();
    EXPECT_EQ(peers.client.request(request_of(1, 1, 1, 1), start_ns), std::nullopt);
    EXPECT_EQ(peers.client.request(request_of(2, 1, 1, 1), start_ns), std::nullopt);
    EXPECT_EQ(peers.client.request(request_of(3, 1, 1, 1), start_ns), feed::Refusal::busy);
    peers.client.cancel(1);
    EXPECT_EQ(peers.client.request(request_of(4, 1, 1, 1), start_ns), std::nullopt);
    peers.client.step(start_ns + 5 * second_ns, peers.answers);  // the server never saw them
    EXPECT_EQ(peers.answers.refusals,
              (Refusals{{2, feed::Refusal::no_answer}, {4, feed::Refusal::no_answer}}));
}

TEST(PeerSession, WhatIsInFlightFailsWithTheConnection) {
    Peers peers;
    peers.talk();
    EXPECT_EQ(peers.client.request(request_of(1, 1, 1, 1), start_ns), std::nullopt);
    EXPECT_EQ(peers.client.request(request_of(2, 1, 1, 1), start_ns), std::nullopt);
    peers.client.cancel(1);
    peers.client.close(SessionEnd::closed, peers.answers);
    peers.client.close(SessionEnd::stopped, peers.answers);
    EXPECT_EQ(peers.answers.refusals, (Refusals{{2, feed::Refusal::disconnected}}));
    EXPECT_EQ(peers.client_counters.ends.sum(), 1U);
    EXPECT_EQ(peers.client_counters.ends.read(SessionEnd::closed), 1U);
}

// --- the client checks what a peer sends ---

class PeerThatLies : public testing::Test {
  protected:
    PeerThatLies() {
        peers.talk();
        feed::RepairRequest request = request_of(1, 1, 100, 3);
        request.ts_before_ns = 10;
        request.ts_behind_ns = 20;
        EXPECT_EQ(peers.client.request(request, start_ns), std::nullopt);
    }

    void send(std::uint64_t id, std::uint16_t line, const Bytes& bytes) {
        peers.client.receive(frame_of([&](FrameWriter& w) {
                                 w.put(BlockFrame{id, line, bytes});
                             }),
                             start_ns, peers.answers);
    }

    [[nodiscard]] std::uint64_t dropped(PeerDrop why) const {
        return peers.client_counters.drops.read(why);
    }

    Peers peers;
    const Bytes good = TestBlock{100, 3, 15}.bytes();
};

TEST_F(PeerThatLies, SendsAnotherLine) {
    send(1, 2, good);
    EXPECT_EQ(dropped(PeerDrop::wrong_line), 1U);
}

TEST_F(PeerThatLies, SendsWhatNobodyAskedFor) {
    send(2, 1, good);
    peers.client.cancel(1);
    send(1, 1, good);
    EXPECT_EQ(dropped(PeerDrop::late), 2U);
}

TEST_F(PeerThatLies, SendsBlocksOutsideTheRange) {
    send(1, 1, TestBlock{90, 10, 15}.bytes());
    send(1, 1, TestBlock{103, 10, 15}.bytes());
    send(1, 1, TestBlock{100, 3, 9}.bytes());
    EXPECT_EQ(dropped(PeerDrop::outside), 3U);
}

TEST_F(PeerThatLies, SendsWhatIsNoBlock) {
    send(1, 1, bytes_of("no block"));
    send(1, 1, TestBlock{100, 3, 15, 3}.bytes());  // a reset
    send(1, 1, TestBlock{0, 300, 15}.bytes());
    EXPECT_EQ(dropped(PeerDrop::unreadable), 3U);
}

TEST_F(PeerThatLies, SendsTooMuch) {
    for (int i = 0; i < 10; ++i) {
        send(1, 1, good);
    }
    EXPECT_EQ(peers.answers.blocks.size(), 3U);
    EXPECT_EQ(dropped(PeerDrop::too_many), 7U);
}

TEST_F(PeerThatLies, AnswersTwice) {
    for (int i = 0; i < 2; ++i) {
        peers.client.receive(frame_of([](FrameWriter& w) {
                                 w.put(Done{1, 0});
                             }),
                             start_ns, peers.answers);
        peers.client.receive(frame_of([](FrameWriter& w) {
                                 w.put(Refused{1, PeerRefusal::not_kept, {}});
                             }),
                             start_ns, peers.answers);
    }
    EXPECT_EQ(peers.answers.done.size(), 1U);
    EXPECT_TRUE(peers.answers.refusals.empty());
    EXPECT_TRUE(peers.client.open());
}

// --- time ---

TEST(PeerSession, ASilentConnectionIsKeptAliveAndADeadOneEnds) {
    Peers peers;
    peers.talk();
    for (int i = 0; i < 100; ++i) {
        peers.pass(3 * second_ns);
    }
    EXPECT_TRUE(peers.server.open());
    EXPECT_TRUE(peers.client.open());
    EXPECT_EQ(peers.client.request(request_of(1, 1, 1, 1), peers.now_ns), std::nullopt);
    peers.server.step(peers.now_ns + 15 * second_ns);
    peers.client.step(peers.now_ns + 15 * second_ns, peers.answers);
    EXPECT_EQ(peers.server.end(), SessionEnd::silent);
    EXPECT_EQ(peers.client.end(), SessionEnd::silent);
    EXPECT_EQ(peers.answers.refusals, (Refusals{{1, feed::Refusal::disconnected}}));
}

TEST(PeerSession, AStrangerHasLittleTime) {
    Peers peers;
    peers.server.step(start_ns + 5 * second_ns - 1);
    peers.client.step(start_ns + 5 * second_ns - 1, peers.answers);
    EXPECT_FALSE(peers.server.ended());
    EXPECT_FALSE(peers.client.ended());
    peers.server.step(start_ns + 5 * second_ns);
    peers.client.step(start_ns + 5 * second_ns, peers.answers);
    EXPECT_EQ(peers.server.why(), PeerRefusal::late);
    EXPECT_EQ(peers.client.why(), PeerRefusal::late);
}

// --- bytes corrupted on the way: the client passes on only blocks that the server kept ---

TEST(PeerSession, DamagedBytesBringNothingFalse) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        Peers peers;
        peers.keep(1, 100);
        peers.talk();
        for (std::uint64_t id = 1; id <= 20; ++id) {
            static_cast<void>(peers.client.request(
                request_of(id, 1, static_cast<std::uint32_t>(1 + random() % 900), 100), start_ns));
        }
        Bytes up(peers.client.output().begin(), peers.client.output().end());
        if (random() % 2 == 0) {
            up[random() % up.size()] ^= static_cast<std::byte>(1 + random() % 255);
        }
        peers.server.receive(up, start_ns);
        Bytes down(peers.server.output().begin(), peers.server.output().end());
        if (!down.empty()) {
            down[random() % down.size()] ^= static_cast<std::byte>(1 + random() % 255);
        }
        peers.client.receive(down, start_ns, peers.answers);
        peers.client.close(SessionEnd::closed, peers.answers);
        // Every request ended exactly once, and all blocks were of the line.
        ASSERT_EQ(peers.answers.done.size() + peers.answers.refusals.size(), 20U);
        for (const auto& [line, bytes] : peers.answers.blocks) {
            ASSERT_EQ(line, 1);
            ASSERT_EQ(bytes.size(), sizeof(TestBlock));
        }
    }
}

}  // namespace
}  // namespace pinstrike::actors::peer::test
