// path: cold
#include "actors/gateway/replay_processes.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace pinstrike::actors::gateway {
namespace {

/// As in a gateway.
class Processes : public testing::Test {
  protected:
    void SetUp() override { before_ = std::signal(SIGPIPE, SIG_IGN); }

    void TearDown() override { std::signal(SIGPIPE, before_); }

    /// How the process of a shell command ends that gets this input.
    static std::string ending_of(const char* command, std::string input) {
        ReplayProcesses processes{{"/bin/sh", "-c", command}};
        const std::unique_ptr<ReplaySource> source = processes.start(std::move(input));
        while (processes.running() != 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return source->ended();
    }

  private:
    void (*before_)(int) = nullptr;
};

TEST_F(Processes, handle_signals_as_usual) {
    EXPECT_EQ(ending_of("kill -PIPE $$; exit 3", ""), "the replay ended with signal 13");
}

TEST_F(Processes, may_end_before_they_have_read_their_input) {
    EXPECT_EQ(ending_of("exit 3", std::string(std::size_t{1} << 20, 'x')),
              "the replay ended with status 3");
}

}  // namespace
}  // namespace pinstrike::actors::gateway
