// path: cold
#include "actors/recovery/recovery_task.h"

#include <algorithm>

namespace pinstrike::actors {

namespace {

constexpr std::size_t notes_each_step = 1024;
constexpr std::int64_t nap_in_flight_ns = 200'000;
constexpr std::int64_t nap_idle_ns = 500'000;

}  // namespace

std::pair<std::unique_ptr<PollerRepairRings>, RecoveryRepairRings> make_repair_rings(
    std::vector<std::uint16_t> lines) {
    auto notes =
        Ring<RepairNote>::make(Ring<RepairNote>::slots_for(PollerRepairRings::notes_slots));
    auto repairs =
        Ring<RepairRecord>::make(Ring<RepairRecord>::slots_for(PollerRepairRings::repairs_slots));
    return {
        std::make_unique<PollerRepairRings>(std::move(notes.producer), std::move(repairs.consumer)),
        RecoveryRepairRings{std::move(lines), std::move(notes.consumer),
                            std::move(repairs.producer)}};
}

std::size_t repair_rings_bytes() {
    return Ring<RepairNote>::slots_for(PollerRepairRings::notes_slots) * sizeof(RepairNote) +
           Ring<RepairRecord>::slots_for(PollerRepairRings::repairs_slots) * sizeof(RepairRecord);
}

RecoveryTask::RecoveryTask(const feed::RecoveryConfig& config,
                           std::vector<RecoveryRepairRings> rings,
                           std::vector<std::unique_ptr<feed::RepairSource>> sources,
                           const feed::Numbering& numbering)
    : rings_(std::move(rings)) {
    std::vector<std::uint16_t> lines;
    for (std::size_t ring = 0; ring < rings_.size(); ++ring) {
        for (std::size_t line = 0; line < rings_[ring].lines.size(); ++line) {
            places_[rings_[ring].lines[line]] = {ring, static_cast<std::uint32_t>(line)};
            lines.push_back(rings_[ring].lines[line]);
        }
    }
    feed::RepairSink& sink = *this;
    recovery_ =
        std::make_unique<feed::Recovery>(config, lines, std::move(sources), sink, numbering);
}

std::size_t RecoveryTask::step(std::int64_t now_ns) {
    clock_.step(now_ns);
    const std::size_t notes = read_notes();
    return notes + recovery_->step(clock_.now_ns());
}

std::int64_t RecoveryTask::nap_ns() const {
    const std::int64_t longest_ns = recovery_->in_flight() != 0 ? nap_in_flight_ns : nap_idle_ns;
    return std::clamp<std::int64_t>(recovery_->next_deadline_ns() - clock_.now_ns(), 0, longest_ns);
}

void RecoveryTask::finish() {
    for (RecoveryRepairRings& ring : rings_) {
        ring.notes.release_ownership();
        ring.repairs.release_ownership();
    }
    while (read_notes() != 0) {
    }
    recovery_->finish();
}

bool RecoveryTask::carry(std::uint16_t line, std::span<const std::byte> bytes) {
    const auto place = places_.find(line);
    return place != places_.end() && rings_[place->second.ring].carry(place->second.line, bytes);
}

std::size_t RecoveryTask::read_notes() {
    std::size_t read = 0;
    std::size_t first_line = 0;
    for (RecoveryRepairRings& ring : rings_) {
        const auto notes = ring.notes.peek(notes_each_step);
        for (const RepairNote& note : notes) {
            const std::size_t line = first_line + note.line;
            if (note.kind == RepairNote::Kind::missing) {
                recovery_->missing(line, note.begin, note.end, note.ts_before_ns, note.ts_behind_ns,
                                   clock_.now_ns());
            } else {
                recovery_->found(line, note.begin, note.end);
            }
        }
        ring.notes.release(notes.size());
        read += notes.size();
        first_line += ring.lines.size();
    }
    return read;
}

}  // namespace pinstrike::actors
