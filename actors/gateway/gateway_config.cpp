// path: cold
#include "actors/gateway/gateway_config.h"

#include "actors/gateway/client_keys.h"
#include "actors/market/reader_keys.h"
#include "actors/peer/peer_keys.h"
#include "actors/threads/placement_forms.h"
#include "config/yaml.h"

#include <fmt/format.h>

namespace pinstrike::actors::gateway {
namespace {

Section<GatewayConfig> make_section() {
    const Form<std::string> file = peer::file_form();
    Section<GatewayConfig> section{"a gateway"};
    section
        .key("feed", &GatewayConfig::feed, name_text(),
             "Name of the feed on this host that is served; it publishes memory and stream.")
        .required()
        .key("address", &GatewayConfig::address, endpoint_form("127.0.0.1:13000"),
             "Where clients connect. The protocol has no encryption: use the loopback address and "
             "a TLS tunnel in front, or a network of your own.")
        .key("keys", &GatewayConfig::keys, file,
             "File with the keys of clients, readable by its owner alone; relative to the folder "
             "of this config. Read again on SIGHUP.")
        .required()
        .key("underlyings", &GatewayConfig::underlyings, roots_form(),
             "Roots that are served; empty: all.")
        .key("queue", &GatewayConfig::queue_bytes,
             converted<std::size_t>(bytes64(std::uint64_t{1} << 20, std::uint64_t{1} << 32)),
             "Most bytes that wait for one client. A client that is further behind loses records "
             "or its session, as the schema wants it.")
        .unit("bytes")
        .key("connections_max", &GatewayConfig::connections_max, integer(1U, 10'000U),
             "Most connections open at once.")
        .unit("connections")
        .key("connections_each_second", &GatewayConfig::connections_each_second,
             integer(1U, 10'000U),
             "Most new connections from one address in a second; others are closed. Raise it if "
             "many clients come through one tunnel, because some clients try to connect again once "
             "only.")
        .unit("connections")
        .key("metrics_address", &GatewayConfig::metrics_address,
             or_word<std::string>("none", "", endpoint_form("127.0.0.1:9465")),
             "Address of the endpoint that Prometheus scrapes; none: no endpoint.")
        .key("access_log", &GatewayConfig::access_log, or_word<std::string>("none", "", file),
             "File to which a line is appended when a session ends, and at the end of each hour "
             "while it lasts (`pinstrike gateway "
             "usage` reads it); relative to the folder of this config.")
        .key("record", &GatewayConfig::record, or_word<std::string>("none", "", file),
             "Folder of the feed's recording (record.folder of its config), from which clients get "
             "the records of the present trade date that they ask for by start; relative to the "
             "folder of this config. none: there are no replays.")
        .key("record_config", &GatewayConfig::record_config, or_word<std::string>("none", "", file),
             "Config of the feed, for its lines, arbitration and series capacity in replays; "
             "relative to the folder of this config. none: all published lines.")
        .key("replays_max", &GatewayConfig::replays_max, integer(1U, 64U),
             "Most replays at once, of all clients. Each is a process of idle priority.")
        .unit("replays")
        .key("replay_kept", &GatewayConfig::replay_kept_bytes,
             converted<std::size_t>(bytes64(std::uint64_t{1} << 20, std::uint64_t{1} << 32)),
             "Most bytes of live records that are kept for one client until its replay is over, "
             "which takes some seconds.")
        .unit("bytes")
        .key("cpu", &GatewayConfig::cpu, cpu_form(),
             "Processor that the gateway's thread is pinned to; any: not pinned.")
        .key("wait", &GatewayConfig::wait, wait_form(),
             "What the gateway's thread does when it has no work.");
    return section;
}

}  // namespace

const Section<GatewayConfig>& gateway_section() {
    static const Section<GatewayConfig> section = make_section();
    return section;
}

std::optional<GatewayConfig> load_gateway_config(const std::string& path, Problems& problems) {
    const std::size_t before = problems.size();
    GatewayConfig config;
    static_cast<void>(read_file(gateway_section(), path, config, problems));
    config.keys = beside(path, config.keys);
    config.access_log = beside(path, config.access_log);
    config.record = beside(path, config.record);
    config.record_config = beside(path, config.record_config);
    return problems.size() == before ? std::optional{config} : std::nullopt;
}

bool is_gateway_config(const std::string& path) {
    Problems ignored;
    const auto text = read_text(path, ignored);
    const auto root = text ? parse_yaml(*text, path, ignored) : std::nullopt;
    return root && root->find("feed") != nullptr && root->find("lines") == nullptr;
}

std::vector<std::string> gateway_remarks(const GatewayConfig& config) {
    std::vector<std::string> remarks;
    const bool loopback = config.address.starts_with("127.");
    if (!loopback) {
        remarks.push_back(
            fmt::format("address: {} is not this host's loopback, and the protocol encrypts "
                        "nothing: everybody on the way can read the data",
                        config.address));
    }
    if (!loopback && is_example(config.keys)) {
        remarks.push_back(
            fmt::format("keys: {} has a published key, for trials only", config.keys));
    }
    return remarks;
}

}  // namespace pinstrike::actors::gateway
