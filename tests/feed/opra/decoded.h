// path: cold
//
// Runs the poll path's check and decode on one datagram, in a buffer of exactly its size, and
// compares every event with the message that the full parser reads from the same bytes.
#pragma once

#include "config/check.h"
#include "feed/opra/opra.h"
#include "feed/opra/parse.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::feed::opra {

/// An EventSink that keeps each message separately. With `reserves` it reserves slots for many
/// messages at once, as a router does; without, each message is pushed.
class Collector {
  public:
    explicit Collector(bool tests = true, bool reserves = true)
        : tests_(tests), reserves_(reserves) {}

    Event* next_slots(std::size_t records) {
        offered_.assign(records, Event{});
        return reserves_ && !full ? offered_.data() : nullptr;
    }

    void commit(std::size_t count, std::size_t records) {
        std::size_t at = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const auto* message = offered_.data() + at;
            messages.emplace_back(message, message + message->header.records);
            at += message->header.records;
        }
        PINSTRIKE_CHECK(at == records);
    }

    void push(std::span<const Event> message) {
        if (!full) {
            messages.emplace_back(message.begin(), message.end());
        }
    }

    void broadcast(const Event& event) { messages.push_back({event}); }

    void filtered() { ++filtered_count; }

    [[nodiscard]] bool wants_tests() const { return tests_; }

    std::vector<std::vector<Event>> messages;
    unsigned filtered_count = 0;
    bool full = false;  ///< refuses everything, like a full ring

  private:
    bool tests_;
    bool reserves_;
    std::vector<Event> offered_;
};

/// Decodes all messages of an accepted block.
Collector decode_all(std::span<const std::byte> payload, bool gth = false, bool tests = true);

/// The bytes of a block as it was parsed: with its own tail instead of a new pad.
std::vector<std::byte> encode(const wire::DecodedBlock& block);

/// How `event` (all records of one message) differs from `message`; empty: it does not.
std::string difference(const std::vector<Event>& event, const wire::Message& message, bool gth);

/// Checks and decodes `payload` with both parsers. Returns how they differ; empty: they agree. They
/// agree if the verdicts are equal, encoding the parsed block gives the same bytes, and every event
/// holds the content of its message, whichever slots it was written to.
std::string disagreement(std::span<const std::byte> payload, bool verify_checksum);

}  // namespace pinstrike::feed::opra
