// path: cold
//
// One HTTP GET, of an endpoint of this program.
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

/// "http://host:port/anything", or "host:port" alone; what follows is left out. Nothing, and
/// `complaint` says why, where it is something else.
[[nodiscard]] std::optional<HttpAddress> parse_http_address(std::string_view text,
                                                            std::string& complaint);

/// Where an endpoint that listens at `metrics_address` is reached from this host: who listens at
/// all addresses does so at loopback.
[[nodiscard]] std::string reachable_address(const std::string& metrics_address);

/// What `path` holds there. Nothing, and `complaint` says why, if it cannot be had within half a
/// minute.
[[nodiscard]] std::optional<std::string> fetch(const HttpAddress& address, const std::string& path,
                                               std::string& complaint);

}  // namespace pinstrike::actors
