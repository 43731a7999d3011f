// path: cold
//
// Both sides of a bridge and a small feed of this process, for the fuzz target and its seeds.
#pragma once

#include "actors/book/book.h"
#include "actors/bridge/joiner.h"
#include "actors/bridge/serve_session.h"
#include "actors/publish/memory_file.h"
#include "config/check.h"
#include "config/time_units.h"
#include "tests/actors/book/session.h"
#include "tests/actors/publish/publish_folder.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace pinstrike::fuzz {

using namespace pinstrike::actors;
using namespace pinstrike::actors::bridge;

/// A feed "test" of one core, with a few series.
class SmallFeed {
  public:
    SmallFeed() {
        const BookConfig config{.series_capacity = 64};
        MemoryPlan plan{
            .feed = "test", .cores = {"core0"}, .nodes = {}, .shape = book_shape(config, 1)};
        plan.shape.stream_records = 1024;
        Problems problems;
        file_ = MemoryFile::make(plan, problems);
        PINSTRIKE_CHECK(file_ != nullptr);
        book_ = std::make_unique<Book>(config, file_->core(0));
        book_->on_start({});
        file_->set_live();
    }

    void trade(unsigned steps) {
        actors::test::Events events;
        for (unsigned i = 0; i < steps; ++i) {
            session_.step(events);
        }
        book_->on_events(events.batch());
        file_->give_ids();
    }

  private:
    std::unique_ptr<MemoryFile> file_;
    std::unique_ptr<Book> book_;
    actors::test::Session session_{1};
};

struct Pair {
    Pair()
        : joiner(
              {.name = "copy", .memory_max_bytes = std::size_t{32} << 20}, joins,
              [](BridgeNote /*note*/, const std::string& /*of*/, const std::string& /*text*/) {}) {}

    /// Moves what both sides have to say. `there`, `back`: collect it.
    bool step(std::vector<std::byte>* there = nullptr, std::vector<std::byte>* back = nullptr) {
        now_ns += ms_ns;
        session.produce(now_ns);
        const std::size_t out = std::min(session.output().size(), joiner.space().size());
        if (out != 0) {
            std::memcpy(joiner.space().data(), session.output().data(), out);
            if (there != nullptr) {
                there->insert(there->end(), session.output().begin(),
                              session.output().begin() + static_cast<std::ptrdiff_t>(out));
            }
            session.sent(out);
            joiner.receive(out, now_ns);
        }
        joiner.step(now_ns);
        const std::size_t in = std::min(joiner.output().size(), session.space().size());
        if (in != 0) {
            std::memcpy(session.space().data(), joiner.output().data(), in);
            if (back != nullptr) {
                back->insert(back->end(), joiner.output().begin(),
                             joiner.output().begin() + static_cast<std::ptrdiff_t>(in));
            }
            joiner.sent(in);
            session.receive(in, now_ns);
        }
        return out + in != 0;
    }

    std::int64_t now_ns = 1'795'000'000'000'000'000;
    ServeCounters serves;
    JoinCounters joins;
    ServeSession session{"test", serves};
    Joiner joiner;
};

}  // namespace pinstrike::fuzz
