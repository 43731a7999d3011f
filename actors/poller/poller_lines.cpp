// path: cold
#include "actors/poller/poller_lines.h"

#include <algorithm>
#include <bit>

namespace pinstrike::actors {
namespace {

/// The groups on which a line arrives.
void add_routes(const feed::LineConfig& line, std::uint32_t index,
                std::vector<LineRoutes::Entry>& entries) {
    for (std::size_t stream = 0; stream < feed::streams_count; ++stream) {
        const auto which = static_cast<feed::Stream>(stream);
        entries.push_back({line.streams[stream], {index, which, false}});
        if (line.retransmission[stream].port != 0) {
            entries.push_back({line.retransmission[stream], {index, which, true}});
        }
    }
}

}  // namespace

void set_left_out(PollerLine& line, const PollerSetup& setup) {
    if (setup.left_out == nullptr) {
        return;
    }
    if (const auto found = setup.left_out->find(line.number); found != setup.left_out->end()) {
        line.arbiter.set_left_out(found->second);
    }
}

LineRoutes::LineRoutes(const std::vector<Entry>& entries)
    : slots_(std::bit_ceil(4 * std::max<std::size_t>(entries.size(), 1))),
      shift_(64 - static_cast<unsigned>(std::countr_zero(slots_.size()))) {
    for (const Entry& entry : entries) {
        const std::uint64_t key = key_of(entry.group.address.value, entry.group.port);
        std::size_t at = home_of(key);
        while (slots_[at].key != empty) {
            at = (at + 1) & (slots_.size() - 1);
        }
        slots_[at] = {key, entry.route};
    }
}

LineRoutes LineRoutes::with(const std::vector<feed::LineConfig>& lines, std::size_t known) const {
    std::vector<Entry> entries;
    for (const Slot& slot : slots_) {
        if (slot.key != empty) {
            const nic::Group group{{static_cast<std::uint32_t>(slot.key >> 16)},
                                   static_cast<std::uint16_t>(slot.key)};
            entries.push_back({group, slot.route});
        }
    }
    for (const feed::LineConfig& line : lines) {
        add_routes(line, static_cast<std::uint32_t>(known++), entries);
    }
    return LineRoutes{entries};
}

}  // namespace pinstrike::actors
