// path: cold
//
// The shared secret of two peers. They prove to each other that they know it without sending it.
// The proof is an HMAC-SHA256 over both nonces, both instances and the feed (README.md,
// "Authentication").
#pragma once

#include "actors/peer/frames.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace pinstrike::actors::peer {

/// The bytes of a secret. They are never written to a frame, log or metric, and they are wiped on
/// destruction.
class Secret {
  public:
    Secret() = default;
    explicit Secret(std::span<const std::byte> bytes);
    ~Secret();
    Secret(const Secret&) = default;
    Secret& operator=(const Secret&) = default;

    [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

  private:
    std::vector<std::byte> bytes_;
};

/// The values that the macs of a connection cover.
struct Handshake {
    std::span<const std::byte> channel;  ///< keying material exported from TLS, or empty
    Challenge server;
    Nonce client_nonce{};
    Instance client_instance{};
    std::string_view feed;
};

enum class Role : std::uint8_t { server, client };

/// Returns the mac that the side with this role sends.
[[nodiscard]] Mac prove(const Secret& secret, Role role, const Handshake& handshake);

/// Compares two macs in constant time.
[[nodiscard]] bool same(const Mac& one, const Mac& other);

/// Overwrites the bytes. The compiler cannot remove these stores.
void wipe(std::span<std::byte> bytes);

/// Fills `bytes` from OpenSSL's random generator. Returns false if the generator failed.
[[nodiscard]] bool draw(std::span<std::byte> bytes);

}  // namespace pinstrike::actors::peer
