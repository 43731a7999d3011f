// path: cold
//
// The keys of clients, and their limits: a YAML file that only its owner may access.
//
//     keys:
//       - {user: research, key: db-..., underlyings: [SPY, SPX, SPXW], sessions: 2}
#pragma once

#include "config/problem.h"
#include "config/section.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors::gateway {

inline constexpr std::size_t key_bytes = 32;
/// The last characters of a key, which a client sends in clear.
inline constexpr std::size_t bucket_bytes = 5;
inline constexpr std::size_t challenge_bytes = 32;

struct ClientKey {
    std::string user;                      ///< in log, metrics and reports
    std::string key;                       ///< secret
    std::vector<std::string> underlyings;  ///< that may be subscribed; none: all
    unsigned sessions = 10;                ///< most open at once
    unsigned subscriptions = 1000;         ///< most lines in a session
    std::uint64_t records_per_second = 0;  ///< most in a session; 0: no limit
    unsigned replays = 1;                  ///< most replays of the recording at once

    friend bool operator==(const ClientKey&, const ClientKey&) = default;

    [[nodiscard]] bool allows(std::string_view root) const;
};

using ClientKeys = std::vector<ClientKey>;

/// A list of roots, as SPXW.
[[nodiscard]] Section<ClientKey> client_key_section();

/// Whether a file of keys is an example, which everybody knows. Its mode does not matter.
[[nodiscard]] bool is_example(const std::string& path);

/// Reads and checks the file. On an error, adds problems, which never have text of a key, and
/// returns false.
[[nodiscard]] bool read_client_keys(const std::string& path, ClientKeys& keys, Problems& problems);

/// 32 random letters and digits.
[[nodiscard]] std::string new_challenge();

/// The key that answered the challenge by `auth`, or null. Compares in constant time.
[[nodiscard]] const ClientKey* authenticate(const ClientKeys& keys, std::string_view challenge,
                                            std::string_view auth);

/// What a client with this key answers: hex(SHA-256(challenge + '|' + key)) + '-' + the key's last
/// characters.
[[nodiscard]] std::string answer_of(std::string_view challenge, std::string_view key);

}  // namespace pinstrike::actors::gateway
