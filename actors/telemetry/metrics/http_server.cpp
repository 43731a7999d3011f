// path: cold
#include "actors/telemetry/metrics/http_server.h"

#include "actors/topology/machine.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <exception>
#include <list>
#include <thread>
#include <utility>

namespace pinstrike::actors {

namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using Tcp = boost::asio::ip::tcp;

/// One request and its answer. It exists while one of its operations is pending.
class Connection : public std::enable_shared_from_this<Connection> {
  public:
    Connection(Tcp::socket socket, const HttpServer::Answer& answer, EndpointCounters& counters)
        : stream_(std::move(socket)), answer_(answer), counters_(counters) {
        parser_.header_limit(HttpServer::request_bytes_max);
    }

    void start() {
        stream_.expires_after(HttpServer::request_within);
        http::async_read_header(stream_, buffer_, parser_,
                                [self = shared_from_this()](error_code error, std::size_t) {
                                    if (error) {
                                        self->end(error);
                                    } else {
                                        self->reply();
                                    }
                                });
    }

    /// Whether its request is incomplete.
    [[nodiscard]] bool asks() const { return asks_; }

    void give_way() {
        counters_.bump(EndpointCount::gave_way);
        stream_.close();
    }

  private:
    void reply() {
        asks_ = false;
        const auto& request = parser_.get();
        const bool head = request.method() == http::verb::head;
        HttpAnswer answer = head || request.method() == http::verb::get
                                ? made(std::string{request.target()})
                                : HttpAnswer{405, "only GET and HEAD are supported\n"};
        response_.version(request.version());
        response_.keep_alive(false);
        response_.result(answer.status);
        response_.set(http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
        if (answer.status == 405) {
            response_.set(http::field::allow, "GET, HEAD");
        }
        response_.content_length(answer.text.size());
        if (!head) {
            response_.body() = std::move(answer.text);
        }
        stream_.expires_after(HttpServer::answer_within);
        http::async_write(stream_, response_,
                          [self = shared_from_this()](error_code error, std::size_t) {
                              if (!error) {
                                  self->counters_.bump(EndpointCount::answered);
                              }
                              self->end(error);
                          });
    }

    HttpAnswer made(const std::string& target) {
        try {
            return answer_(target.substr(0, target.find('?')), counters_);
        } catch (const std::exception& fault) {
            counters_.bump(EndpointCount::failed);
            return {500, std::string{"no answer could be made: "} + fault.what() + '\n'};
        }
    }

    void end(error_code error) {
        if (error == beast::error::timeout) {
            counters_.bump(EndpointCount::late);
        }
        error_code ignored;
        stream_.socket().shutdown(Tcp::socket::shutdown_send, ignored);
    }

    beast::tcp_stream stream_;
    const HttpServer::Answer& answer_;
    EndpointCounters& counters_;
    beast::flat_buffer buffer_{HttpServer::request_bytes_max};
    http::request_parser<http::empty_body> parser_;
    http::response<http::string_body> response_;
    bool asks_ = true;
};

/// The server, whose header includes nothing of Boost.
class Loop final : public HttpServer {
  public:
    Loop(const std::string& host, std::uint16_t port, Answer answer) : answer_(std::move(answer)) {
        Tcp::resolver resolver(io_);
        const Tcp::endpoint at =
            *resolver.resolve(host, std::to_string(port), Tcp::resolver::passive).begin();
        acceptor_.open(at.protocol());
        acceptor_.set_option(Tcp::acceptor::reuse_address(true));
        acceptor_.bind(at);
        acceptor_.listen();
        port_ = acceptor_.local_endpoint().port();
        accept();
        thread_ = std::thread([this] { run(); });
    }

    ~Loop() override {
        io_.stop();
        thread_.join();
    }

    [[nodiscard]] std::uint16_t port() const override { return port_; }

    [[nodiscard]] const EndpointCounters& counters() const override { return counters_; }

  private:
    void run() {
        place_this_thread(-1, "metrics");
        while (!io_.stopped()) {
            try {
                io_.run();
            } catch (const std::exception&) {
                // Memory was too low for one connection, which is closed. The others continue.
                counters_.bump(EndpointCount::failed);
            }
        }
    }

    void accept() {
        acceptor_.async_accept([this](error_code error, Tcp::socket socket) {
            connections_.remove_if([](const auto& each) { return each.expired(); });
            if (error || !accept(std::move(socket))) {
                return pause();
            }
            accept();
        });
    }

    /// False if memory is too low or the socket fails at once.
    bool accept(Tcp::socket socket) {
        if (connections_.size() >= connections_max) {
            make_way();
        }
        try {
            const auto connection =
                std::make_shared<Connection>(std::move(socket), answer_, counters_);
            connections_.push_back(connection);
            connection->start();
        } catch (const std::exception&) {
            return false;
        }
        return true;
    }

    /// Closes the oldest connection with an incomplete request, else the oldest.
    void make_way() {
        auto oldest = std::ranges::find_if(connections_, [](const auto& each) {
            const auto connection = each.lock();
            return connection && connection->asks();
        });
        oldest = oldest == connections_.end() ? connections_.begin() : oldest;
        if (const auto connection = oldest->lock()) {
            connection->give_way();
        }
        connections_.erase(oldest);
    }

    /// Waits before the next accept, because the error would recur at once.
    void pause() {
        constexpr std::chrono::milliseconds pause_ms{100};
        counters_.bump(EndpointCount::untaken);
        if (!connections_.empty()) {
            make_way();  // frees a descriptor
        }
        timer_.expires_after(pause_ms);
        timer_.async_wait([this](error_code) { accept(); });
    }

    const Answer answer_;
    EndpointCounters counters_;
    boost::asio::io_context io_{1};
    Tcp::acceptor acceptor_{io_};
    boost::asio::steady_timer timer_{io_};
    std::list<std::weak_ptr<Connection>> connections_;  ///< oldest first
    std::uint16_t port_ = 0;
    std::thread thread_;
};

}  // namespace

std::unique_ptr<HttpServer> HttpServer::open(const std::string& host, std::uint16_t port,
                                             Answer answer, Problem& complaint) {
    try {
        return std::make_unique<Loop>(host, port, std::move(answer));
    } catch (const boost::system::system_error& fault) {
        // An error of a name server may be temporary.
        const bool by_kernel = fault.code().category() == boost::system::system_category();
        complaint.text = fault.what();
        complaint.remedy = by_kernel ? remedy_of(fault.code().value()) : Remedy::retry;
    } catch (const std::exception& fault) {
        complaint.text = fault.what();  // out of memory, or no thread
        complaint.remedy = Remedy::retry;
    }
    return nullptr;
}

}  // namespace pinstrike::actors
