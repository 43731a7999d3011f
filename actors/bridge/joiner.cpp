// path: mixed, hot: events
#include "actors/bridge/joiner.h"

#include "actors/publish/layout_hash.h"
#include "actors/publish/memory_file.h"
#include "config/check.h"
#include "config/time_units.h"
#include "config/units.h"
#include "config/wall_time.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

namespace pinstrike::actors::bridge {
namespace {

/// Readers look for a new start every 20 ms, so a gap that is stated later reaches them.
constexpr std::int64_t gaps_after_ns = 250 * ms_ns;
constexpr std::uint64_t credit_step_bytes = window_bytes / 8;

std::string name_of(const std::array<char, 32>& text) {
    std::string name;
    for (const char letter : text) {
        if (letter == '\0') {
            break;
        }
        name += letter > ' ' && letter <= '~' ? letter : '?';
    }
    return name.substr(0, text.size() - 1);
}

/// Whether a table of this shape can be laid out, and a venue can number its messages so.
bool is_possible(const StartBody& body) {
    constexpr std::uint32_t most = std::uint32_t{1} << 28;
    return body.series >= 1 && body.series < most && body.slots >= body.series &&
           body.slots % 64 == 0 && body.slots < most && std::has_single_bit(body.stream_records) &&
           body.stream_records >= 256 && body.stream_records <= most && body.sharding <= 1 &&
           body.number_last >= 1 && body.number_last <= feed::number_max;
}

}  // namespace

/// The memory stays only while the bridge runs.
Joiner::~Joiner() {
    if (carried_.cores_count() != 0) {
        replica_.reset();
        Problems ignored;
        static_cast<void>(forget_memory(config_.name, ignored));
    }
}

void Joiner::connect(std::string address, std::int64_t now_ns) {
    PINSTRIKE_CHECK(link_ == nullptr && replica_ == nullptr);
    link_ = std::make_unique<Link>();
    link_->address = std::move(address);
    end_ = End::none;
    why_.clear();
    now_ns_ = link_->heard_ns = link_->spoke_ns = now_ns;
    counters_.bump(JoinCount::connections);
    FrameHeader header;
    header.type = FrameType::hello;
    HelloBody hello{.layout_hash = layout_hash(),
                    .kinds = config_.kinds,
                    .roots_count = static_cast<std::uint32_t>(config_.roots.size())};
    PINSTRIKE_CHECK(config_.roots.size() <= roots_max);
    link_->writer.begin(header);
    link_->writer.append(&hello, sizeof hello);
    for (const std::string& root : config_.roots) {
        const std::uint64_t word = feed::symbol_word_of(root);
        link_->writer.append(&word, sizeof word);
    }
    link_->writer.end(header);
}

void Joiner::receive(std::size_t bytes, std::int64_t now_ns) {
    now_ns_ = link_->heard_ns = now_ns;
    counters_.bump(JoinCount::bytes, bytes);
    link_->reader.received(bytes);
    Frame frame;
    while (end_ == End::none) {
        const FrameReader::Result result = link_->reader.next(frame);
        if (result == FrameReader::Result::incomplete) {
            break;
        }
        if (result != FrameReader::Result::frame) {
            return fail(result == FrameReader::Result::malformed
                            ? "bytes that are not a frame"
                            : "a frame of another protocol version");
        }
        take(frame);
    }
    const std::uint64_t taken = link_->reader.taken();
    if (taken - link_->credited >= credit_step_bytes) {
        FrameHeader header;
        header.type = FrameType::credit;
        header.value = taken + window_bytes;
        link_->credited = link_->writer.put(header) ? taken : link_->credited;
    }
}

void Joiner::take(const Frame& frame) {
    const FrameType type = frame.header.type;
    if (type == FrameType::events) [[likely]] {
        return take_events(frame);
    }
    const bool of_core = type == FrameType::lines || type == FrameType::series ||
                         type == FrameType::event_at || type == FrameType::ready ||
                         type == FrameType::ids;
    if (of_core && (replica_ == nullptr || frame.header.core >= carried_.cores_count())) {
        // Answers to questions about an earlier state may still come.
        return type == FrameType::ids ? void() : fail("a frame of a core that is not in the state");
    }
    switch (type) {
        case FrameType::start:
            return take_start(frame);
        case FrameType::lines:
        case FrameType::series:
            return take_state(frame);
        case FrameType::event_at:
            return take_event_at(frame);
        case FrameType::ready:
            return take_ready(frame);
        case FrameType::ids:
            return take_ids(frame);
        case FrameType::ended:
            if (replica_ == nullptr) {
                note_(BridgeNote::feed, link_->address,
                      fmt::format("the serving host has no feed to send: {}", frame.text()));
            }
            return end_replica(frame.text());
        case FrameType::alive:
            return;
        case FrameType::refused:
            return finish(End::refused, frame.text());
        case FrameType::bye:
            return finish(End::left, frame.text());
        default:
            return fail("a frame of a type that only a joining host sends, or that is unknown");
    }
}

/// Another state begins. If it is of the same start of the feed, gap events will state the numbers
/// that were not carried.
void Joiner::take_start(const Frame& frame) {
    const std::uint32_t count = frame.header.count;
    if (count == 0 || count > cores_max || !frame.has<StartCore>(count, sizeof(StartBody))) {
        return fail("a frame `start` whose length contradicts its number of cores");
    }
    ReplicaShape shape;
    shape.body = frame.at<StartBody>(0);
    for (std::uint32_t i = 0; i < count; ++i) {
        shape.cores.push_back(name_of(frame.at<StartCore>(i, sizeof(StartBody)).name));
    }
    if (!is_possible(shape.body)) {
        return fail("a frame `start` with impossible sizes or numbers");
    }
    end_replica("another state follows");
    if (const std::size_t bytes = Replica::bytes_for(shape); bytes > config_.memory_max_bytes) {
        return finish(
            End::refused,
            fmt::format("the feed's memory takes {} bytes here, more than memory_max ({})",
                        grouped(bytes), grouped(config_.memory_max_bytes)));
    }
    carried_.begin(frame.header.value, count, {.last = shape.body.number_last});
    series_before_ = counters_.read(JoinCount::series);
    Problems problems;
    replica_ = Replica::make(shape, config_.name, config_.memory, counters_, problems);
    if (replica_ == nullptr) {
        return finish(End::refused, problems.empty() ? "no memory" : problems.front().text);
    }
    PINSTRIKE_CHECK(replica_->cores_count() == carried_.cores_count() && !carried_.is_ready());
}

void Joiner::take_state(const Frame& frame) {
    const bool of_lines = frame.header.type == FrameType::lines;
    const std::uint32_t count = frame.header.count;
    if (carried_.core(frame.header.core).ready ||
        !(of_lines ? frame.has<LineBody>(count) : frame.has<SeriesBody>(count))) {
        return fail("a state frame after `ready`, or one whose length contradicts its count");
    }
    CorePlace& place = carried_.core(frame.header.core);
    for (std::uint32_t i = 0; i < count; ++i) {
        if (of_lines) {
            const auto line = frame.at<LineBody>(i);
            if (!is_possible(line)) {
                return fail("a state of a line with impossible values");
            }
            if (place.known &&
                (stamp_after(line.day, place.stamp) || stamp_after(line.flush, place.stamp))) {
                place.numbers.begin_anew(static_cast<std::uint16_t>(line.version));
            }
            replica_->take_line(frame.header.core, line);
            continue;
        }
        const auto series = frame.at<SeriesBody>(i);
        if (!is_possible(series)) {
            return fail("a state of a series with impossible values");
        }
        place.lines[static_cast<std::uint16_t>(series.entry.stamp)] = true;
        replica_->take_series(frame.header.core, series);
    }
}

void Joiner::take_event_at(const Frame& frame) {
    const std::size_t records = frame.header.count;
    CorePlace& place = carried_.core(frame.header.core);
    const auto* const event =
        reinterpret_cast<const feed::Event*>(frame.body.data());  // tidy: aligned records
    if (place.ready || !is_clock_stamp(frame.header.stamp) || records == 0 ||
        !frame.has<feed::Event>(records) || !is_possible(*event, records, carried_.numbering()) ||
        event->header.records != records) {
        return fail("a malformed event beside the state, or one after `ready`");
    }
    const bool applied = replica_->apply_at(frame.header.core, *event, frame.header.stamp);
    place.numbers.pass(*event);
    place.ts_ns = event->header.ts_receive_ns;
    counters_.bump(JoinCount::received, records);
    counters_.bump(applied ? JoinCount::applied : JoinCount::included, records);
}

void Joiner::take_ready(const Frame& frame) {
    if (!carried_.set_ready(frame.header)) {
        return fail("a frame `ready` with a position or a clock that its core cannot have");
    }
    replica_->set_clock(frame.header.core, frame.header);
    if (carried_.is_ready()) {
        publish();
    }
}

void Joiner::publish() {
    PINSTRIKE_CHECK(carried_.is_ready() && !replica_->is_published());
    Problems problems;
    if (!replica_->publish(problems)) {
        return finish(End::refused, problems.front().text);
    }
    const std::uint64_t numbers = carried_.resume();
    gaps_due_ns_ = now_ns_ + gaps_after_ns;
    counters_.bump(JoinCount::states);
    note_(BridgeNote::state, link_->address,
          fmt::format("published as {}: {} series in {} cores", config_.name,
                      grouped(counters_.read(JoinCount::series) - series_before_),
                      carried_.cores_count()));
    if (numbers != 0) {
        note_(BridgeNote::missed, link_->address,
              fmt::format("{} numbers of lines were not carried; gap events state which",
                          grouped(numbers)));
    }
}

void Joiner::put_gaps() {
    PINSTRIKE_CHECK(is_live());
    carried_.take_gaps([this](std::size_t core, const feed::Event& event) {
        replica_->apply(core, {&event, 1});
    });
}

void Joiner::take_ids(const Frame& frame) {
    if (!frame.has<IdBody>(frame.header.count)) {
        return fail("a frame `ids` whose length contradicts its count");
    }
    for (std::uint32_t i = 0; i < frame.header.count; ++i) {
        const auto body = frame.at<IdBody>(i);
        if (body.id <= PINSTRIKE_INDEX) {
            replica_->set_id(frame.header.core, body.key, body.id);
        }
    }
}

/// Series that came after the state get their ids from the serving host, so that both hosts have
/// the same.
void Joiner::ask_ids() {
    for (std::size_t core = 0; core < carried_.cores_count(); ++core) {
        const auto keys = replica_->without_id(core, now_ns_);
        if (!keys.empty()) {
            FrameHeader header;
            header.type = FrameType::ask;
            header.core = static_cast<std::uint16_t>(core);
            header.count = static_cast<std::uint32_t>(keys.size());
            static_cast<void>(link_->writer.put(header, std::as_bytes(std::span{keys})));
        }
    }
}

std::size_t Joiner::step(std::int64_t now_ns) {
    now_ns_ = now_ns;
    if (replica_ != nullptr && now_ns >= timers_due_ns_) {
        timers_due_ns_ = now_ns + ms_ns;
        replica_->run_timers(wall_ns());
    }
    if (link_ == nullptr || end_ != End::none) {
        return 0;
    }
    if (now_ns - link_->heard_ns > silent_after_ns) {
        finish(End::down, "the serving host was silent for 5 s");
        return 0;
    }
    if (now_ns - link_->spoke_ns >= alive_every_ns) {
        link_->spoke_ns = now_ns;
        static_cast<void>(link_->writer.put({}));
    }
    if (!is_live()) {
        return 0;
    }
    if (carried_.has_gaps() && now_ns >= gaps_due_ns_) {
        put_gaps();
    }
    if (now_ns >= ids_due_ns_) {
        ids_due_ns_ = now_ns + 5 * ms_ns;
        ask_ids();
    }
    return 0;
}

/// Readers of the present memory get the gaps that are known and the state of each line, and then
/// find the feed ended.
void Joiner::end_replica(const std::string& why) {
    if (replica_ == nullptr) {
        return;
    }
    if (replica_->is_published()) {
        for (std::size_t core = 0; core < carried_.cores_count(); ++core) {
            carried_.core(core).stamp = replica_->stamp(core);
        }
        put_gaps();
        carried_.make_line_down_events([this](std::size_t core, const feed::Event& event) {
            replica_->apply(core, {&event, 1});
        });
        note_(BridgeNote::feed, link_->address,
              fmt::format("{} has ended here: {}", config_.name, why));
    }
    replica_.reset();
}

void Joiner::leave(const std::string& why) {
    if (link_ != nullptr && end_ == End::none) {
        static_cast<void>(link_->writer.put_text(FrameType::bye, why));
        finish(End::left, why);
    }
}

void Joiner::fail(const std::string& what) {
    counters_.bump(JoinCount::malformed);
    finish(End::down, "the serving host sent " + what);
}

void Joiner::finish(End end, const std::string& why) {
    if (end_ == End::none) {
        end_ = end;
        why_ = why;
        counters_.bump(end == End::left      ? JoinCount::left
                       : end == End::refused ? JoinCount::refused
                                             : JoinCount::downs);
    }
}

void Joiner::disconnect() {
    end_replica(why_);
    link_.reset();
}

// --- hot ---

/// The position behind the frame must follow from the one before it, so no record is missing
/// unnoticed.
void Joiner::take_events(const Frame& frame) {
    const std::size_t records = frame.header.count;
    const std::size_t core = frame.header.core;
    if (replica_ == nullptr || core >= carried_.cores_count() || !replica_->is_published() ||
        records == 0 || frame.body.size() != records * sizeof(feed::Event)) {
        return fail(
            "events before the state was complete, or a frame whose length contradicts its count");
    }
    CorePlace& place = carried_.core(core);
    if (frame.header.position != place.position + frame.header.left_out + records) {
        return fail("events whose position does not follow from the frame before");
    }
    const std::span events{
        reinterpret_cast<const feed::Event*>(frame.body.data()),  // tidy: aligned
        records};
    for (std::size_t i = 0; i < records; i += events[i].header.records) {
        const feed::Event& event = events[i];
        if (!is_possible(event, records - i, carried_.numbering())) {
            return fail("an event with impossible values");
        }
        if (const auto lost = place.numbers.see(event)) [[unlikely]] {
            carried_.add_gap(core, event.header.line, *lost);
        }
        place.ts_ns = event.header.ts_receive_ns;
    }
    replica_->apply(core, events);
    place.position = frame.header.position;
    counters_.bump(JoinCount::received, records);
    counters_.bump(JoinCount::published, records);
    counters_.bump(JoinCount::left_out, frame.header.left_out);
    counters_.bump(JoinCount::passed, records + frame.header.left_out);
}

}  // namespace pinstrike::actors::bridge
