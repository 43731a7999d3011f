// path: cold
//
// How much memory and time of the gateway a client or a memory file may use. The limits that a
// config or a keys file sets are in gateway_config.h and client_keys.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pinstrike::actors::gateway {

/// A longer line ends the session.
inline constexpr std::size_t line_bytes_max = 256 * 1024;

/// A longer line before the login ends the session.
inline constexpr std::size_t login_bytes_max = 4096;

/// A session without a login within this time ends.
inline constexpr std::int64_t login_ns_max = 10'000'000'000;

inline constexpr unsigned heartbeat_seconds_min = 5;
inline constexpr unsigned heartbeat_seconds_max = 1800;

/// Symbols of one line.
inline constexpr std::size_t symbols_max = 2000;

/// Different symbols that a session may name, which bounds its memory.
inline constexpr std::size_t session_symbols_max = 50'000;

/// Errors about the symbols of one line; the last one has the number of those left out.
inline constexpr std::size_t symbol_errors_max = 16;

}  // namespace pinstrike::actors::gateway
