// path: cold
#include "actors/peer/link.h"

#include "actors/peer/secret.h"

#include <asio/buffer.hpp>
#include <asio/error.hpp>
#include <asio/ssl/error.hpp>
#include <asio/ssl/stream.hpp>
#include <asio/write.hpp>
#include <openssl/ssl.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace pinstrike::actors::peer {

namespace {

using Tcp = asio::ip::tcp;

asio::mutable_buffer buffer_of(std::span<std::byte> bytes) {
    return {bytes.data(), bytes.size()};
}

asio::const_buffer buffer_of(std::span<const std::byte> bytes) {
    return {bytes.data(), bytes.size()};
}

/// `Stream`: a socket, or TLS on a socket.
template <class Stream>
class StreamChannel : public Channel {
  public:
    template <class... Tls>
    explicit StreamChannel(Tcp::socket socket, Tls&... tls) : stream_(std::move(socket), tls...) {}

    void read(std::span<std::byte> into, Done done) override {
        stream_.async_read_some(buffer_of(into), std::move(done));
    }

    void write(std::span<const std::byte> from, Done done) override {
        asio::async_write(stream_, buffer_of(from), std::move(done));
    }

    void shut() override {
        asio::error_code ignored;
        stream_.lowest_layer().shutdown(Tcp::socket::shutdown_send, ignored);
    }

    void close() override {
        asio::error_code ignored;
        stream_.lowest_layer().close(ignored);
    }

  protected:
    Stream& stream() { return stream_; }

  private:
    Stream stream_;
};

class PlainChannel final : public StreamChannel<Tcp::socket> {
  public:
    using StreamChannel::StreamChannel;

    void start(Role /*role*/, std::function<void(const asio::error_code&)> done) override {
        done({});
    }

    std::vector<std::byte> keying_material() override { return {}; }
};

class TlsChannel final : public StreamChannel<asio::ssl::stream<Tcp::socket>> {
  public:
    using StreamChannel::StreamChannel;

    void start(Role role, std::function<void(const asio::error_code&)> done) override {
        stream().async_handshake(
            role == Role::server ? asio::ssl::stream_base::server : asio::ssl::stream_base::client,
            std::move(done));
    }

    std::vector<std::byte> keying_material() override {
        constexpr std::string_view label = "EXPORTER-pinstrike-peer";
        std::vector<std::byte> material(32);
        const int exported = ::SSL_export_keying_material(
            stream().native_handle(),
            reinterpret_cast<unsigned char*>(material.data()),  // tidy: bytes as OpenSSL names them
            material.size(), label.data(), label.size(), nullptr, 0, 0);
        if (exported != 1) {
            close();
        }
        return material;
    }
};

}  // namespace

std::unique_ptr<Channel> make_channel(Tcp::socket socket, asio::ssl::context* tls) {
    asio::error_code ignored;
    socket.set_option(Tcp::no_delay(true), ignored);
    if (tls == nullptr) {
        return std::make_unique<PlainChannel>(std::move(socket));
    }
    return std::make_unique<TlsChannel>(std::move(socket), *tls);
}

Link::Link(std::unique_ptr<Channel> channel, LinkEnd& end)
    : channel_(std::move(channel)), end_(&end) {}

void Link::start(Role role) {
    channel_->start(role, [self = shared_from_this()](const asio::error_code& error) {
        if (error) {
            return self->fail(error);
        }
        if (self->end_ != nullptr && !self->closed_) {
            self->begun_ = true;
            self->end_->begun(self->channel_->keying_material());
            self->flush();
            self->read();
        }
    });
}

void Link::flush() {
    if (!begun_ || writing_ || closed_ || end_ == nullptr) {
        return;
    }
    const auto output = end_->output();
    if (output.empty()) {
        if (end_->ended() && !shut_) {
            shut_ = true;
            channel_->shut();
        }
        return;
    }
    constexpr std::size_t piece_bytes_max = 64 * 1024;
    const auto piece = output.first(std::min(output.size(), piece_bytes_max));
    out_.assign(piece.begin(), piece.end());
    end_->sent(piece.size());
    writing_ = true;
    channel_->write(out_, [self = shared_from_this()](const asio::error_code& error, std::size_t) {
        self->writing_ = false;
        if (error) {
            return self->fail(error);
        }
        self->flush();
    });
}

std::string Link::with_fault(std::string_view sentence) const {
    std::string text{sentence};
    return fault_.empty() ? text : text + ": " + fault_;
}

void Link::close() {
    if (!closed_) {
        closed_ = true;
        channel_->close();
    }
}

void Link::leave() {
    close();
    end_ = nullptr;
}

void Link::read() {
    channel_->read(in_,
                   [self = shared_from_this()](const asio::error_code& error, std::size_t count) {
                       if (error) {
                           return self->fail(error);
                       }
                       if (self->end_ != nullptr && !self->closed_) {
                           self->end_->received(std::span{self->in_}.first(count));
                           self->flush();
                           self->read();
                       }
                   });
}

void Link::fail(const asio::error_code& error) {
    if (closed_) {
        return;
    }
    if (error != asio::error::eof && error != asio::ssl::error::stream_truncated) {
        fault_ = error.message();
    }
    close();
}

std::size_t poll(asio::io_context& io) {
    constexpr std::size_t handlers_max = 256;
    io.restart();
    std::size_t done = 0;
    while (done < handlers_max && io.poll_one() != 0) {
        ++done;
    }
    return done;
}

Tcp::endpoint endpoint_of(const nic::Group& at) {
    return {asio::ip::address_v4(at.address.value), at.port};
}

}  // namespace pinstrike::actors::peer
