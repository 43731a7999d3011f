// path: cold
#include "actors/export/replay_actor.h"

#include "actors/export/record_format.h"
#include "actors/publish/line_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pinstrike::actors {
namespace {

using feed::dbn::Schema;
using gateway::ReplayFrame;
using Kind = ReplayFrame::Kind;

constexpr std::size_t frames_bytes_max = std::size_t{64} << 10;
constexpr std::int64_t progress_interval_ns = 20'000'000;
/// Packets that were read reach the actor within this time.
constexpr std::int64_t line_idle_ns_min = 1'000'000'000;

}  // namespace

ReplayActor::ReplayActor(const std::vector<gateway::ReplayWanted>& wanted,
                         const std::optional<SnapshotBeginning>& beginning,
                         std::shared_ptr<const std::atomic<std::int64_t>> complete_ns, Write write)
    : MarketActor({}, beginning), complete_ns_(std::move(complete_ns)), write_(std::move(write)) {
    Interests& interests = market().interests();
    for (const gateway::ReplayWanted& each : wanted) {
        start_ns_[static_cast<std::size_t>(each.schema)] =
            static_cast<std::uint64_t>(each.start_ns);
        if (each.everything) {
            interests.add_all(*this, each.schema);
        }
        for (const std::string& root : each.roots) {
            interests.add_root(*this, each.schema, root);
        }
        for (const std::string& symbol : each.symbols) {
            interests.add_symbol(*this, each.schema, symbol);
        }
    }
}

void ReplayActor::on_events(EventBatch batch) {
    MarketActor::on_events(batch);
    for (const feed::Event& event : batch) {
        note(event);
    }
    idle_since_ns_ = 0;
    if (frames_.size() > frames_bytes_max) {
        put_progress();
        write_out();
    }
}

void ReplayActor::note(const feed::Event& event) {
    const feed::Header& header = event.header;
    if (!feed::has_series(header.kind) || header.ts_receive_ns == 0) {
        return;
    }
    reached_ns_ = std::max(reached_ns_, header.ts_receive_ns);
    if (!is_late(header) && header.kind != feed::EventKind::series_map) {
        moved_[header.line] = {header.line, header.sequence, header.ts_receive_ns};
    }
}

void ReplayActor::on_timer(std::int64_t now_ns) {
    MarketActor::on_timer(now_ns);
    advance_without_events(now_ns);
    if (now_ns - sent_ns_ >= progress_interval_ns || now_ns < sent_ns_) {
        sent_ns_ = now_ns;
        put_progress();
        write_out();
    }
}

/// Without packets, intervals end by the time up to which the recording is known.
void ReplayActor::advance_without_events(std::int64_t now_ns) {
    if (idle_since_ns_ == 0) {
        idle_since_ns_ = now_ns;
        idle_ns_ = complete_ns_->load(std::memory_order_relaxed);
    } else if (now_ns - idle_since_ns_ >= line_idle_ns_min) {
        if (reached_ns_ != 0 && idle_ns_ > reached_ns_) {
            reached_ns_ = idle_ns_;
            market().advance(reached_ns_);
        }
        idle_since_ns_ = 0;
    }
}

void ReplayActor::receive(Schema schema, InstrumentId id, std::span<const std::byte> record) {
    std::uint64_t time_ns = 0;
    std::memcpy(&time_ns, &record[record_time_at(schema)], sizeof time_ns);
    if (time_ns < start_ns_[static_cast<std::size_t>(schema)]) {
        return;
    }
    if (id >= sent_.size()) {
        sent_.resize(std::max<std::size_t>(market().instruments().end(), id + std::size_t{1}));
    }
    if (!sent_[id]) {
        sent_[id] = true;
        ReplayFrame series;
        series.kind = Kind::series;
        series.key = market().instruments().key_of(id);
        series.key.id = id;
        put_frame(frames_, series);
    }
    put_record(schema, time_ns, record);
}

void ReplayActor::put_record(Schema schema, std::uint64_t time_ns,
                             std::span<const std::byte> record) {
    ReplayFrame frame;
    frame.schema = schema;
    frame.record = record;
    if (const std::int64_t length_ns = feed::dbn::interval_ns_of(schema); length_ns != 0) {
        const bool is_bar = schema != Schema::cbbo_1s && schema != Schema::cbbo_1m;
        frame.kind = Kind::interval;
        frame.time_ns = static_cast<std::int64_t>(time_ns) + (is_bar ? length_ns : 0);
    } else {
        frame.kind = Kind::record;
        if (const feed::Event* const from = event()) {
            frame.is_late = is_late(from->header);
            frame.place = {from->header.line, from->header.sequence, from->header.ts_receive_ns};
        }
    }
    put_frame(frames_, frame);
}

void ReplayActor::interval_ended(Schema schema, std::int64_t end_ns) {
    if (static_cast<std::uint64_t>(end_ns) <= start_ns_[static_cast<std::size_t>(schema)]) {
        return;
    }
    ReplayFrame frame;
    frame.kind = Kind::interval_end;
    frame.schema = schema;
    frame.time_ns = end_ns;
    put_frame(frames_, frame);
}

void ReplayActor::put_progress() {
    ReplayFrame frame;
    frame.kind = Kind::place;
    for (const auto& [line, place] : moved_) {
        frame.place = place;
        put_frame(frames_, frame);
    }
    moved_.clear();
    if (reached_ns_ != 0) {
        ReplayFrame reached;
        reached.kind = Kind::reached;
        reached.time_ns = reached_ns_;
        put_frame(frames_, reached);
    }
}

void ReplayActor::write_out() {
    if (!frames_.empty() && is_read() && !write_(frames_)) {
        is_read_.store(false, std::memory_order_relaxed);
    }
    frames_.clear();
}

}  // namespace pinstrike::actors
