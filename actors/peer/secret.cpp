// path: cold
#include "actors/peer/secret.h"

#include "config/check.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

namespace pinstrike::actors::peer {

namespace {

unsigned char* raw(std::byte* bytes) {
    return reinterpret_cast<unsigned char*>(bytes);  // tidy: bytes as OpenSSL names them
}

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
    to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace

Secret::Secret(std::span<const std::byte> bytes) : bytes_(bytes.begin(), bytes.end()) {}

Secret::~Secret() {
    wipe(bytes_);
}

void wipe(std::span<std::byte> bytes) {
    OPENSSL_cleanse(bytes.data(), bytes.size());
}

Mac prove(const Secret& secret, Role role, const Handshake& handshake) {
    // Each part of variable length either follows its length or is the last part, so no two
    // different handshakes give the same bytes.
    PINSTRIKE_CHECK(handshake.channel.size() <= 255);
    std::vector<std::byte> said;
    const std::string_view label =
        role == Role::server ? "pinstrike peer 1 server" : "pinstrike peer 1 client";
    append(said, std::as_bytes(std::span{label}));
    said.push_back(static_cast<std::byte>(handshake.channel.size()));
    append(said, handshake.channel);
    append(said, handshake.server.nonce);
    append(said, handshake.server.instance);
    append(said, handshake.client_nonce);
    append(said, handshake.client_instance);
    append(said, std::as_bytes(std::span{handshake.feed}));
    Mac mac{};
    unsigned length = 0;
    const unsigned char* made =
        HMAC(EVP_sha256(), secret.bytes().data(), static_cast<int>(secret.bytes().size()),
             raw(said.data()), said.size(), raw(mac.data()), &length);
    PINSTRIKE_CHECK(made != nullptr && length == mac.size());
    return mac;
}

bool same(const Mac& one, const Mac& other) {
    return CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

bool draw(std::span<std::byte> bytes) {
    return RAND_bytes(raw(bytes.data()), static_cast<int>(bytes.size())) == 1;
}

}  // namespace pinstrike::actors::peer
