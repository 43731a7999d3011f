// path: cold
//
// Writes seeds for fuzz_peer and fuzz_snapshot:
//
//   write_peer_seeds tests/fuzz/corpus
#include "feed/recording/state_file.h"
#include "tests/actors/peer/sessions.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace {

using namespace pinstrike;
using pinstrike::actors::StateRecord;
using namespace pinstrike::actors::peer;
using namespace pinstrike::actors::peer::test;

std::filesystem::path corpus;
unsigned written = 0;

/// Writes one seed: the frames that put() writes, for this mode of fuzz_peer.cpp, in large pieces.
template <class Put>
void write(unsigned char mode, Put put) {
    FrameWriter writer;
    put(writer);
    Bytes bytes{std::byte{mode}, std::byte{255}};
    bytes.insert(bytes.end(), writer.waiting().begin(), writer.waiting().end());
    std::ofstream file(corpus / "peer" / std::to_string(written++), std::ios::binary);
    for (const std::byte byte : bytes) {
        file.put(static_cast<char>(byte));
    }
}

void write_strangers() {
    const Challenge challenge{nonce_of(3), identity_of(1).instance};
    const Proof wrong{nonce_of(4), identity_of(2).instance, nonce_of(5), "opra"};
    Handshake handshake;
    handshake.server = challenge;
    handshake.client_nonce = nonce_of(4);
    handshake.client_instance = identity_of(2).instance;
    handshake.feed = "opra";
    const Secret secret = identity_of(1).secret;
    Proof right = wrong;
    right.mac = prove(secret, Role::client, handshake);
    write(0, [&](FrameWriter& w) { w.put(wrong); });
    write(0, [&](FrameWriter& w) { w.put(request_of(1, 1, 1, 1)); });
    write(0, [&](FrameWriter& w) {
        w.put(right);
        w.put(request_of(1, 1, 15, 100));
    });
    write(1, [&](FrameWriter& w) {
        w.put(challenge);
        w.put(Welcome{prove(secret, Role::server, handshake)});
        w.put_keep_alive();
    });
    write(1, [&](FrameWriter& w) {
        w.put(challenge);
        w.put(Refused{0, PeerRefusal::not_authenticated, std::nullopt});
    });
}

void write_requests() {
    write(2, [](FrameWriter& w) { w.put(request_of(1, 1, 15, 100)); });
    write(2, [](FrameWriter& w) { w.put(request_of(2, 1, 4'294'967'290U, 1000)); });
    write(2, [](FrameWriter& w) {
        w.put(request_of(3, 9, 1, 1));
        w.put_keep_alive();
        w.put(feed::RepairRequest{4, 1, 1, 1, 2, 1});
    });
}

void write_answers() {
    write(3, [](FrameWriter& w) {
        const Bytes block = TestBlock{11, 10, start_ns}.bytes();
        w.put(BlockFrame{1, 1, block});
        w.put(Done{1, 1});
        w.put(Refused{2, PeerRefusal::not_kept, feed::KeptRange{1, 2, 3, 4}});
        w.put_keep_alive();
    });
    write(3, [](FrameWriter& w) {
        const Bytes over_the_wrap = TestBlock{4'294'967'295U, 3, start_ns}.bytes();
        w.put(BlockFrame{2, 1, over_the_wrap});
        w.put(BlockFrame{2, 2, over_the_wrap});
        w.put(BlockFrame{7, 1, over_the_wrap});
    });
}

void write_states() {
    // Of a state request, see client_session.h.
    constexpr std::uint64_t first_id = (std::uint64_t{1} << 63) + 1;
    write(2, [](FrameWriter& w) { put(w, StateRequest{5, {}}); });
    write(2, [](FrameWriter& w) {
        put(w, StateRequest{6, {1, 2}});
        put(w, StateRequest{7, {}});
        w.put_keep_alive();
    });
    write(3, [](FrameWriter& w) {
        StateRecord record = state_of_series();
        put(w, StateFrame{first_id, record});
        record.has_trades = false;
        put(w, StateFrame{first_id, record});
        record.kind = StateRecord::Kind::lost;
        put(w, StateFrame{first_id, record});
        record.kind = StateRecord::Kind::place;
        record.books = 1;
        put(w, StateFrame{first_id, record});
        w.put(FrameType::state_end, StateEnd{first_id, 2});
        put(w, StateFrame{first_id, state_of_series()});
    });
    write(3, [](FrameWriter& w) {
        put(w, StateFrame{3, state_of_series()});
        w.put(Refused{first_id, PeerRefusal::no_state, std::nullopt});
    });
}

void write_snapshot(const char* name, const Bytes& bytes) {
    std::ofstream file(corpus / "snapshot" / name, std::ios::binary);
    for (const std::byte byte : bytes) {
        file.put(static_cast<char>(byte));
    }
}

void write_snapshots() {
    write_snapshot("head", feed::bytes_of(feed::StateHead{"opra", 20261129, start_ns}));
    FrameWriter writer;
    StateRecord record = state_of_series();
    put(writer, StateFrame{0, record});
    put(writer, StateFrame{0, placed(1)});
    record.kind = StateRecord::Kind::lost;
    put(writer, StateFrame{0, record});
    Bytes frames{std::byte{3}};
    frames.insert(frames.end(), writer.waiting().begin(), writer.waiting().end());
    write_snapshot("frames", frames);
    Bytes chunk(feed::state_chunk_head_bytes);
    chunk.insert(chunk.end(), frames.begin() + 1, frames.end());
    feed::StateChunk head;
    head.records = 3;
    feed::seal_state_chunk(chunk, head);
    write_snapshot("chunk", chunk);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: write_peer_seeds FOLDER\n");
        return 2;
    }
    corpus = argv[1];
    std::filesystem::create_directories(corpus / "peer");
    write_strangers();
    write_requests();
    write_answers();
    write_states();
    std::filesystem::create_directories(corpus / "snapshot");
    write_snapshots();
    return 0;
}
