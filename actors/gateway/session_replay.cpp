// path: cold
#include "actors/gateway/session_replay.h"

#include "config/time_units.h"
#include "config/wall_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace pinstrike::actors::gateway {
namespace {

using feed::dbn::Schema;
using Kind = ReplayFrame::Kind;

/// Live records are kept from here on. The recording is one or two seconds behind the present.
constexpr std::int64_t near_ns = 5 * second_ns;
/// A recording that does not reach the live records within this time has ended.
constexpr std::int64_t patience_ns = 20 * second_ns;
/// After this many overflows of the kept live records the session ends.
constexpr unsigned overflows_max = 4;
/// Frames that are handled in one step, so that a step is short.
constexpr std::size_t frames_each_step = 1024;
constexpr std::size_t kept_each_step = 1024;

constexpr std::uint8_t code_internal = 6;

bool is_bar(Schema schema) {
    return schema == Schema::ohlcv_1s || schema == Schema::ohlcv_1m || schema == Schema::ohlcv_1h;
}

}  // namespace

void SessionReplay::begin(std::unique_ptr<ReplaySource> source) {
    input_.source = std::move(source);
    phase_ = Phase::replaying;
}

void SessionReplay::fail(std::uint8_t code, std::string text) {
    failure_ = {code, std::move(text)};
    phase_ = Phase::failed;
    input_ = {};
    kept_.clear();
}

void SessionReplay::keep(Schema schema, InstrumentId id, std::span<const std::byte> record,
                         std::int64_t end_ns) {
    if (phase_ != Phase::joining && phase_ != Phase::emptying) {
        return;  // the recording brings it
    }
    kept_.put(schema, id, record, end_ns);
    if (kept_.bytes() <= setup_.kept_bytes_max) {
        return;
    }
    if (phase_ == Phase::joining && ++overflows_ < overflows_max) {
        kept_.clear();
        phase_ = Phase::replaying;
        return;
    }
    fail(
        code_internal,
        fmt::format("Internal error: more than {} bytes of live records came before the client had "
                    "read the replay",
                    setup_.kept_bytes_max));
}

void SessionReplay::live_missed() {
    if (phase_ == Phase::joining) {
        kept_.clear();
        phase_ = Phase::replaying;
    }
}

void SessionReplay::work(std::int64_t now_ns) {
    if (phase_ == Phase::emptying) {
        return send_kept();
    }
    if (phase_ == Phase::replaying || phase_ == Phase::joining) {
        read_frames(now_ns);
    }
    if (phase_ == Phase::joining) {
        try_to_end(now_ns);
    }
}

void SessionReplay::read_frames(std::int64_t now_ns) {
    for (std::size_t i = 0; i < frames_each_step && setup_.client.has_room(); ++i) {
        auto rest = std::span<const std::byte>{input_.block}.subspan(input_.taken);
        if (rest.empty()) {
            input_.taken = 0;
            input_.block.clear();
            if (!input_.source->take(input_.block)) {
                break;
            }
            rest = input_.block;
        }
        bool is_malformed = false;
        const auto frame = take_frame(rest, is_malformed);
        if (!frame) {
            return fail(code_internal,
                        "Internal error: the replay sent bytes that are not a frame");
        }
        input_.taken = input_.block.size() - rest.size();
        handle(*frame, now_ns);
        if (phase_ == Phase::failed) {
            return;
        }
    }
    if (input_.taken == input_.block.size()) {
        if (const std::string why = input_.source->ended(); !why.empty()) {
            fail(code_internal, "Internal error: " + why);
        }
    }
}

void SessionReplay::handle(const ReplayFrame& frame, std::int64_t now_ns) {
    switch (frame.kind) {
        case Kind::series:
            return add_series(frame.key);
        case Kind::record:
        case Kind::interval:
            return put(frame);
        case Kind::interval_end:
            if (phase_ == Phase::replaying || is_interval_before_join(frame)) {
                setup_.client.output.put_interval_end(frame.schema, frame.time_ns);
            }
            return;
        case Kind::place:
            reached_.lines[frame.place.line] = frame.place;
            return;
        case Kind::reached:
            reached_.time_ns = frame.time_ns;
            if (phase_ == Phase::replaying && now_ns - frame.time_ns < near_ns) {
                try_to_join(now_ns);
            }
            return;
        case Kind::error:
            return fail(frame.code, std::string{frame.text});
    }
}

/// Maps the series' id in the replay to its live id; later records of the replay have the former.
void SessionReplay::add_series(const pinstrike_key& key) {
    Series& series = series_[key.id];
    series = {};
    pinstrike_key live = key;
    live.id = setup_.feed.id_of(key);
    Instruments& instruments = setup_.market.instruments();
    const Instrument* const known = instruments.find(live.id);
    if (known != nullptr && !instruments.contradicts(live)) {
        series = {live.id, known->core};
    }
}

void SessionReplay::put(const ReplayFrame& frame) {
    feed::dbn::RecordHeader header;
    std::memcpy(static_cast<void*>(&header), frame.record.data(), sizeof header);
    const auto found = series_.find(header.instrument);
    const Series series = found == series_.end() ? Series{} : found->second;
    if (series.id == 0) {
        ++unknown_;
        return;
    }
    if (!selection_.has(frame.schema, series.id) ||
        (phase_ == Phase::joining && !is_before_join(frame, series))) {
        return;
    }
    header.instrument = series.id;
    std::array<std::byte, replay_frame_bytes_max> record;
    std::ranges::copy(frame.record, record.begin());
    std::memcpy(record.data(), &header, sizeof header);
    setup_.client.put_replayed(series.id, std::span{record}.first(frame.record.size()));
}

/// The gateway's market has closed the intervals before its time then.
bool SessionReplay::is_interval_before_join(const ReplayFrame& frame) const {
    return frame.time_ns + (is_bar(frame.schema) ? bar_grace_ns : 0) <= join_.market_ns;
}

bool SessionReplay::is_before_join(const ReplayFrame& frame, const Series& series) const {
    if (frame.kind == Kind::interval) {
        return is_interval_before_join(frame);
    }
    const auto place = std::ranges::find_if(join_.places, [&](const LivePlace& each) {
        return each.core == series.core && each.place.line == frame.place.line;
    });
    // Of a late event, and where the line had no event, only the time says what was read.
    return frame.is_late || place == join_.places.end() ? frame.place.receive_ns <= join_.market_ns
                                                        : is_up_to(frame.place, place->place);
}

/// Begins to keep live records, unless the gateway is behind the recording.
void SessionReplay::try_to_join(std::int64_t now_ns) {
    Join join;
    join.places = setup_.feed.places().all();
    join.market_ns = setup_.feed.market_ns();
    join.since_ns = now_ns;
    for (const LivePlace& each : join.places) {
        const auto [at, is_new] = join.lines.try_emplace(each.place.line, each.place);
        if (!is_new && !is_up_to(each.place, at->second)) {
            at->second = each.place;
        }
    }
    for (const auto& [line, place] : reached_.lines) {
        const auto live = join.lines.find(line);
        if (live != join.lines.end() && !is_up_to(place, live->second)) {
            return;
        }
    }
    join_ = std::move(join);
    phase_ = Phase::joining;
}

void SessionReplay::try_to_end(std::int64_t now_ns) {
    const bool has_lines = std::ranges::all_of(join_.lines, [this](const auto& live) {
        const auto at = reached_.lines.find(live.first);
        return at != reached_.lines.end() && is_up_to(live.second, at->second);
    });
    const bool is_whole = has_lines && reached_.time_ns >= join_.market_ns;
    is_incomplete_ = !is_whole && since(join_.since_ns, now_ns) > patience_ns;
    if (is_whole || is_incomplete_) {
        input_ = {};
        joined_ = true;
        phase_ = Phase::emptying;
    }
}

void SessionReplay::send_kept() {
    for (std::size_t i = 0; i < kept_each_step && !kept_.empty() && setup_.client.has_room(); ++i) {
        const KeptRecords::Entry entry = kept_.front();
        if (entry.id == 0) {
            setup_.client.output.put_interval_end(entry.schema, entry.end_ns);
        } else {
            setup_.client.put_kept(entry.schema, entry.id, entry.record);
        }
        kept_.pop();
    }
    if (kept_.empty()) {
        phase_ = Phase::over;
    }
}

std::string SessionReplay::lack() const {
    std::string text;
    if (is_incomplete_) {
        text = "the recording ends before the live records begin";
    }
    if (unknown_ != 0) {
        text += fmt::format("{}{} records are of series that the feed does not know now",
                            text.empty() ? "" : ", and ", unknown_);
    }
    return text;
}

}  // namespace pinstrike::actors::gateway
