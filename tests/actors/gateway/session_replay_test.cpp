// path: cold
//
// A session whose client asks for records of the past. Each event has a trade whose size is the
// event's number, which comes from the recording, from the live feed, or from both.
#include "actors/gateway/session_replay.h"

#include "tests/actors/gateway/session_fixture.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors::gateway::test {
namespace {

using feed::dbn::Schema;
using Kind = ReplayFrame::Kind;

constexpr InstrumentId live_id = 9;
constexpr InstrumentId replay_id = 4;

/// Blocks that the test has put there.
struct Blocks {
    std::deque<std::vector<std::byte>> waiting;
    std::string ended;
    bool is_wanted = true;
};

class FakeSource final : public ReplaySource {
  public:
    explicit FakeSource(Blocks& blocks) : blocks_(blocks) {}

    ~FakeSource() override { blocks_.is_wanted = false; }

    [[nodiscard]] bool take(std::vector<std::byte>& block) override {
        if (blocks_.waiting.empty()) {
            return false;
        }
        block = std::move(blocks_.waiting.front());
        blocks_.waiting.pop_front();
        return true;
    }

    [[nodiscard]] std::string ended() override {
        return blocks_.waiting.empty() ? blocks_.ended : "";
    }

  private:
    Blocks& blocks_;
};

class SessionReplayTest : public SessionTest {
  protected:
    void begin(const std::string& subscription = "schema=trades|symbols=ALL_SYMBOLS|start=1") {
        host.the_replays.recording = true;
        host.the_replays.source = std::make_unique<FakeSource>(blocks);
        host.the_replays.live.ids[hash_of(key_of(0))] = live_id;
        quote(live_id);  // the feed knows the series
        scene.start(subscription);
        scene.read();
        scene.step();
        put_series(replay_id);
    }

    /// An event of the live feed.
    void live(std::uint32_t number, std::uint16_t line = 7) {
        pinstrike_record record = events.trade(key_of(live_id), 117, number);
        record.sequence = number;
        record.line = line;
        record.receive_ns = time_of(number);
        host.the_replays.live.read.note(record);
        host.the_replays.live.time_ns = record.receive_ns;
        apply(record);
    }

    [[nodiscard]] std::int64_t time_of(std::uint32_t number) const {
        return scene.now_ns - std::int64_t{1'000'000'000} + number * std::int64_t{1'000'000};
    }

    void put(const ReplayFrame& frame) {
        std::vector<std::byte> bytes;
        put_frame(bytes, frame);
        blocks.waiting.push_back(std::move(bytes));
    }

    void put_series(InstrumentId id, const std::string& root = "AAPL") {
        ReplayFrame frame;
        frame.kind = Kind::series;
        frame.key = key_of(id, root);
        put(frame);
    }

    /// The same event from the recording, and that the replay has passed it.
    void recorded(std::uint32_t number, std::uint16_t line = 7, bool is_late = false,
                  InstrumentId id = replay_id) {
        feed::dbn::TradeRecord trade;
        trade.header =
            feed::dbn::header_of<feed::dbn::TradeRecord>(feed::dbn::RecordType::trade, 1, id, 1);
        trade.size = number;
        ReplayFrame frame;
        frame.kind = Kind::record;
        frame.schema = Schema::trades;
        frame.is_late = is_late;
        frame.place = {line, number, time_of(number)};
        frame.record = feed::dbn::bytes_of(trade);
        put(frame);
        frame.kind = Kind::place;
        frame.record = {};
        put(frame);
    }

    void reached(std::int64_t time_ns) {
        ReplayFrame frame;
        frame.kind = Kind::reached;
        frame.time_ns = time_ns;
        put(frame);
    }

    /// The numbers of the trades that the client got, and "end" where the replay was over.
    std::vector<std::string> numbers() {
        std::vector<std::string> all;
        for (const ReadRecord& record : scene.read_records()) {
            const auto header = record.as<feed::dbn::RecordHeader>();
            if (header.type == feed::dbn::RecordType::trade) {
                EXPECT_EQ(header.instrument, live_id);
                all.push_back(std::to_string(record.as<feed::dbn::TradeRecord>().size));
            } else if (header.type != feed::dbn::RecordType::symbol_mapping) {
                all.push_back(record.text());
            }
        }
        return all;
    }

    Blocks blocks;
};

using Texts = std::vector<std::string>;

const std::string over = "system 3: Finished trades replay";

TEST_F(SessionReplayTest, joins_live_records_without_a_gap_and_without_a_duplicate) {
    begin();
    recorded(1);
    recorded(2);
    live(1);
    live(2);
    live(3);  // the recording has not brought it yet
    scene.step();
    EXPECT_EQ(numbers(), (Texts{"1", "2"}));
    reached(time_of(2));  // close to the present: live records are kept from here on
    scene.step();
    live(4);
    live(5);
    scene.step();
    EXPECT_EQ(numbers(), Texts{});
    recorded(3);
    recorded(4);  // live as well
    recorded(5);
    reached(time_of(5));
    scene.step();
    scene.step();
    EXPECT_EQ(numbers(), (Texts{"3", over, "4", "5"}));
    EXPECT_FALSE(blocks.is_wanted) << "the process is not needed any more";
    live(6);
    EXPECT_EQ(numbers(), Texts{"6"});
}

TEST_F(SessionReplayTest, waits_for_each_line) {
    begin();
    live(1, 7);
    live(2, 8);
    recorded(1, 7);
    reached(time_of(2));
    scene.step();
    scene.step();
    EXPECT_EQ(numbers(), Texts{"1"});
    live(3, 7);
    recorded(2, 8);
    scene.step();
    scene.step();
    EXPECT_EQ(numbers(), (Texts{"2", over, "3"}));
}

TEST_F(SessionReplayTest, takes_late_events_by_their_time) {
    begin();
    live(1);
    live(5);
    reached(time_of(1));
    scene.step();
    recorded(3, 7, true);  // before the live records: the client has not got it
    recorded(8, 7, true);  // it came live after 5
    recorded(5);
    reached(time_of(6));
    scene.step();
    scene.step();
    EXPECT_EQ(numbers(), (Texts{"3", "5", over}));
}

/// Numbers begin anew after a reset, so an event of the morning has a higher one.
TEST_F(SessionReplayTest, compares_numbers_only_of_events_close_in_time) {
    begin();
    live(1);
    recorded(1);
    ReplayFrame place;
    place.kind = Kind::place;
    place.place = {7, 900'000, time_of(1) - 3600 * std::int64_t{1'000'000'000}};
    put(place);  // long before
    reached(time_of(1));
    scene.step();
    scene.step();
    EXPECT_EQ(numbers(), Texts{"1"}) << "the replay has not reached the present";
    recorded(1);
    scene.step();
    scene.step();
    EXPECT_EQ(numbers(), (Texts{"1", over}));
}

TEST_F(SessionReplayTest, does_not_join_while_the_gateway_is_behind_the_recording) {
    begin();
    live(1);
    recorded(1);
    recorded(2);
    reached(time_of(2));
    scene.step();
    live(2);  // the gateway reads it now; the client has it from the recording
    recorded(3);
    live(3);
    reached(time_of(3));
    scene.step();
    live(4);
    scene.step();
    EXPECT_EQ(numbers(), (Texts{"1", "2", "3", over, "4"}));
}

TEST_F(SessionReplayTest, keeps_live_records_anew_after_the_gateway_missed_events) {
    begin();
    live(1);
    recorded(1);
    reached(time_of(1) - 1);
    scene.step();
    live(3);  // 2 was missed
    scene.session.send_states(nullptr);
    recorded(2);
    recorded(3);
    reached(time_of(3));
    scene.step();
    live(4);
    scene.step();
    EXPECT_EQ(numbers(), (Texts{"1", "2", "3", over, "4"}));
}

TEST_F(SessionReplayTest, other_subscriptions_get_live_records_at_once) {
    begin("schema=trades|stype_in=parent|symbols=SPY.OPT|start=1");
    scene.say("schema=trades|stype_in=parent|symbols=AAPL.OPT");
    scene.read();
    live(1);
    EXPECT_EQ(numbers(), Texts{"1"});
}

TEST_F(SessionReplayTest, a_request_has_the_names_of_all_its_lines) {
    host.the_replays.recording = true;
    host.the_replays.source = std::make_unique<FakeSource>(blocks);
    quote(live_id);
    scene.log_in();
    scene.say("schema=trades|symbols=AAPL  261218C00250000|start=7|id=1|is_last=0");
    scene.say("start_session=0");
    scene.step();
    EXPECT_TRUE(host.the_replays.asked.empty());
    scene.say("schema=trades|stype_in=parent|symbols=SPY.OPT|start=5|id=1|is_last=1");
    scene.say("schema=cmbp-1|symbols=ALL_SYMBOLS|start=0|id=2|is_last=1");
    scene.step();
    ASSERT_EQ(host.the_replays.asked.size(), 1U);
    const std::vector<ReplayWanted>& wanted = host.the_replays.asked[0];
    ASSERT_EQ(wanted.size(), 2U);
    EXPECT_EQ(wanted[0].schema, Schema::cmbp_1);
    EXPECT_TRUE(wanted[0].everything);
    EXPECT_EQ(wanted[0].start_ns, 0);
    EXPECT_EQ(wanted[1].roots, Texts{"SPY"});
    EXPECT_EQ(wanted[1].symbols, Texts{"AAPL  261218C00250000"});
    EXPECT_EQ(wanted[1].start_ns, 5);
}

TEST_F(SessionReplayTest, a_client_that_does_not_read_gets_no_more) {
    begin();
    for (std::uint32_t number = 1; number < 10'000; ++number) {
        recorded(number);
    }
    for (unsigned i = 0; i < 20; ++i) {
        scene.step();
    }
    EXPECT_GT(blocks.waiting.size(), 1000U);
    EXPECT_LT(scene.session.output().queue().bytes(), 2 * SessionOutput::current_bytes);
    EXPECT_EQ(scene.session.phase(), Session::Phase::started);
}

TEST_F(SessionReplayTest, too_many_live_records_end_the_session) {
    host.the_replays.kept_max = 1000;
    begin();
    live(1);
    recorded(1);
    for (unsigned i = 0; i < 10 && scene.session.phase() == Session::Phase::started; ++i) {
        reached(host.the_replays.live.time_ns - 1);
        scene.step();
        for (std::uint32_t more = 0; more < 20; ++more) {
            live(2 + i * 20 + more);
        }
        scene.step();
    }
    EXPECT_EQ(scene.session.ending(), SessionEnding::replay);
    EXPECT_EQ(numbers().back(),
              "error 6: Internal error: more than 1000 bytes of live records came before the "
              "client had read the replay");
}

TEST_F(SessionReplayTest, goes_on_with_live_records_if_the_recording_ends) {
    begin();
    live(1);
    live(2);
    recorded(1);
    reached(time_of(1));
    scene.step();
    live(3);
    scene.step(21'000'000'000);
    scene.step();
    EXPECT_EQ(numbers(), (Texts{"1",
                                "error 7: Slow client detected for the recording: the recording "
                                "ends before the live records begin",
                                over, "3"}));
}

TEST_F(SessionReplayTest, counts_records_of_series_that_the_feed_does_not_know) {
    begin();
    live(1);
    put_series(5, "GONE");
    recorded(1, 7, false, 5);
    recorded(1);
    reached(time_of(1));
    scene.step();
    scene.step();
    EXPECT_EQ(numbers(), (Texts{"1",
                                "error 7: Slow client detected for the recording: 1 records are "
                                "of series that the feed does not know now",
                                over}));
}

TEST_F(SessionReplayTest, intervals_join_by_their_ends) {
    begin("schema=cbbo-1s|symbols=ALL_SYMBOLS|start=1");
    const std::int64_t end_ns = scene.now_ns / 1'000'000'000 * 1'000'000'000;
    host.the_replays.live.time_ns = end_ns;  // the market has closed this one, and not the next
    const auto interval = [&](std::int64_t at_ns) {
        feed::dbn::IntervalRecord record;
        record.header = feed::dbn::header_of<feed::dbn::IntervalRecord>(
            feed::dbn::RecordType::cbbo_1s, 30, replay_id, 1);
        ReplayFrame frame;
        frame.kind = Kind::interval;
        frame.schema = Schema::cbbo_1s;
        frame.time_ns = at_ns;
        frame.record = feed::dbn::bytes_of(record);
        put(frame);
        frame.kind = Kind::interval_end;
        frame.record = {};
        put(frame);
    };
    reached(end_ns - 1);
    interval(end_ns);
    interval(end_ns + 1'000'000'000);  // it comes live
    scene.step();
    EXPECT_EQ(numbers(), (Texts{"cbbo-1s 9", "system 4: End of interval for cbbo-1s"}));
    reached(end_ns);
    scene.step();
    EXPECT_EQ(numbers(), Texts{"system 3: Finished cbbo-1s replay"});
}

TEST_F(SessionReplayTest, what_cannot_be_replayed_is_said) {
    host.the_replays.recording = true;
    host.the_replays.refusal = "start: the reason";
    scene.start("schema=trades|symbols=ALL_SYMBOLS|start=1");
    scene.step();
    EXPECT_EQ(scene.read().back(), "error 5: start: the reason");
    EXPECT_EQ(scene.session.ending(), SessionEnding::limit);
}

TEST_F(SessionReplayTest, the_error_of_a_replay_ends_the_session) {
    begin();
    ReplayFrame frame;
    frame.kind = Kind::error;
    frame.code = 8;
    frame.text = "start: no packet";
    put(frame);
    scene.step();
    EXPECT_EQ(numbers(), Texts{"error 8: start: no packet"});
    EXPECT_EQ(scene.session.ending(), SessionEnding::replay);
    EXPECT_FALSE(blocks.is_wanted);
}

TEST_F(SessionReplayTest, the_end_of_a_replay_ends_the_session) {
    begin();
    blocks.ended = "the replay ended with status 1";
    scene.step();
    EXPECT_EQ(numbers(), Texts{"error 6: Internal error: the replay ended with status 1"});
}

TEST_F(SessionReplayTest, a_start_in_the_future_is_refused) {
    host.the_replays.recording = true;
    scene.start("schema=trades|symbols=ALL_SYMBOLS|start=" + std::to_string(scene.now_ns + 1));
    EXPECT_NE(scene.read().back().find("expected a moment of the past"), std::string::npos);
}

// --- frames ---

TEST(ReplayFrames, are_read_as_they_were_written) {
    const std::array<std::byte, 16> record{std::byte{4}};
    ReplayFrame frame;
    frame.kind = Kind::record;
    frame.schema = Schema::statistics;
    frame.is_late = true;
    frame.place = {65535, 4'000'000'000, 1'795'791'600'000'000'001};
    frame.record = record;
    std::vector<std::byte> bytes;
    put_frame(bytes, frame);
    EXPECT_EQ(whole_frames_bytes(std::span{bytes}.first(bytes.size() - 1)), 0U);
    std::span<const std::byte> rest = bytes;
    bool is_malformed = true;
    const auto read = take_frame(rest, is_malformed);
    ASSERT_TRUE(read);
    EXPECT_TRUE(rest.empty());
    EXPECT_EQ(read->kind, frame.kind);
    EXPECT_EQ(read->schema, frame.schema);
    EXPECT_TRUE(read->is_late);
    EXPECT_EQ(read->place, frame.place);
    EXPECT_TRUE(std::ranges::equal(read->record, record));
}

TEST(ReplayFrames, that_are_malformed_are_refused) {
    const std::array<std::byte, 16> record{std::byte{4}};
    ReplayFrame frame;
    frame.kind = Kind::record;
    frame.record = record;
    std::vector<std::byte> good;
    put_frame(good, frame);
    for (const auto& [at, value] : {std::pair{0, 31}, {1, 200}, {2, 7}, {3, 12}, {32, 5}}) {
        std::vector<std::byte> bytes = good;
        bytes[static_cast<std::size_t>(at)] = static_cast<std::byte>(value);
        bytes.resize(70'000);
        std::span<const std::byte> rest = bytes;
        bool is_malformed = false;
        EXPECT_FALSE(take_frame(rest, is_malformed)) << at;
        EXPECT_TRUE(is_malformed) << at;
    }
}

TEST(ReplayRequests, are_read_as_they_were_written) {
    const ReplayRequest request{
        "folder", "config", {{Schema::tbbo, 5, true, {"SPY"}, {"AAPL  261218C00250000"}}}};
    const auto read = parse_replay_request(to_text(request));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->folder, "folder");
    EXPECT_EQ(read->config, "config");
    ASSERT_EQ(read->wanted.size(), 1U);
    EXPECT_EQ(read->wanted[0].schema, Schema::tbbo);
    EXPECT_EQ(read->wanted[0].start_ns, 5);
    EXPECT_TRUE(read->wanted[0].everything);
    EXPECT_EQ(read->wanted[0].roots, Texts{"SPY"});
    EXPECT_EQ(read->wanted[0].symbols, Texts{"AAPL  261218C00250000"});
    for (const std::string text :
         {"", "{}", "[1]", "{\"folder\":1,\"config\":\"\",\"wanted\":[]}"}) {
        EXPECT_FALSE(parse_replay_request(text)) << text;
    }
}

}  // namespace
}  // namespace pinstrike::actors::gateway::test
