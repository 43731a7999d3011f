// path: cold
//
// An arbiter allocates in its constructor only, because it runs on a poll thread.
#include "feed/arbitration/arbiter.h"
#include "tests/feed/arbitration/arbiter_traffic.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

namespace {

std::size_t allocations = 0;

}  // namespace

void* operator new(std::size_t bytes) {
    ++allocations;
    void* memory = std::malloc(bytes == 0 ? 1 : bytes);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

void operator delete(void* memory) noexcept {
    std::free(memory);
}

void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
    std::free(memory);
}

namespace pinstrike::feed::test {
namespace {

struct CountingSink : ArbiterSink {
    std::uint64_t messages = 0;
    std::uint64_t gaps = 0;
    std::uint64_t resets = 0;

    void deliver(const Block&, unsigned, unsigned count, DeliveryFlags) override {
        messages += count;
    }

    void gap(std::uint64_t, std::uint64_t, std::uint64_t, GapCause, std::int64_t,
             DeliveryFlags) override {
        ++gaps;
    }

    void reset(const Block&, Forget, bool) override { ++resets; }
};

TEST(Arbiter, AllocatesAtConstructionOnly) {
    TrafficPlan plan;
    plan.blocks = 2000;
    plan.undecodable_share = 0.01;
    plan.repair_share = 0.5;
    plan.reset_loss = ResetLoss::of_both;
    for (Faults& faults : plan.faults) {
        faults = {.loss = 0.2, .duplicate = 0.1, .reorder = 0.1, .reorder_ns = 100, .skew_ns = 0};
    }
    const Traffic traffic(plan, 1);
    CountingSink sink;
    Arbiter arbiter({.window_ns = 100, .hold_bytes = 20000, .gap_ranges = 4096}, {});
    const std::size_t before = allocations;
    for (const Copy& copy : traffic.copies()) {
        const Sent& sent = *copy.sent;
        Block block;
        block.role = sent.role;
        block.sequence = sent.sequence;
        block.messages = sent.messages;
        block.decodable = sent.decodable;
        block.retransmitted = copy.source == Source::repair;
        block.ts_exchange_ns = sent.ts_ns;
        block.bytes = std::as_bytes(std::span(sent.identities));
        arbiter.step(copy.arrival_ns, sink);
        const auto stream = block.retransmitted ? Stream::a : static_cast<Stream>(copy.source);
        if (arbiter.commit(block, stream) == Verdict::slow) {
            arbiter.commit_slow(block, stream, copy.arrival_ns, sink);
        }
    }
    arbiter.finish(1'000'000'000, sink);
    EXPECT_EQ(allocations, before);
    EXPECT_GT(sink.messages, 100U);
    EXPECT_GT(sink.gaps, 10U);
    EXPECT_GT(sink.resets, 10U);
}

}  // namespace
}  // namespace pinstrike::feed::test
