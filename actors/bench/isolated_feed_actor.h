// path: cold
//
// Measures an actor of the feed alone on its core, as actors/runtime/isolation.h describes. Events
// go into the ring of the core, and the core delivers them to the actor as it does in an appliance.
#pragma once

#include "actors/bench/recorded_events.h"
#include "actors/core/core.h"
#include "actors/runtime/isolation.h"
#include "feed/event/limits.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace pinstrike::actors {

class IsolatedFeedActor final : public runtime::Isolated {
  public:
    IsolatedFeedActor(const RecordedEvents& events, std::unique_ptr<Actor> actor, std::size_t batch)
        : IsolatedFeedActor(events, std::move(actor), batch, Ring::make(slots(batch))) {}

    [[nodiscard]] std::size_t recorded_count() const override { return events_.messages; }

    void start() override { core_.start(); }

    void prepare(std::size_t messages) override {
        const feed::Event* first = &events_.records[next_];
        const std::size_t end = events_.records.size();
        std::size_t to = next_;
        for (prepared_ = 0; prepared_ < messages && to < end; ++prepared_) {
            const std::size_t behind = to + events_.records[to].header.records;
            if (behind - next_ > room_) {
                break;
            }
            to = behind;
        }
        PINSTRIKE_CHECK(ring_.try_push({first, to - next_}));
        next_ = to == end ? 0 : to;
    }

    std::size_t handle() override {
        do {
            core_.step(time_ns);
        } while (core_.has_work());
        return prepared_;
    }

    void stop() override { core_.stop(); }

  private:
    using Ring = actors::Ring<feed::Event>;
    static constexpr std::int64_t time_ns = 1;

    /// Slots for a batch of messages with up to two records on average, and for the longest
    /// message.
    static std::size_t slots(std::size_t batch) {
        return Ring::slots_for(std::max(2 * batch, feed::message_records_max));
    }

    IsolatedFeedActor(const RecordedEvents& events, std::unique_ptr<Actor> actor, std::size_t batch,
                      Ring::Halves ring)
        : events_(events),
          room_(ring.producer.capacity()),
          ring_(std::move(ring.producer)),
          core_(options(batch), one(std::move(ring.consumer)), one(std::move(actor))) {}

    static CoreOptions options(std::size_t batch) {
        CoreOptions options;
        options.info.name = "alone";
        options.batch_records = std::max(batch, feed::message_records_max);
        return options;
    }

    template <class T>
    static std::vector<T> one(T item) {
        std::vector<T> items;
        items.push_back(std::move(item));
        return items;
    }

    const RecordedEvents& events_;
    std::size_t next_ = 0;
    std::size_t prepared_ = 0;
    std::size_t room_;
    Producer<feed::Event> ring_;
    Core core_;
};

}  // namespace pinstrike::actors
