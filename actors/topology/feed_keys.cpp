// path: cold
#include "actors/topology/feed_keys.h"

#include "actors/peer/peer_keys.h"
#include "actors/publish/publish_keys.h"
#include "actors/recorder/record_keys.h"
#include "actors/threads/placement_forms.h"
#include "actors/topology/actor_kinds.h"
#include "config/limits.h"
#include "feed/arbitration/arbitration_keys.h"
#include "feed/lines/line_keys.h"
#include "feed/lines/watch_keys.h"
#include "feed/recovery/history_keys.h"
#include "feed/recovery/recovery_keys.h"
#include "feed/traffic/traffic_generator.h"
#include "feed/venue_codecs.h"
#include "feed/venue_services.h"
#include "nic/packet/address.h"
#include "nic/port_keys.h"
#include "nic/port_kind.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors {

namespace {

/// No host has memory for a larger ring.
constexpr std::size_t ring_slots_max = std::size_t{1} << 28;

Section<PollerConfig> poller_section() {
    Section<PollerConfig> section{"a poller"};
    section.key("name", &PollerConfig::name, name_text(), "Name in metrics and messages.")
        .required()
        .key("cpu", &PollerConfig::cpu, cpu_form(),
             "Processor that the poller's thread is pinned to, used by it alone; any: not pinned.")
        .key("lines", &PollerConfig::lines,
             or_word("all", std::vector<std::uint16_t>{}, number_ranges()),
             "Lines whose two streams this poller reads. Each line belongs to one poller.")
        .reloads_more()
        .key("ports", &PollerConfig::ports,
             or_word("all", std::vector<std::string>{}, list_of(name_text(), "a list of ports")),
             "Ports at which these lines arrive. A port named by several pollers has a queue for "
             "each.")
        .key("wait", &PollerConfig::wait, wait_form(),
             "What the poller does when it receives no packet.");
    return section;
}

Section<CoreConfig> core_section() {
    Section<CoreConfig> section{"an actor core"};
    section.key("name", &CoreConfig::name, name_text(), "Name in metrics and messages.")
        .required()
        .key("cpu", &CoreConfig::cpu, cpu_form(),
             "Processor that the core's thread is pinned to, used by it alone; any: not pinned.")
        .key("wait", &CoreConfig::wait, wait_form(), "What the core does when its rings are empty.")
        .key("actors", &CoreConfig::actors,
             list_of(word_of(actor_kind_words()), "a list of actors"),
             "Actors that run on the core; only its thread calls them.");
    return section;
}

/// A section for each kind of actor that has keys, named like the kind.
void add_actor_keys(Section<FeedConfig>& section) {
    for (const ActorKind* kind : actor_kinds()) {
        if (std::optional<ActorSection> own = kind->section()) {
            section.key(std::string{kind->name()}, &FeedConfig::actors, std::move(own->form),
                        std::move(own->sentence));
        }
    }
}

bool is_listening_address(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0 || text.find(' ') != std::string::npos) {
        return false;
    }
    const std::string_view host = std::string_view{text}.substr(0, colon);
    const bool a_name = host.find_first_not_of("0123456789.") != std::string_view::npos;
    const auto address = nic::parse_ipv4(host);
    const auto port = parse_integer(std::string_view{text}.substr(colon + 1));
    return (a_name || (address && nic::is_unicast(*address))) && port && *port >= 1 &&
           *port <= port_number_max;
}

void add_thread_keys(Section<FeedConfig>& section) {
    section
        .key("ports", &FeedConfig::ports,
             list_of(section_form(nic::port_section()), "a list of ports"),
             "Where packets are received.")
        .required()
        .key("pollers", &FeedConfig::pollers,
             list_of(section_form(poller_section()), "a list of pollers"),
             "Threads that receive packets, arbitrate the two streams of their lines, and decode.")
        .required()
        .key("cores", &FeedConfig::cores,
             list_of(section_form(core_section()), "a list of actor cores"),
             "Threads that run actors.")
        .required()
        .key("sharding", &FeedConfig::sharding,
             choice<Sharding>({{"series", Sharding::series, "by series: the load spreads evenly"},
                               {"underlying", Sharding::underlying,
                                "by underlying: all its series meet on one core"}}),
             "How messages are assigned to cores.")
        .key("ring_slots", &FeedConfig::ring_slots, power_of_two(1024, ring_slots_max),
             "Records of 64 bytes in each ring from a poller to a core. It should hold 5 ms of "
             "the core's highest rate.")
        .unit("records")
        .key("when_full", &FeedConfig::when_full,
             choice<WhenFull>(
                 {{"refuse", WhenFull::refuse,
                   "messages for a full ring are dropped, counted, and reported to the core as a "
                   "gap"},
                  {"wait", WhenFull::wait, "the poller waits: for captures and simulation"}}),
             "What happens when a ring is full.");
}

std::vector<ChoiceDoc> venue_words() {
    std::vector<ChoiceDoc> words;
    feed::for_each_venue([&words]<class Codec>() {
        words.push_back({std::string{Codec::name}, std::string{Codec::sentence}});
    });
    return words;
}

bool has_series_mapping(std::string_view venue) {
    return feed::venue_services(venue).read_series_mapping != nullptr;
}

std::vector<ChoiceDoc> venues_with_series_mapping() {
    std::vector<ChoiceDoc> words = venue_words();
    std::erase_if(words, [](const ChoiceDoc& venue) { return !has_series_mapping(venue.word); });
    return words;
}

void add_sharing_keys(Section<FeedConfig>& section) {
    section
        .key("history", &FeedConfig::history,
             or_word("none", feed::HistoryConfig{}, section_form(feed::history_section())),
             "What is kept of the lines, so that peers can request lost messages.")
        .key("peer", &FeedConfig::peer,
             or_word("none", peer::PeerConfig{}, section_form(peer::peer_section())),
             "Other instances of the same feed: which are asked, and which may ask.")
        .key("publish", &FeedConfig::publish, section_form(publish_section()),
             "What other programs on this host can read.")
        .key("record", &FeedConfig::record, record_form(),
             "Recording of all received packets on disk.");
}

void add_general_keys(Section<FeedConfig>& section) {
    const auto has_sim = [](const FeedConfig& feed) {
        return std::ranges::any_of(
            feed.ports, [](const auto& port) { return nic::row_of(port.kind).generates; });
    };
    section
        .key("arbitration", &FeedConfig::arbitration, section_form(feed::arbitration_section()),
             "How the two streams of a line are merged.")
        .key("recovery", &FeedConfig::recovery, section_form(feed::recovery_section()),
             "How messages lost on both streams are recovered.")
        .key("silence", &FeedConfig::silence, section_form(feed::silence_section()),
             "When a stream without packets is reported as failed.")
        .key("calendar", &FeedConfig::calendar, section_form(feed::calendar_section()),
             "When data is expected, and when data is a test.");
    add_sharing_keys(section);
    section
        .key("block_checksum", &FeedConfig::block_checksum, boolean(),
             "Verify the checksum that every block carries.")
        .reloads()
        .key("test_symbols", &FeedConfig::test_symbols, boolean(),
             "Pass messages of reserved test symbols to the cores.")
        .reloads();
    add_actor_keys(section);
    section
        .key("series_map", &FeedConfig::series_map, or_word<std::string>("none", "", text()),
             "The day's list of series and their lines, as the exchange publishes it each night, "
             "or a folder, whose newest such file is used. Read at the start, so that the book has "
             "an entry for each series before its first message. Relative to the working "
             "directory, as captures are.")
        .only_for("kind", "kind " + words_joined(venues_with_series_mapping()),
                  [](const FeedConfig& feed) { return has_series_mapping(feed.kind); });
    if (const feed::TrafficGenerator* const generator = feed::traffic_generator()) {
        section
            .key("traffic", &FeedConfig::traffic, generator->form,
                 "What ports of kind sim generate.")
            .only_for("ports", "a port of kind sim", has_sim);
    }
    section
        .key("control_cpu", &FeedConfig::control_cpu, cpu_form(),
             "Processor of all threads that are not hot: the control thread, which logs and serves "
             "the admin socket, the metrics endpoint's thread, and DPDK's main lcore. It should "
             "not be one of a poller or core.")
        .key("metrics_address", &FeedConfig::metrics_address,
             or_word<std::string>("none", "",
                                  text_like("an address and port such as 127.0.0.1:9464",
                                            "^[^ :]+:[0-9]{1,5}$", is_listening_address)),
             "Address of the endpoint that Prometheus scrapes; none: no endpoint.")
        .key("log_level", &FeedConfig::log_level,
             choice<LogLevel>({{"debug", LogLevel::debug, "everything"},
                               {"info", LogLevel::info, "what happened"},
                               {"warning", LogLevel::warning, "what should not happen"},
                               {"error", LogLevel::error, "what stops the program or loses data"}}),
             "Lowest level of entries that are logged; the log goes to standard error.")
        .reloads()
        .key("system_calls", &FeedConfig::system_calls,
             choice<SystemCalls>(
                 {{"filtered", SystemCalls::filtered,
                   "those on the list of their kind (`pinstrike check` prints it); others are "
                   "refused, counted and logged"},
                  {"free", SystemCalls::free,
                   "any: for tools that work inside the process, such as valgrind"}}),
             "System calls that poll and actor threads may make once they are ready.");
}

Section<FeedConfig> make_feed_section() {
    Section<FeedConfig> section{"a feed"};
    section
        .key("name", &FeedConfig::name, name_text(),
             "Name of the feed in metrics, messages and the account.")
        .key("kind", &FeedConfig::kind, word_of(venue_words()), "The venue's protocol.")
        .key("lines", &FeedConfig::lines, feed::lines_form(),
             "Lines to take: numbers of published lines, or lines with groups given here.")
        .required()
        .reloads_more()
        .key("retransmission", &FeedConfig::retransmission, boolean(),
             "Receive the lines' published retransmission groups as well. With recovery from them "
             "they are always received.");
    add_thread_keys(section);
    add_general_keys(section);
    return section;
}

}  // namespace

const Section<FeedConfig>& feed_section() {
    static const Section<FeedConfig> section = make_feed_section();
    return section;
}

}  // namespace pinstrike::actors
