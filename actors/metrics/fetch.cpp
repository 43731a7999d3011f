// path: cold
#include "actors/metrics/fetch.h"

#include "config/units.h"

#include <civetweb.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <memory>

namespace pinstrike::actors {
namespace {

constexpr int answer_within_ms = 5'000;
constexpr std::size_t answer_bytes_max = 64U << 20;

struct Close {
    void operator()(mg_connection* connection) const { mg_close_connection(connection); }
};

using Connection = std::unique_ptr<mg_connection, Close>;

/// Nothing where it breaks off, takes too long, or does not end.
std::optional<std::string> body_of(mg_connection& connection, long long announced,
                                   std::string& complaint) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(answer_within_ms);
    std::string body;
    std::array<char, 65536> piece;
    for (;;) {
        const int count = mg_read(&connection, piece.data(), piece.size());
        if (count <= 0) {
            break;
        }
        body.append(piece.data(), static_cast<std::size_t>(count));
        if (body.size() > answer_bytes_max || std::chrono::steady_clock::now() > end) {
            complaint = "the answer does not come to an end";
            return std::nullopt;
        }
    }
    if (announced > 0 && body.size() != static_cast<std::size_t>(announced)) {
        complaint = "the answer broke off";
        return std::nullopt;
    }
    return body;
}

}  // namespace

std::string HttpAddress::text() const {
    const bool v6 = host.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", port);
}

std::optional<HttpAddress> parse_http_address(std::string_view text, std::string& complaint) {
    constexpr std::string_view scheme = "http://";
    constexpr int port_max = 65535;
    const std::string whole{text};
    if (text.starts_with("https://")) {
        complaint = whole + ": the metrics endpoint speaks http, not https";
        return std::nullopt;
    }
    if (text.starts_with(scheme)) {
        text.remove_prefix(scheme.size());
    }
    text = text.substr(0, text.find('/'));
    const std::size_t colon = text.rfind(':');
    const std::int64_t port =
        colon == std::string_view::npos ? 0 : parse_integer(text.substr(colon + 1)).value_or(0);
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
    }
    if (host.empty() || port < 1 || port > port_max) {
        complaint = whole + " is not an address such as http://10.1.0.1:9464/metrics";
        return std::nullopt;
    }
    return HttpAddress{std::string{host}, static_cast<std::uint16_t>(port)};
}

std::string reachable_address(const std::string& metrics_address) {
    constexpr std::string_view any = "0.0.0.0:";
    return metrics_address.starts_with(any) ? "127.0.0.1:" + metrics_address.substr(any.size())
                                            : metrics_address;
}

std::optional<std::string> fetch(const HttpAddress& address, const std::string& path,
                                 std::string& complaint) {
    std::array<char, 256> error{};
    mg_init_library(0);
    const Connection connection{
        mg_connect_client(address.host.c_str(), address.port, 0, error.data(), error.size())};
    if (!connection) {
        complaint = error.data();
        return std::nullopt;
    }
    mg_printf(connection.get(), "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
              path.c_str(), address.text().c_str());
    if (mg_get_response(connection.get(), error.data(), error.size(), answer_within_ms) < 0) {
        complaint = fmt::format("no answer within {} s: {}", answer_within_ms / 1000, error.data());
        return std::nullopt;
    }
    const mg_response_info* answer = mg_get_response_info(connection.get());
    if (answer == nullptr || answer->status_code != 200) {
        complaint = fmt::format("it answers {} to {}: not a pinstrike, or one without this",
                                answer == nullptr ? 0 : answer->status_code, path);
        return std::nullopt;
    }
    return body_of(*connection, answer->content_length, complaint);
}

}  // namespace pinstrike::actors
