// path: cold
#include "actors/bridge/carried.h"

#include "actors/publish/stamp.h"

namespace pinstrike::actors::bridge {

void Carried::begin(std::uint64_t feed_start, std::size_t cores_count,
                    const feed::Numbering& numbering) {
    if (feed_start_ != feed_start || cores_.size() != cores_count ||
        numbering_.last != numbering.last) {
        feed_start_ = feed_start;
        numbering_ = numbering;
        cores_ = std::vector(cores_count, CorePlace{.numbers = LineNumbers{numbering}});
    }
    for (CorePlace& core : cores_) {
        core.numbers.interrupt();
        core.lines.assign(feed::line_numbers, false);
        core.ready = false;
    }
    ready_ = 0;
    gaps_.clear();
}

bool Carried::set_ready(const FrameHeader& ready) {
    CorePlace& core = cores_[ready.core];
    if (core.ready || !is_clock_stamp(ready.stamp) || ready.base_ms > stamp_ms_max ||
        ready.ms > stamp_ms_max || (core.known && ready.position < core.position)) {
        return false;
    }
    if (core.known) {
        counters_.bump(JoinCount::missed, ready.position - core.position);
        counters_.bump(JoinCount::passed, ready.position - core.position);
    }
    core.position = ready.position;
    core.known = core.ready = true;
    ++ready_;
    return true;
}

std::uint64_t Carried::resume() {
    const std::uint64_t before = counters_.read(JoinCount::gap_numbers);
    for (std::size_t core = 0; core < cores_.size(); ++core) {
        cores_[core].numbers.resume(
            [&](std::uint16_t line, const LostNumbers& lost) { add_gap(core, line, lost); });
    }
    return counters_.read(JoinCount::gap_numbers) - before;
}

void Carried::add_gap(std::size_t core, std::uint16_t line, const LostNumbers& lost) {
    feed::Event event{};
    event.header.kind = feed::EventKind::gap;
    event.header.line = line;
    event.header.set_number(lost.last);
    event.body.gap = {lost.first, lost.last, lost.count(numbering_), feed::GapCause::bridge};
    gaps_.emplace_back(core, event);
    counters_.bump(JoinCount::gaps);
    counters_.bump(JoinCount::gap_numbers, event.body.gap.messages);
}

std::size_t Carried::open_lines() const {
    std::size_t lines = 0;
    for (const CorePlace& core : cores_) {
        lines += core.numbers.open();
    }
    return lines;
}

bool Carried::balances() const {
    const auto read = [this](JoinCount which) { return counters_.read(which); };
    return read(JoinCount::received) ==
               read(JoinCount::published) + read(JoinCount::applied) + read(JoinCount::included) &&
           read(JoinCount::passed) ==
               read(JoinCount::published) + read(JoinCount::left_out) + read(JoinCount::missed);
}

}  // namespace pinstrike::actors::bridge
