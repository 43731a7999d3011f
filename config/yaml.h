// path: cold
//
// A YAML document as a tree. Every node has its place in the text. Only yaml.cpp uses the parser
// library.
//
// The parser refuses the following, because a config does not need them and they cause misreadings
// or attacks: anchors and aliases (they can expand without bound), tags, keys that are not plain
// words, a second document, nesting deeper than 16, texts over 1 MiB, bytes that are not UTF-8.
#pragma once

#include "config/problem.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike {

/// Line and column of a node, from 1; 0 if the node was not read from a text.
struct Mark {
    unsigned line = 0;
    unsigned column = 0;
};

struct Node {
    enum class Kind : std::uint8_t {
        scalar,
        sequence,
        mapping,
        refused,  ///< already reported; readers ignore it
    };

    Kind kind = Kind::scalar;
    bool quoted = false;  ///< a scalar in quotes: always text, never a number
    bool flow = false;    ///< written in flow style: {a: 1} or [1, 2]
    Mark mark;
    std::string text;  ///< of a scalar
    std::string key;   ///< set if the node is a child of a mapping
    Mark key_mark;
    std::vector<Node> children;

    /// The child with this key, or null.
    [[nodiscard]] const Node* find(std::string_view child_key) const;

    /// True for `key: ` without a value.
    [[nodiscard]] bool empty_scalar() const {
        return kind == Kind::scalar && text.empty() && !quoted;
    }

    // These functions make nodes for writing.
    [[nodiscard]] static Node plain(std::string text);
    [[nodiscard]] static Node quote(std::string text);
    [[nodiscard]] static Node sequence_of(std::vector<Node> children);
    [[nodiscard]] static Node mapping();
    Node& add(std::string child_key, Node child);
};

/// Parses a text; nullopt if no tree could be made. Adds a Problem for everything that is refused,
/// including duplicate keys, even if it returns a tree. `file` is the text's name in Problems.
std::optional<Node> parse_yaml(std::string_view text, const std::string& file, Problems& problems);

/// Reads a whole file; nullopt, with a problem added, if it cannot be read.
std::optional<std::string> read_text(const std::string& path, Problems& problems);

/// Writes YAML text that parse_yaml reads back as the same tree.
std::string to_yaml(const Node& node);

/// Writes JSON text; plain scalars that are numbers, true or false are written as such, all others
/// as strings.
std::string to_json(const Node& node);

/// Text from a file in the form that messages show: limited in length, printable, in quotes.
std::string shown(std::string_view text);

/// The same without quotes, for names.
std::string shown_bare(std::string_view text);

}  // namespace pinstrike
