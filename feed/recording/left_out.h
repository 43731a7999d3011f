// path: cold
//
// What a cut of a recording left out, in the comments of the packets that it kept: the numbers that
// it left out before the packet, so that a replay does not take them for lost.
#pragma once

#include "config/problem.h"
#include "feed/event/block_numbers.h"
#include "feed/event/left_out_range.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::feed {

using LeftOutByLine = std::map<std::uint16_t, std::vector<LeftOutRange>>;

/// The comment of a capture with such packets.
inline constexpr std::string_view cut_comment =
    "cut of a recording: the comments of packets state which messages were left out before them";

/// Collects what is left out of a cut.
class LeftOut {
  public:
    /// A packet with these numbers is left out.
    void add(std::uint16_t line, const BlockNumbers& numbers);

    /// The comment of the line's next packet that is kept; empty: nothing was left out before it.
    [[nodiscard]] std::string take_comment(std::uint16_t line);

  private:
    LeftOutByLine pending_;
};

/// Adds the ranges that a comment states, and returns their number; 0 if the text is no such
/// comment.
std::size_t read_comment(std::string_view comment, LeftOutByLine& into);

/// The numbers that were left out of the captures that are cuts. Captures that cannot be read are
/// skipped, without a Problem. A Problem if there are more ranges than memory should hold.
[[nodiscard]] LeftOutByLine left_out_of(std::span<const std::string> captures, Problems& problems);

}  // namespace pinstrike::feed
