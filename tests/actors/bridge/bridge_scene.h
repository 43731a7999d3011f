// path: cold
//
// Both sides of a bridge without sockets, between a feed that this process publishes as "test" and
// a copy of it, "copy". The test passes in the time.
#pragma once

#include "actors/bridge/joiner.h"
#include "actors/bridge/serve_session.h"
#include "actors/publish/pinstrike.hpp"
#include "config/time_units.h"
#include "tests/actors/publish/published.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pinstrike::actors::bridge::test {

using actors::test::Day;
using actors::test::Events;
using actors::test::key_of;
using actors::test::PublishedFeed;
using actors::test::PublishFolder;

/// Notes of both sides, as texts.
struct Noted {
    std::vector<std::pair<BridgeNote, std::string>> notes;

    NoteBridge taker() {
        return [this](BridgeNote note, const std::string& /*subject*/, const std::string& text) {
            notes.emplace_back(note, text);
        };
    }

    [[nodiscard]] bool has(BridgeNote note) const { return !of(note).empty(); }

    [[nodiscard]] std::vector<std::string> of(BridgeNote note) const {
        std::vector<std::string> texts;
        for (const auto& [each, text] : notes) {
            if (each == note) {
                texts.push_back(text);
            }
        }
        return texts;
    }
};

class BridgeScene {
  public:
    explicit BridgeScene(JoinConfig config = {.name = "copy"})
        : joiner(std::make_unique<Joiner>(std::move(config), joins, noted.taker())) {}

    void connect() {
        session = std::make_unique<ServeSession>("test", serves);
        joiner->connect("192.0.2.7:9480", now_ns);
    }

    /// Moves at most `bytes_max` bytes in each direction.
    std::size_t step(std::size_t bytes_max = buffer_bytes) {
        now_ns += ms_ns / 10;
        std::size_t done = session->produce(now_ns);
        done += carry(session->output(), joiner->space(), bytes_max, [&](std::size_t bytes) {
            session->sent(bytes);
            joiner->receive(bytes, now_ns);
        });
        done += joiner->step(now_ns);
        done += carry(joiner->output(), session->space(), bytes_max, [&](std::size_t bytes) {
            joiner->sent(bytes);
            session->receive(bytes, now_ns);
        });
        return done;
    }

    /// Steps until nothing has been left to do for 300 ms, so that gaps are published too.
    void settle() {
        for (unsigned idle = 0; idle < 3000;) {
            idle = step() == 0 ? idle + 1 : 0;
        }
    }

    void settle_at_once() {
        for (unsigned idle = 0; idle < 60;) {
            idle = step() == 0 ? idle + 1 : 0;
        }
    }

    /// Whether readers find the copy live. They expect a sign of life in each second of their
    /// clock, so a test that stood still gives another one.
    bool is_live_to_readers(client::feed& copy) {
        constexpr unsigned tries_max = 100;
        for (unsigned i = 0; i < tries_max; ++i) {
            settle_at_once();
            if (copy.condition() == PINSTRIKE_FEED_LIVE) {
                return true;
            }
        }
        return false;
    }

    void disconnect() {
        session->lose("cut");
        joiner->lose("cut");
        joiner->disconnect();
        session.reset();
    }

    [[nodiscard]] std::uint64_t joined(JoinCount which) const { return joins.read(which); }

    [[nodiscard]] std::uint64_t served(ServeCount which) const { return serves.read(which); }

    PublishFolder folder;
    Noted noted;
    ServeCounters serves;
    JoinCounters joins;
    std::int64_t now_ns = 1'795'000'000'000'000'000;
    std::unique_ptr<ServeSession> session;
    std::unique_ptr<Joiner> joiner;

  private:
    template <class Moved>
    static std::size_t carry(std::span<const std::byte> from, std::span<std::byte> to,
                             std::size_t bytes_max, Moved&& moved) {
        const std::size_t bytes = std::min({from.size(), to.size(), bytes_max});
        if (bytes != 0) {
            std::memcpy(to.data(), from.data(), bytes);
            moved(bytes);
        }
        return bytes;
    }
};

class BridgeSessions : public ::testing::Test, public BridgeScene {
  protected:
    /// Gives random events to all cores of the feed, as its router does, and ids to new series.
    void trade(PublishedFeed& feed, unsigned steps) {
        const auto records = day.next(steps);
        const std::size_t cores = feed.books.size();
        for (const feed::Event& event : EventBatch{records}) {
            const std::span all{&event, event.header.records};
            const bool of_line = feed::is_line_event(event.header.kind);
            for (std::size_t core = 0; core < cores; ++core) {
                if (of_line ||
                    static_cast<std::size_t>(event.body.series.strike_e8 / 100'000'000) % cores ==
                        core) {
                    feed.books[core]->on_events(EventBatch{all});
                }
            }
        }
        for (unsigned i = 0; i < 4; ++i) {
            feed.file->give_ids();
        }
    }

    /// Gives events to a core of the feed, all with one time.
    static void give(PublishedFeed& feed, Events& events, std::size_t core = 0) {
        events.stamp(Day::start_ns);
        events.play(*feed.books[core]);
        feed.file->give_ids();
    }

    /// One quote with this number on line 9.
    static void quote(PublishedFeed& feed, std::uint64_t number) {
        Events events;
        events.quote(key_of("AAPL"), 9, number);
        give(feed, events);
    }

    /// A quote with each of these numbers.
    static void quotes(PublishedFeed& feed, std::uint32_t first, std::uint32_t last) {
        for (std::uint32_t number = first; number <= last; ++number) {
            quote(feed, number);
        }
    }

    static std::vector<pinstrike_record> events_of(client::stream& stream) {
        std::vector<pinstrike_record> all;
        for (unsigned empty = 0; empty < 3;) {
            const auto some = stream.poll(1024);
            all.insert(all.end(), some.begin(), some.end());
            empty = some.empty() ? empty + 1 : 0;
            if (some.empty()) {
                std::this_thread::sleep_for(std::chrono::milliseconds{25});
            }
        }
        return all;
    }

    Day day{7};
};

/// All series of a feed with messages, as bytes. Series that are only announced end with a start of
/// day when their book next sweeps its table, which two books do at different times.
inline std::vector<std::string> books_of(const std::string& name, bool with_stamps = false) {
    client::feed feed{name};
    std::vector<std::string> texts;
    for (pinstrike_value value : feed.chain()) {
        if (!with_stamps) {
            value.stamp = 0;
            value.changed_ns = 0;
        }
        value.old = PINSTRIKE_CURRENT;
        texts.emplace_back(reinterpret_cast<const char*>(&value), sizeof value);
    }
    return texts;
}

/// Whether both hosts publish the same. `with_stamps`: to the stamp.
inline bool are_equal(bool with_stamps = false) {
    const auto there = books_of("test", with_stamps);
    return !there.empty() && there == books_of("copy", with_stamps);
}

}  // namespace pinstrike::actors::bridge::test
