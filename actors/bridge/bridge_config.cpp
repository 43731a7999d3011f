// path: cold
#include "actors/bridge/bridge_config.h"

#include "actors/market/reader_keys.h"
#include "actors/peer/peer_keys.h"
#include "actors/threads/placement_forms.h"
#include "config/yaml.h"

#include <fmt/format.h>

#include <numeric>

namespace pinstrike::actors::bridge {
namespace {

Form<std::vector<std::uint32_t>> kinds_form() {
    using feed::EventKind;
    return list_of(choice<std::uint32_t>(
                       {{"quote", bit_of(EventKind::quote), "quotes"},
                        {"trade", bit_of(EventKind::trade), "trades and cancels"},
                        {"open_interest", bit_of(EventKind::open_interest), "open interest"},
                        {"end_of_day", bit_of(EventKind::end_of_day), "summaries of a day"},
                        {"series_map", bit_of(EventKind::series_map), "series and their lines"},
                        {"underlying", bit_of(EventKind::underlying), "values of underlyings"},
                        {"text", bit_of(EventKind::text), "administrative texts"}}),
                   "a list of kinds of messages");
}

Section<BridgeConfig> make_section() {
    Section<BridgeConfig> section{"a bridge"};
    section
        .key("feed", &BridgeConfig::feed, name_text(),
             "Serving: name of the feed on this host, which publishes memory and stream. Joining: "
             "name under which the feed is published on this host.")
        .required()
        .key("listen", &BridgeConfig::listen, endpoint_form("192.0.2.7:9480"),
             "Serving: where joining hosts connect.")
        .key("tls", &BridgeConfig::tls, section_form(peer::tls_section()),
             "Certificates, for both sides. Every connection is encrypted by TLS 1.3, and both "
             "sides need a certificate of the same authority. Paths are relative to the folder of "
             "this config.")
        .required()
        .key("connections_max", &BridgeConfig::connections_max, integer(1U, 64U),
             "Serving: most joining hosts at once.")
        .unit("connections")
        .key("underlyings", &BridgeConfig::underlyings, roots_form(),
             fmt::format("Joining: roots that are asked for, at most {}; empty: all.", roots_max))
        .key("kinds", &BridgeConfig::kinds, kinds_form(),
             "Joining: kinds of messages that are asked for; empty: all. Events of lines always "
             "come. Values that no message keeps current are not published.")
        .key("memory", &BridgeConfig::memory,
             choice<PublishMemory>(
                 {{"shm", PublishMemory::shm, "a file in /dev/shm"},
                  {"hugetlbfs", PublishMemory::hugetlbfs, "a file in the mounted hugetlbfs"}}),
             "Joining: where the feed is published on this host.")
        .key("memory_max", &BridgeConfig::memory_max_bytes,
             converted<std::size_t>(bytes64(std::uint64_t{1} << 24, std::uint64_t{1} << 40)),
             "Joining: most bytes of the published memory, whose size the serving feed states. A "
             "feed that needs more is refused.")
        .unit("bytes")
        .key("metrics_address", &BridgeConfig::metrics_address,
             or_word<std::string>("none", "", endpoint_form("127.0.0.1:9467")),
             "Address of the endpoint that Prometheus scrapes; none: no endpoint.")
        .key("cpu", &BridgeConfig::cpu, cpu_form(),
             "Processor that the bridge's thread is pinned to; any: not pinned.")
        .key("wait", &BridgeConfig::wait, wait_form(),
             "What the bridge's thread does when it has no work.");
    return section;
}

}  // namespace

const Section<BridgeConfig>& bridge_section() {
    static const Section<BridgeConfig> section = make_section();
    return section;
}

std::optional<BridgeConfig> load_bridge_config(const std::string& path, Problems& problems) {
    const std::size_t before = problems.size();
    BridgeConfig config;
    static_cast<void>(read_file(bridge_section(), path, config, problems));
    if (config.underlyings.size() > roots_max) {
        add_problem(problems, path,
                    fmt::format("underlyings: found {} roots, expected at most {}, or none for all",
                                config.underlyings.size(), roots_max));
    }
    config.tls = {beside(path, config.tls.certificate), beside(path, config.tls.key),
                  beside(path, config.tls.authority)};
    return problems.size() == before ? std::optional{config} : std::nullopt;
}

bool is_bridge_config(const std::string& path) {
    Problems ignored;
    const auto text = read_text(path, ignored);
    const auto root = text ? parse_yaml(*text, path, ignored) : std::nullopt;
    return root && root->find("feed") != nullptr && root->find("tls") != nullptr &&
           root->find("lines") == nullptr;
}

JoinConfig join_config_of(const BridgeConfig& config) {
    const std::uint32_t kinds =
        std::accumulate(config.kinds.begin(), config.kinds.end(), feed::line_event_bits,
                        [](std::uint32_t all, std::uint32_t one) { return all | one; });
    return {.name = config.feed,
            .roots = config.underlyings,
            .kinds = config.kinds.empty() ? ~0U : kinds,
            .memory = config.memory,
            .memory_max_bytes = config.memory_max_bytes};
}

}  // namespace pinstrike::actors::bridge
