// path: cold
//
// The stages of a message's path, in order: first those of the poll thread, then those of a core.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pinstrike::actors {

enum class Stage : std::uint8_t {
    receive,
    parse,
    find_line,
    check,
    arbitrate,
    decode,
    route,
    push,
    pop,
    book,
};

struct StageDoc {
    std::string_view name;
    std::string_view sentence;
};

inline constexpr std::array<StageDoc, 10> stage_docs{{
    {"receive", "a burst from the port, with the other work of a loop step"},
    {"parse", "Ethernet, IPv4 and UDP headers, with checksums"},
    {"find line", "the line of the group, and its count"},
    {"check", "the header, size and checksum of the block"},
    {"arbitrate", "is it new, a duplicate, or after a gap"},
    {"decode", "messages checked and written to memory in the cache"},
    {"route", "the core of each series; one core needs none"},
    {"push", "into the rings instead, and publication of each burst"},
    {"pop", "the core's loop, without an actor"},
    {"book", "the actor that keeps the book"},
}};

inline constexpr std::size_t stages_count = stage_docs.size();

[[nodiscard]] constexpr std::size_t index_of(Stage stage) {
    return static_cast<std::size_t>(stage);
}

}  // namespace pinstrike::actors
