// path: cold
#include "actors/bench/recorded_events.h"

#include "actors/appliance/venues.h"
#include "actors/bench/stages/looped_capture.h"
#include "actors/threads/ring.h"
#include "actors/topology/feed_config.h"
#include "feed/venue_services.h"
#include "nic/capture/pcap_port.h"
#include "nic/clock.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace pinstrike::actors {

namespace {

using feed::Event;

/// The default venue, because a capture does not name its venue.
const feed::VenueServices& venue() {
    return feed::venue_services(FeedConfig{}.kind);
}

std::unique_ptr<nic::Port> open_port(const std::string& file, Problems& problems) {
    constexpr std::size_t burst_packets = 64;
    nic::GroupFilter filter;
    for (const feed::LineConfig& line : venue().published_lines()) {
        filter.own.insert(filter.own.end(), line.streams.begin(), line.streams.end());
    }
    std::sort(filter.own.begin(), filter.own.end());
    return nic::PcapPort::open("capture", std::array{file}, nic::Pace{}, burst_packets, problems,
                               std::move(filter));
}

std::unique_ptr<PollerTask> poller_of(std::unique_ptr<nic::Port> port, Producer<Event> producer) {
    std::vector<feed::LineConfig> lines = venue().published_lines();
    std::vector<Producer<Event>> producers;
    producers.push_back(std::move(producer));
    const std::size_t lines_count = lines.size();
    return make_poller(
        venue().name, looped_setup(std::move(port), nic::ChecksumCheck::software, std::move(lines)),
        router_to(std::move(producers), lines_count));
}

/// Slots for the events of a burst and of the blocks that lines held behind a hole.
constexpr std::size_t room_records = 1 << 19;

/// Reads all events in the ring, and appends them to `events` until `events` has `most` messages.
void keep(Consumer<Event>& ring, std::size_t most, RecordedEvents& events) {
    const auto waiting = ring.peek(room_records);
    std::size_t end = 0;
    for (; end < waiting.size() && events.messages < most; ++events.messages) {
        end += waiting[end].header.records;
    }
    events.records.insert(events.records.end(), waiting.begin(),
                          waiting.begin() + static_cast<std::ptrdiff_t>(end));
    ring.release(waiting.size());
}

}  // namespace

RecordedEvents record_capture(const std::string& file, std::size_t most, Problems& problems) {
    RecordedEvents events;
    auto opened = open_port(file, problems);
    if (!opened) {
        return events;
    }
    auto ring = Ring<Event>::make(room_records);
    const nic::Port& port = *opened;
    const auto poller = poller_of(std::move(opened), std::move(ring.producer));
    const nic::Clock clock;
    while (!poller->exhausted() && events.messages < most) {
        poller->step(clock.wall_ns());
        keep(ring.consumer, most, events);
    }
    poller->finish();
    keep(ring.consumer, most, events);
    for (const std::string& sentence : port.unread()) {
        add_problem(problems, "", sentence);  // the sentence names the file
    }
    if (events.messages == 0) {
        add_problem(problems, file, "holds no message of a published line");
    }
    return events;
}

}  // namespace pinstrike::actors
