// path: cold
#include "actors/appliance/thread_loops.h"

#include "actors/recorder/recorder_task.h"
#include "feed/venue_services.h"
#include "nic/clock.h"
#include "tests/actors/poller/poller_scene.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <thread>
#include <utility>

namespace pinstrike::actors {
namespace {

using namespace poller_scene;

TEST(PollerThread, gives_the_recorder_what_came_at_the_end) {
    constexpr std::array<std::uint16_t, 1> lines{1};
    RecordConfig config;
    config.memory_bytes = 4 * nic::chunk_bytes_max;
    const RepairRoute repairs{feed::venue_services("opra").published_line, {sender}};
    auto [recorder, input] = make_recorder_ends("poll0", config, lines, repairs);
    Scene scene{false, 1, {}, Keeps::nothing, false, std::move(recorder)};
    scene.scripts[0]->give(block_frame(11, 1));
    scene.scripts[0]->give(block_frame(13, 1));
    const nic::Clock clock;
    ThreadControl control;
    control.stop = true;
    std::thread{[&] {  // one thread uses a half of a ring
        scene.poller->step(ms_ns);
        scene.bring(12, 1);  // no step reads this block
        run_poller(*scene.poller, -1, WaitStrategy::park, false, clock, control);
    }}
        .join();
    EXPECT_EQ(scene.reported(), "11 12! 13");
    EXPECT_EQ(scene.poller->recorder()->recorded().read(), 3U);
    std::uint32_t handed_over = 0;
    for (const FilledChunk& chunk : input.filled.peek(8)) {
        handed_over += chunk.packets;
    }
    EXPECT_EQ(handed_over, 3U);
}

}  // namespace
}  // namespace pinstrike::actors
