// path: cold
#include "actors/bench/recorded_events.h"

#include "actors/appliance/venues.h"
#include "actors/bench/stages/looped_capture.h"
#include "actors/threads/ring.h"
#include "config/check.h"
#include "feed/opra/lines.h"
#include "feed/opra/opra.h"
#include "feed/opra/traffic/session.h"
#include "nic/capture/pcap_port.h"
#include "nic/clock.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

namespace pinstrike::command {

namespace {

using feed::Event;
using feed::opra::Opra;

/// Decodes the blocks of a session, and keeps all data.
class Recorder final : public feed::opra::traffic::BlockSink {
  public:
    explicit Recorder(RecordedEvents& events) : events_(events) {}

    void block(const feed::opra::traffic::SentBlock& sent) override {
        feed::Block block;
        PINSTRIKE_CHECK(Opra::check(sent.bytes, true, scratch_, block).accepted);
        feed::Header base;
        base.line = sent.line_number;
        base.session = block.session;
        base.ts_exchange_ns = block.ts_exchange_ns;
        base.ts_receive_ns = block.ts_exchange_ns;
        Opra::decode(block, 0, block.decodable, base, Opra::is_gth(sent.line_number), *this);
    }

    // What a decoder asks of its sink (feed/opra/decode.h).

    Event* claim(const feed::SeriesKey& /*key*/, unsigned records) { return next(records); }

    Event* claim_symbol(std::uint64_t /*symbol*/, unsigned records) { return next(records); }

    Event* claim_line(std::uint16_t /*line*/, unsigned records) { return next(records); }

    static Event* offer(std::size_t /*records*/) { return nullptr; }

    static void take(std::size_t /*messages*/, std::size_t /*records*/) {}

    void broadcast(const Event& event) { *next(1) = event; }

    static void filtered() {}

    [[nodiscard]] static bool wants_tests() { return false; }

  private:
    /// What is given is filled before the next is asked for, and read by nobody before.
    Event* next(unsigned records) {
        const std::size_t at = events_.records.size();
        events_.records.resize(at + records, Event{});
        ++events_.messages;
        return &events_.records[at];
    }

    RecordedEvents& events_;
    Opra::Scratch scratch_{};
};

std::vector<feed::LineConfig> all_lines() {
    std::vector<std::uint16_t> numbers(feed::opra::TrafficConfig{}.lines_count);
    std::iota(numbers.begin(), numbers.end(), std::uint16_t{1});
    return feed::opra::published_lines(numbers);
}

std::unique_ptr<nic::Port> open_port(const std::string& file, Problems& problems) {
    constexpr std::size_t burst_packets = 64;
    nic::GroupFilter filter;
    for (const feed::LineConfig& line : all_lines()) {
        filter.own.insert(filter.own.end(), line.streams.begin(), line.streams.end());
    }
    std::sort(filter.own.begin(), filter.own.end());
    return nic::PcapPort::open("capture", std::array{file}, nic::Pace{}, burst_packets, problems,
                               std::move(filter));
}

std::unique_ptr<actors::PollerTask> make_poller(std::unique_ptr<nic::Port> port,
                                                actors::Producer<Event> producer) {
    std::vector<feed::LineConfig> lines = all_lines();
    std::vector<actors::Producer<Event>> producers;
    producers.push_back(std::move(producer));
    const std::size_t lines_count = lines.size();
    return actors::make_poller(
        Opra::name,
        actors::looped_setup(std::move(port), nic::ChecksumCheck::software, std::move(lines)),
        actors::router_to(std::move(producers), lines_count));
}

/// For a burst, and what lines had held back behind a hole.
constexpr std::size_t room_records = 1 << 19;

/// Takes all that is in the ring, and keeps of it what is wanted yet.
void keep(actors::Consumer<Event>& ring, std::size_t most, RecordedEvents& events) {
    const auto waiting = ring.peek(room_records);
    std::size_t end = 0;
    for (; end < waiting.size() && events.messages < most; ++events.messages) {
        end += waiting[end].header.records;
    }
    events.records.insert(events.records.end(), waiting.begin(),
                          waiting.begin() + static_cast<std::ptrdiff_t>(end));
    ring.release(waiting.size());
}

}  // namespace

RecordedEvents record_capture(const std::string& file, std::size_t most, Problems& problems) {
    RecordedEvents events;
    auto opened = open_port(file, problems);
    if (!opened) {
        return events;
    }
    auto ring = actors::Ring<Event>::make(room_records);
    const nic::Port& port = *opened;
    const auto poller = make_poller(std::move(opened), std::move(ring.producer));
    const nic::Clock clock;
    while (!poller->exhausted() && events.messages < most) {
        poller->step(clock.wall_ns());
        keep(ring.consumer, most, events);
    }
    poller->finish();
    keep(ring.consumer, most, events);
    for (const std::string& sentence : port.unread()) {
        tell(problems, "", sentence);  // it names the file
    }
    if (events.messages == 0) {
        tell(problems, file, "holds no message of a line that OPRA publishes");
    }
    return events;
}

RecordedEvents record_events(feed::opra::TrafficConfig config) {
    config.session = false;
    const auto lines = all_lines();
    RecordedEvents events;
    events.records.reserve(config.messages_count + config.messages_count / 2);
    Recorder recorder{events};
    feed::opra::traffic::Session{config, lines, recorder}.run();
    return events;
}

}  // namespace pinstrike::command
