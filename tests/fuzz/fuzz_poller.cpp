// path: cold
//
// Sends any datagrams to a complete poller, one after the other, on the groups of both streams, on
// retransmission groups and on foreign groups. The poller feeds a core with a book. Each datagram
// is encoded as a byte for the group, a byte for the time that passes before it (in units of 100
// us), two bytes for its length, and its payload. The account must balance for every input.
#include "actors/appliance/venues.h"
#include "actors/book/book.h"
#include "actors/core/core.h"
#include "actors/telemetry/account.h"
#include "config/check.h"
#include "feed/opra/lines.h"
#include "nic/packet/udp_frame_writer.h"
#include "tests/fuzz/fuzz.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace {

using namespace pinstrike;

/// Delivers one frame at a time.
class OneFrame final : public nic::Port {
  public:
    OneFrame() : Port("fuzz") {}

    void bring(nic::Group group, std::span<const std::byte> payload) {
        nic::UdpRoute route;
        route.destination = group;
        frame_.resize(nic::udp_headers_bytes(0) + payload.size());
        nic::write_udp_headers(frame_.data(), route, payload.size(), nic::UdpChecksumSent::none);
        std::copy(payload.begin(), payload.end(),
                  frame_.begin() + static_cast<std::ptrdiff_t>(nic::udp_headers_bytes(0)));
        there_ = true;
    }

    std::size_t receive(std::span<nic::Packet> burst, std::int64_t now_ns) override {
        if (!there_) {
            return 0;
        }
        there_ = false;
        burst[0] = {};
        burst[0].bytes = frame_.data();
        burst[0].length_bytes = static_cast<std::uint32_t>(frame_.size());
        burst[0].ts_receive_ns = now_ns;
        count_burst(burst.first(1), burst.size());
        return 1;
    }

  private:
    std::vector<std::byte> frame_;
    bool there_ = false;
};

/// Two lines, one poller and one core, which the test steps itself.
class Bench {
  public:
    Bench() : lines_(feed::opra::published_lines(std::array<std::uint16_t, 2>{1, 2})) {
        auto ring = actors::Ring<feed::Event>::make(actors::Ring<feed::Event>::slots_for(1024));
        auto port = std::make_unique<OneFrame>();
        port_ = port.get();
        actors::PollerSetup setup;
        setup.name = "poller";
        setup.lines = lines_;
        setup.arbitration.hold_bytes = 1 << 16;
        setup.ports.push_back({"fuzz", std::move(port), nic::ChecksumCheck::off, {}, 4});
        std::vector<actors::Producer<feed::Event>> outputs;
        outputs.push_back(std::move(ring.producer));
        poller_ = actors::make_poller(
            "opra", std::move(setup),
            actors::Router{{.lines_max = lines_.size()}, std::move(outputs), {nullptr}});
        actors::BookConfig book;
        book.series_capacity = 1000;
        std::vector<std::unique_ptr<actors::Actor>> actors;
        actors.push_back(std::make_unique<actors::Book>(book, 1));
        actors::CoreOptions options;
        options.info.name = "core";
        std::vector<actors::Consumer<feed::Event>> inputs;
        inputs.push_back(std::move(ring.consumer));
        core_ = std::make_unique<actors::Core>(std::move(options), std::move(inputs),
                                               std::move(actors));
        core_->start();
    }

    void bring(unsigned where, unsigned wait, std::span<const std::byte> payload) {
        constexpr std::int64_t unit_ns = 100'000;
        now_ns_ += wait * unit_ns;
        const feed::LineConfig& line = lines_[where & 1];
        const std::size_t stream = where >> 1 & 1;
        const bool repair = (where & 4) != 0;
        const bool foreign = (where & 8) != 0;
        port_->bring(foreign  ? nic::Group{{0xE000'0101}, 9}
                     : repair ? line.retransmission[stream]
                              : line.streams[stream],
                     payload);
        step();
    }

    /// Stops the poller and the core, and checks that every message is accounted for.
    void finish() {
        poller_->finish();
        do {
            core_->step(now_ns_);
        } while (!poller_->flush_pending());
        core_->drain(now_ns_);
        core_->stop();
        actors::CounterSnapshot counters;
        counters.pollers = {actors::take_poller_snapshot(
            *poller_, std::array<std::string, 1>{"core"}, actors::Running::stopped)};
        counters.cores = {actors::take_core_snapshot(*core_, actors::Running::stopped)};
        PINSTRIKE_CHECK(actors::imbalances(counters).empty());
    }

  private:
    void step() {
        poller_->step(now_ns_);
        core_->step(now_ns_);
    }

    std::vector<feed::LineConfig> lines_;
    OneFrame* port_ = nullptr;
    std::unique_ptr<actors::PollerTask> poller_;
    std::unique_ptr<actors::Core> core_;
    std::int64_t now_ns_ = 1'700'000'000'000'000'000;
};

}  // namespace

int fuzz_one(std::span<const std::byte> bytes) {
    constexpr std::size_t head_bytes = 4;
    constexpr std::size_t payload_bytes_max = 1500;
    Bench bench;
    while (bytes.size() >= head_bytes) {
        const auto at = [&](std::size_t i) { return std::to_integer<unsigned>(bytes[i]); };
        const std::size_t length = std::min<std::size_t>(
            {at(2) << 8 | at(3), payload_bytes_max, bytes.size() - head_bytes});
        bench.bring(at(0), at(1), bytes.subspan(head_bytes, length));
        bytes = bytes.subspan(head_bytes + length);
    }
    bench.finish();
    return 0;
}
