// path: cold
#include "actors/command/opra/generated_events.h"

#include "config/check.h"
#include "feed/opra/lines.h"
#include "feed/opra/opra.h"
#include "feed/opra/traffic/traffic_session.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace pinstrike::command {
namespace {

using feed::Event;
using feed::opra::Opra;

/// Decodes the blocks of a session and records all events.
class Recorder final : public feed::opra::traffic::BlockSink {
  public:
    explicit Recorder(actors::RecordedEvents& events) : events_(events) {}

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

    // The interface of an EventSink (feed/event/event_sink.h).

    static Event* next_slots(std::size_t /*records*/) { return nullptr; }

    static void commit(std::size_t /*messages*/, std::size_t /*records*/) {}

    void push(std::span<const Event> message) {
        events_.records.insert(events_.records.end(), message.begin(), message.end());
        ++events_.messages;
    }

    void broadcast(const Event& event) { push({&event, 1}); }

    static void filtered() {}

    [[nodiscard]] static bool wants_tests() { return false; }

  private:
    actors::RecordedEvents& events_;
    Opra::Scratch scratch_{};
};

/// The lines that carry quotes of the regular session.
std::vector<feed::LineConfig> quote_lines() {
    std::vector<std::uint16_t> numbers(feed::opra::TrafficConfig{}.lines_count);
    std::iota(numbers.begin(), numbers.end(), std::uint16_t{1});
    return feed::opra::published_lines(numbers);
}

}  // namespace

actors::RecordedEvents record_events(feed::opra::TrafficConfig config) {
    config.session = false;
    const auto lines = quote_lines();
    actors::RecordedEvents events;
    events.records.reserve(config.messages_count + config.messages_count / 2);
    Recorder recorder{events};
    feed::opra::traffic::TrafficSession{config, lines, recorder}.run();
    return events;
}

}  // namespace pinstrike::command
