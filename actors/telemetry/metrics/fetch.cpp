// path: cold
#include "actors/telemetry/metrics/fetch.h"

#include "config/units.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

#include <chrono>

namespace pinstrike::actors {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;

constexpr std::chrono::seconds connect_within{5};
constexpr std::chrono::seconds answer_within{10};
constexpr std::size_t answer_bytes_max = 64U << 20;

/// Runs one operation at a time, each limited by the stream's timeout.
class Client {
  public:
    error_code connect(const HttpAddress& address) {
        error_code error;
        asio::ip::tcp::resolver resolver(io_);
        const auto found = resolver.resolve(address.host, std::to_string(address.port), error);
        if (error) {
            return error;
        }
        stream_.expires_after(connect_within);
        stream_.async_connect(found, [this](error_code e, const auto&) { error_ = e; });
        return done();
    }

    error_code ask(const HttpAddress& address, const std::string& path) {
        http::request<http::empty_body> request{http::verb::get, path, 11};
        request.set(http::field::host, address.text());
        request.keep_alive(false);
        stream_.expires_after(answer_within);  // limits the answer too
        http::async_write(stream_, request, [this](error_code e, std::size_t) { error_ = e; });
        return done();
    }

    error_code hear() {
        answer_.body_limit(answer_bytes_max);
        http::async_read(stream_, buffer_, answer_,
                         [this](error_code e, std::size_t) { error_ = e; });
        return done();
    }

    http::response<http::string_body>& answer() { return answer_.get(); }

  private:
    error_code done() {
        io_.restart();
        io_.run();
        return error_;
    }

    asio::io_context io_{1};
    beast::tcp_stream stream_{io_};
    beast::flat_buffer buffer_;
    http::response_parser<http::string_body> answer_;
    error_code error_;
};

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
        complaint = whole + ": the metrics endpoint supports http, not https";
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
    Client client;
    if (const error_code error = client.connect(address)) {
        complaint = fmt::format("it cannot be reached: {}", error.message());
        return std::nullopt;
    }
    error_code error = client.ask(address, path);
    error = error ? error : client.hear();
    if (error == beast::error::timeout) {
        complaint = fmt::format("no complete answer within {} s", answer_within.count());
        return std::nullopt;
    }
    if (error) {
        complaint = fmt::format("the answer was cut off: {}", error.message());
        return std::nullopt;
    }
    if (client.answer().result() != http::status::ok) {
        complaint =
            fmt::format("it answers {} to {}: not a pinstrike, or a version without this page",
                        client.answer().result_int(), path);
        return std::nullopt;
    }
    return std::move(client.answer().body());
}

}  // namespace pinstrike::actors
