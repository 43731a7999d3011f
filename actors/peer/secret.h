// path: cold
//
// The shared secret of two peers, and how they prove it to each other without sending it: an
// HMAC-SHA256 over both nonces, both instances and the feed (README.md, "Authentication").
#pragma once

#include "actors/peer/frames.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace pinstrike::actors::peer {

/// Secret bytes: never written to a frame, log or metric, and wiped on destruction.
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

/// The mac that the side of this role has to send.
[[nodiscard]] Mac prove(const Secret& secret, Role role, const Handshake& handshake);

/// Compares in constant time.
[[nodiscard]] bool same(const Mac& one, const Mac& other);

/// Overwrites the bytes; the compiler cannot remove the stores.
void wipe(std::span<std::byte> bytes);

/// Fills `bytes` from the system's random generator; false: the generator failed.
[[nodiscard]] bool draw(std::span<std::byte> bytes);

}  // namespace pinstrike::actors::peer
