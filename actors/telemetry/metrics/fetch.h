// path: cold
//
// One HTTP GET from an endpoint of this program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pinstrike::actors {

struct HttpAddress {
    std::string host;
    std::uint16_t port = 80;

    /// "10.1.0.1:9464", "[::1]:9464"
    [[nodiscard]] std::string text() const;
};

/// Parses "http://host:port/anything" or "host:port"; the path is ignored. nullopt, with the reason
/// in `complaint`, for any other text.
[[nodiscard]] std::optional<HttpAddress> parse_http_address(std::string_view text,
                                                            std::string& complaint);

/// The address at which this host reaches an endpoint that listens at `metrics_address`: loopback
/// if the endpoint listens at all addresses.
[[nodiscard]] std::string reachable_address(const std::string& metrics_address);

/// The content of `path`. nullopt, with the reason in `complaint`, if it cannot be read within half
/// a minute.
[[nodiscard]] std::optional<std::string> fetch(const HttpAddress& address, const std::string& path,
                                               std::string& complaint);

}  // namespace pinstrike::actors
