// path: cold
//
// What two peers share, and how they prove it to each other without saying it: HMAC-SHA256 over
// what both sides drew at random, who they are, and the feed (README.md, "Authentication").
#pragma once

#include "actors/peer/frames.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace pinstrike::actors::peer {

/// Bytes that appear in no message, log or metric; wiped when they are let go.
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

/// What both sides of a connection know of it after proof.
struct Handshake {
    std::span<const std::byte> channel;  ///< what only the two ends of a TLS channel know, or empty
    Challenge server;
    Nonce client_nonce{};
    Instance client_instance{};
    std::string_view feed;
};

enum class Role : std::uint8_t { server, client };

/// What the side of this role has to show.
[[nodiscard]] Mac prove(const Secret& secret, Role role, const Handshake& handshake);

/// In a time that does not depend on where they differ.
[[nodiscard]] bool same(const Mac& one, const Mac& other);

/// Overwrites them, whatever the compiler thinks of it.
void wipe(std::span<std::byte> bytes);

/// From the system's generator; false: it has none to give.
[[nodiscard]] bool draw(std::span<std::byte> bytes);

}  // namespace pinstrike::actors::peer
