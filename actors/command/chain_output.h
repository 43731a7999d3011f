// path: cold
//
// The chain of an underlying as text: a table with calls and puts beside each strike, CSV or JSON.
#pragma once

#include "actors/publish/pinstrike.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace pinstrike::command {

enum class ChainForm : std::uint8_t { table, csv, json };

struct ChainView {
    ChainForm form = ChainForm::table;
    bool terminal = false;      ///< with colours
    bool nearest_only = false;  ///< only the nearest expiration of each root
    std::size_t around = 0;     ///< strikes around the money; 0: all
};

/// `values` are sorted as pinstrike_chain() returns them. Ends with a newline.
[[nodiscard]] std::string chain_text(const client::feed& feed,
                                     std::span<const pinstrike_value> values,
                                     const ChainView& view);

}  // namespace pinstrike::command
