// path: cold
//
// The books of a feed that starts get recorded state from another process, which is a shell here.
#include "actors/snapshot/state_recovery.h"

#include "actors/peer/state_frames.h"
#include "config/time_units.h"
#include "nic/file_descriptor.h"
#include "tests/actors/peer/sessions.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pinstrike::actors {
namespace {

using Kind = StateRecord::Kind;
using peer::test::quoted;

constexpr std::uint16_t line = 4;

class Recovery : public testing::Test {
  protected:
    void SetUp() override {
        file_ = testing::TempDir() + "recovery-XXXXXX";
        const nic::FileDescriptor made{::mkstemp(file_.data())};
        ASSERT_TRUE(made.valid());
        auto [near, far] = StateRings::make();
        book_.emplace(std::move(near));
        std::vector<std::optional<StateRings>> rings;
        rings.emplace_back(std::move(far));
        exchange_ = std::make_unique<peer::StateExchange>(Sharding::series, std::move(rings));
        StateRecoverySetup setup;
        setup.lines = {line};
        setup.first_of = [this](std::uint16_t /*line*/) { return first_; };
        setup.listener = [this](bool recovered, std::string text) {
            recovered_ = recovered;
            said_ = std::move(text);
        };
        setup_ = setup;
        recovery_ = std::make_unique<StateRecovery>(std::move(setup), *exchange_, nullptr);
    }

    void TearDown() override { ::unlink(file_.c_str()); }

    /// The process writes these records, then runs the command.
    void write(const std::vector<StateRecord>& records, const std::string& bytes_behind = "") {
        peer::FrameWriter writer;
        for (const StateRecord& record : records) {
            peer::put(writer, peer::StateFrame{0, record});
        }
        std::ofstream out{file_, std::ios::binary};
        out.write(reinterpret_cast<const char*>(writer.waiting().data()),
                  static_cast<std::streamsize>(writer.waiting().size()));
        out << bytes_behind;
    }

    void begin(const std::string& command) {
        auto process = StateProcess::start("/bin/sh", {"-c", command});
        ASSERT_NE(process, nullptr);
        recovery_->begin({std::move(process), ""});
    }

    /// Steps until it is over. The book answers by `verdict`.
    void run(const std::function<StateVerdict(const StateRecord&)>& verdict) {
        for (int step = 0; step < 60'000 && !recovery_->over(); ++step) {
            recovery_->step(now_ns_ += ms_ns);
            const auto records = book_->in.peek(StateRings::slots_wanted);
            for (const StateRecord& record : records) {
                if (record.kind == Kind::earlier) {
                    StateRecord answer = record;
                    answer.kind = Kind::refused;
                    answer.verdict = verdict(record);
                    taken_.push_back(record);
                    ASSERT_TRUE(book_->out.try_push({&answer, 1}));
                }
            }
            book_->in.release(records.size());
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        EXPECT_TRUE(recovery_->over());
    }

    void run() {
        run([](const StateRecord& /*record*/) { return StateVerdict::taken; });
    }

    [[nodiscard]] std::string output() const { return "cat " + file_ + "; "; }

    std::string file_;
    StateRecoverySetup setup_;
    std::optional<StateRings> book_;
    std::unique_ptr<peer::StateExchange> exchange_;
    std::unique_ptr<StateRecovery> recovery_;
    std::vector<StateRecord> taken_;
    std::uint64_t first_ = 0;
    std::int64_t now_ns_ = 1'000'000 * ms_ns;
    std::optional<bool> recovered_;
    std::string said_;
};

StateRecord series_of(std::uint16_t number, std::uint32_t sequence) {
    StateRecord record = quoted();
    record.line = number;
    record.place.sequence = sequence;
    return record;
}

StateRecord place_of(std::uint32_t sequence) {
    StateRecord record;
    record.kind = Kind::place;
    record.line = line;
    record.books = 1;
    record.place.sequence = sequence;
    return record;
}

TEST_F(Recovery, GivesTheSeriesAndStatesWhatIsMissing) {
    write({place_of(9), series_of(line, 9), series_of(line, 9), series_of(77, 9)});
    first_ = 15;
    begin(output() + "echo other; echo 'pinstrike: up to noon' >&2");
    EXPECT_TRUE(exchange_->begin()) << "nobody gets the state of books that lack some";
    run();
    EXPECT_EQ(recovered_, true);
    EXPECT_EQ(recovery_->succeeded().read(), 1U);
    EXPECT_EQ(recovery_->failed().read(), 0U);
    EXPECT_EQ(taken_.size(), 2U);
    EXPECT_TRUE(taken_.at(0).recorded);
    EXPECT_EQ(recovery_->series().read(), 3U);
    EXPECT_EQ(recovery_->taken().read(), 2U);
    EXPECT_EQ(recovery_->missed(line), 5U);
    EXPECT_EQ(recovery_->missed(77), std::nullopt);
    EXPECT_NE(said_.find("states of 2 series taken in"), std::string::npos) << said_;
    EXPECT_NE(said_.find("s: up to noon; 5 messages of 1 lines are missing"), std::string::npos)
        << said_;
    EXPECT_FALSE(exchange_->begin());
}

TEST_F(Recovery, OfAQuietLineKnowsThePlacesOfItsSeries) {
    write({series_of(line, 7), series_of(line, 9), series_of(line, 8)});
    begin(output());
    run();
    EXPECT_EQ(recovery_->missed(line), std::nullopt) << "no message came since the start";
    first_ = 10;
    EXPECT_EQ(recovery_->missed(line), 0U);
    first_ = 9;
    EXPECT_EQ(recovery_->missed(line), std::nullopt) << "the numbers began anew";
}

TEST_F(Recovery, GivesASeriesAgainUntilItsLineIsKnown) {
    write({place_of(9), series_of(line, 9)});
    begin(output());
    run([this](const StateRecord& record) {
        return taken_.size() < 3 || !record.forced ? StateVerdict::unheard : StateVerdict::taken;
    });
    EXPECT_GT(taken_.size(), 3U);
    EXPECT_TRUE(taken_.back().forced);
    EXPECT_EQ(recovery_->taken().read(), 1U);
    EXPECT_EQ(recovered_, true);
}

TEST_F(Recovery, SaysWhatWasRefused) {
    write({place_of(9), series_of(line, 9)});
    begin(output());
    run([](const StateRecord& /*record*/) { return StateVerdict::other_reset; });
    EXPECT_NE(said_.find("states of 0 series"), std::string::npos) << said_;
    EXPECT_NE(said_.find("1 not taken because a start of day arrived"), std::string::npos) << said_;
}

TEST_F(Recovery, SaysWhyTheProcessFailed) {
    begin("echo first >&2; echo the disk is gone >&2; exit 1");
    run();
    EXPECT_EQ(recovered_, false);
    EXPECT_EQ(said_, "the disk is gone");
}

TEST_F(Recovery, SaysIfTheProcessWasKilled) {
    write({place_of(9), series_of(line, 9)});
    begin(output() + "kill -9 $$");
    run();
    EXPECT_EQ(recovered_, false);
    EXPECT_EQ(recovery_->taken().read(), 1U);
}

TEST_F(Recovery, SurvivesBytesThatAreNoFrames) {
    write({place_of(9), series_of(line, 9)}, std::string(5000, 'x'));
    begin(output() + "cat /bin/sh; exit 1");
    run();
    EXPECT_EQ(recovered_, false);
    EXPECT_EQ(recovery_->taken().read(), 1U);
}

TEST_F(Recovery, EndsAProcessThatTakesTooLong) {
    begin("exec sleep 1000");
    for (int step = 0; step < 1000 && !recovery_->over(); ++step) {
        recovery_->step(now_ns_ += 1000 * ms_ns);
    }
    EXPECT_EQ(recovered_, false);
    EXPECT_NE(said_.find("given up after 600 s"), std::string::npos) << said_;
}

TEST_F(Recovery, SaysIfTheProcessCannotBeStarted) {
    EXPECT_EQ(StateProcess::start("/nowhere/pinstrike", {}), nullptr);
    recovery_->begin({nullptr, "its process cannot be started"});
    run();
    EXPECT_EQ(recovered_, false);
    EXPECT_EQ(said_, "its process cannot be started");
    EXPECT_EQ(recovery_->succeeded().read(), 0U);
    EXPECT_EQ(recovery_->failed().read(), 1U);
}

TEST_F(Recovery, WaitsForTheStateOfPeers) {
    peer::StateTransfer transfer{*exchange_, {line}, 500 * ms_ns, [](const peer::PeerEvent&) {}};
    recovery_ = std::make_unique<StateRecovery>(setup_, *exchange_, &transfer);
    write({place_of(9), series_of(line, 9)});
    begin(output());
    while (!transfer.over()) {
        recovery_->step(now_ns_ += ms_ns);
        EXPECT_TRUE(exchange_->begin());
        EXPECT_EQ(recovery_->series().read(), 0U);
        transfer.step(now_ns_, {});
        book_->in.release(book_->in.peek(StateRings::slots_wanted).size());
    }
    EXPECT_EQ(transfer.unjoined(), std::set<std::uint16_t>{line});
    run();
    EXPECT_EQ(recovery_->taken().read(), 1U);
}

TEST_F(Recovery, SaysNothingIfNobodyWantsIt) {
    run();
    EXPECT_EQ(recovered_, std::nullopt);
    EXPECT_EQ(recovery_->succeeded().read() + recovery_->failed().read(), 0U);
    EXPECT_FALSE(exchange_->begin());
}

}  // namespace
}  // namespace pinstrike::actors
