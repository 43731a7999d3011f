// path: cold
//
// A message of a topic: packed records of one underlying, and what is stated beside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace pinstrike::actors::kafka {

/// Which messages: those of one underlying in one topic. Both are indices.
struct MessageKey {
    std::uint16_t topic = 0;
    std::uint32_t underlying = 0;
};

/// Numbers of records are of the key, since the start of the producer's life.
struct Message {
    MessageKey key;
    std::string_view underlying;
    std::span<const std::byte> bytes;  ///< the records, one after the other; none: a statement
    std::uint32_t records = 0;
    std::uint64_t first = 0;      ///< records made before these
    std::uint64_t lost = 0;       ///< of the `first` records, those certainly not in the topic
    std::uint64_t uncertain = 0;  ///< of the `first` records, those that may be in the topic
    std::uint64_t missed = 0;     ///< events of the feed that this process was too slow to read
};

enum class Outcome : std::uint8_t { acknowledged, failed, uncertain };

/// What became of a message that was queued.
struct Delivery {
    MessageKey key;
    std::uint32_t records = 0;
    Outcome outcome = Outcome::acknowledged;
};

enum class Offered : std::uint8_t { queued, full, refused };

/// The bounded queue of messages to the brokers.
class MessageQueue {
  public:
    virtual ~MessageQueue() = default;
    /// Copies the message. If it is queued, its Delivery follows later; it never waits.
    virtual Offered offer(const Message& message) = 0;
    /// Whether less than half of the queue is used: records that can wait elsewhere may follow.
    [[nodiscard]] virtual bool has_room() const = 0;
    /// Gives the deliveries that are known, which makes room. Never waits.
    virtual std::size_t poll() = 0;
};

}  // namespace pinstrike::actors::kafka
