// path: hot
//
// Low-rate work of a poller: silence of streams, start and end of days, changes of the config,
// added lines. Included by poller.h.
#pragma once

#include "actors/poller/poller.h"

namespace pinstrike::actors {

inline std::array<std::uint64_t, feed::streams_count> packets_of(PollerLine& line) {
    using feed::Stream;
    const auto of = [&line](Stream stream) {
        return line.arbiter.counters(stream).read(feed::StreamCount::packets);
    };
    return {of(Stream::a), of(Stream::b)};
}

/// Runs at random intervals, so that the pollers do not do this work at the same time.
template <class Codec>
void Poller<Codec>::housekeep() {
    loop_clock_.acted();
    for (auto& input : inputs_) {
        input->port->housekeep(step_free_ns_);
    }
    const bool looks = !replays_ || gate_ != nullptr;
    const bool held_back = gate_ != nullptr && !gate_->is_open();  // the cores wait for marks
    if ((step_free_ns_ >= next_look_ns_ && looks) || held_back) {
        look_at_lines();
        next_look_ns_ = step_free_ns_ + look_interval_ns;
    }
    settings_.adopt([this](PollerSettings& settings) { adopt(settings); });
    router_.flush_pending();
    next_housekeeping_ns_ = step_free_ns_ + next_housekeeping_interval_ns();
}

template <class Codec>
void Poller<Codec>::adopt(PollerSettings& settings) {
    if (settings.lines != nullptr) {
        adopt_lines(static_cast<typename Lines::Prepared&>(*settings.lines));
    }
    block_checksum_ = settings.block_checksum;
    test_symbols_ = settings.test_symbols;
    for (auto& line : lines_) {
        line->arbiter.set_window(settings.window_ns);
        line->watch.configure(settings.silence);
    }
    for (auto& input : inputs_) {
        input->sources.swap(settings.sources[input->index]);
    }
}

/// Joins the groups last, so that each group has its line when its first packet comes.
template <class Codec>
void Poller<Codec>::adopt_lines(typename Lines::Prepared& more) {
    for (auto& line : more.lines) {
        line->day.look(wall_ns_);
    }
    lines_.adopt(more);
    for (auto& input : inputs_) {
        if (more.groups[input->index] != nullptr) {
            input->port->join(*more.groups[input->index], step_free_ns_);
        }
    }
}

/// Updates the state of each line's day and reports streams that fall silent or come back. With
/// marks, reports to each core how far each line has come. A core gets only its share of a line's
/// messages, and may get none for a long time. A replay only reports how far the lines have come.
template <class Codec>
void Poller<Codec>::look_at_lines() {
    for (auto& line : lines_) {
        if (replays_) {
            break;
        }
        line->day.look(wall_ns_);
        const bool on_air =
            line->day.hours().on_air(wall_ns_) && Codec::sends_heartbeats(line->number);
        line->watch.look({step_free_ns_, wall_ns_}, packets_of(*line), on_air,
                         [&](feed::LineState state, char stream) {
                             feed::Event event = event_of(feed::EventKind::line_state, *line);
                             event.body.line_state = {state, stream};
                             router_.begin(line->index);
                             router_.broadcast(event);
                         });
    }
    if (!marks_) {
        return;
    }
    for (auto& line : lines_) {
        feed::Event event = event_of(feed::EventKind::line_mark, *line);
        if (line->marker.look(line->arbiter, line->day, event)) {
            router_.begin(line->index);
            router_.broadcast(event);
        }
    }
    counters_.marked.add();
}

}  // namespace pinstrike::actors
