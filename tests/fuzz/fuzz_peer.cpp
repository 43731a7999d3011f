// path: cold
//
// Tests both sides of a connection between peers, before and after authentication. The first byte
// selects the side that gets the input: 0 is a server and 1 a client that talk to a stranger, 2 and
// 3 are the same after both have authenticated. The second byte determines the size of the pieces
// into which the rest is cut.
#include "config/check.h"
#include "config/time_units.h"
#include "tests/actors/peer/sessions.h"
#include "tests/fuzz/fuzz.h"

#include <set>

namespace {

using namespace pinstrike;
using pinstrike::actors::StateRecord;
using namespace pinstrike::actors::peer;
using namespace pinstrike::actors::peer::test;

/// Checks that each request ends once, and that each block passed on was requested.
class StrictAnswers final : public feed::RepairAnswers {
  public:
    void block(std::uint16_t line, std::span<const std::byte> bytes) override {
        feed::Block read;
        PINSTRIKE_CHECK(read_test_block(bytes, read));
        PINSTRIKE_CHECK(line == 1 && read.role == feed::BlockRole::data);
        bool concerned = false;
        for (const feed::RepairRequest& request : asked) {
            concerned = concerned || (waiting.contains(request.id) &&
                                      feed::concerns(request, read.sequence, read.messages,
                                                     read.ts_exchange_ns, feed::Numbering{}));
        }
        PINSTRIKE_CHECK(concerned);
    }

    void finished(std::uint64_t id) override { PINSTRIKE_CHECK(waiting.erase(id) == 1); }

    void refused(std::uint64_t id, feed::Refusal /*reason*/) override {
        PINSTRIKE_CHECK(waiting.erase(id) == 1);
    }

    void ask(ClientSession& client, const feed::RepairRequest& request) {
        PINSTRIKE_CHECK(!client.request(request, start_ns));
        asked.push_back(request);
        waiting.insert(request.id);
    }

    std::vector<feed::RepairRequest> asked;
    std::set<std::uint64_t> waiting;
};

/// Sends one series, three times for each request.
class OneSeries final : public StateGiver {
  public:
    std::optional<PeerRefusal> begin() override { return std::nullopt; }

    Next next(StateRecord& into) override {
        into = state_of_series();
        return given_++ < 3 ? Next::record : Next::end;
    }

    void leave() override { given_ = 0; }

  private:
    int given_ = 0;
};

/// Checks that each record passed on has the form of a book's record, and that there is one end.
class StrictTaker final : public StateTaker {
  public:
    void record(const StateRecord& record) override {
        PINSTRIKE_CHECK(ends == 0 && asked);
        FrameWriter writer;
        put(writer, StateFrame{1, record});
        FrameReader reader;
        reader.push(writer.waiting());
        Frame frame;
        PINSTRIKE_CHECK(reader.next(frame) == FrameReader::Result::frame && parse_state(frame));
        PINSTRIKE_CHECK(record.kind != StateRecord::Kind::series || is_possible(record));
    }

    void impossible() override { PINSTRIKE_CHECK(ends == 0 && asked); }

    void ended(StateOutcome /*outcome*/) override { PINSTRIKE_CHECK(asked && ends++ == 0); }

    bool asked = false;
    int ends = 0;
};

template <class Take>
void in_pieces(std::span<const std::byte> bytes, std::size_t piece, Take take) {
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        take(bytes.subspan(at, std::min(piece, bytes.size() - at)));
    }
}

void to_server(Peers& peers, std::span<const std::byte> bytes, std::size_t piece) {
    in_pieces(bytes, piece, [&](auto part) { peers.server.receive(part, peers.now_ns); });
    const bool stranger = peers.server_counters.counts.read(ServerCount::authenticated) == 0;
    // A stranger can make the server send a challenge and a refusal only. The server also sends a
    // welcome to a client that knows the secret, but no fuzzer knows it.
    PINSTRIKE_CHECK(!stranger || peers.server.output().size() <= 56 + 50);
    peers.server.step(peers.now_ns + 20 * second_ns);
    PINSTRIKE_CHECK(peers.server.ended());
}

void to_client(Peers& peers, StrictAnswers& answers, std::span<const std::byte> bytes,
               std::size_t piece) {
    in_pieces(bytes, piece, [&](auto part) { peers.client.receive(part, peers.now_ns, answers); });
    peers.client.step(peers.now_ns + 20 * second_ns, answers);
    PINSTRIKE_CHECK(peers.client.ended() && answers.waiting.empty());
}

}  // namespace

int fuzz_one(std::span<const std::byte> bytes) {
    if (bytes.size() < 2) {
        return 0;
    }
    const auto mode = static_cast<unsigned>(bytes[0]) % 4;
    const std::size_t piece = 1 + static_cast<std::size_t>(bytes[1]) * 8;
    OneSeries giver;
    StrictTaker taker;
    Peers peers;
    peers.keep(1, 20);
    peers.server.set_state_giver(&giver);
    StrictAnswers answers;
    if (mode >= 2) {
        peers.talk();
        PINSTRIKE_CHECK(peers.server.open() && peers.client.open());
    }
    if (mode == 3) {
        answers.ask(peers.client, request_of(1, 1, 15, 20));
        answers.ask(peers.client, request_of(2, 1, 4'294'967'290U, 10));
        answers.ask(peers.client, {3, 1, 100, 5, start_ns, start_ns + 5000});
        taker.asked = peers.client.request_state({}, taker);
        PINSTRIKE_CHECK(taker.asked);
    }
    if (mode % 2 == 0) {
        to_server(peers, bytes.subspan(2), piece);
    } else {
        to_client(peers, answers, bytes.subspan(2), piece);
        PINSTRIKE_CHECK(!taker.asked || taker.ends == 1);
    }
    return 0;
}
