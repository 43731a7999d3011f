// path: cold
//
// A YAML document as a plain tree in which every node knows its place. The parser behind it is
// private to yaml.cpp.
//
// What is refused, because a config needs none of it and each is a way to be misread or attacked:
// anchors and aliases (they can expand without bound), tags, keys that are not plain words, a
// second document, nesting deeper than 16, texts over 1 MiB, bytes that are not UTF-8.
#pragma once

#include "config/problem.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike {

/// Line and column of a node, from 1; 0 where a node was made and not read.
struct Mark {
    unsigned line = 0;
    unsigned column = 0;
};

struct Node {
    enum class Kind : std::uint8_t {
        scalar,
        sequence,
        mapping,
        refused,  ///< already reported; readers pass over it in silence
    };

    Kind kind = Kind::scalar;
    bool quoted = false;  ///< a scalar that stood in quotes: always text, never a number
    bool flow = false;    ///< written on one line: {a: 1} or [1, 2]
    Mark mark;
    std::string text;  ///< of a scalar
    std::string key;   ///< of a mapping's child
    Mark key_mark;
    std::vector<Node> children;

    /// The child of that key, or null.
    [[nodiscard]] const Node* find(std::string_view child_key) const;

    /// `key: ` with nothing behind it.
    [[nodiscard]] bool empty_scalar() const {
        return kind == Kind::scalar && text.empty() && !quoted;
    }

    // Makers, for what is written.
    [[nodiscard]] static Node plain(std::string text);
    [[nodiscard]] static Node quote(std::string text);
    [[nodiscard]] static Node sequence_of(std::vector<Node> children);
    [[nodiscard]] static Node mapping();
    Node& add(std::string child_key, Node child);
};

inline constexpr std::size_t yaml_bytes_max = 1 << 20;
inline constexpr std::size_t yaml_depth_max = 16;

/// The tree of a text, or nothing if no tree could be made. Adds a Problem for all that is refused,
/// duplicate keys among it; a tree may come with Problems. `file` only names the text.
std::optional<Node> parse_yaml(std::string_view text, const std::string& file, Problems& problems);

/// The same of a file.
std::optional<Node> read_yaml(const std::string& path, Problems& problems);

/// A whole file, or a Problem that says why not.
std::optional<std::string> read_text(const std::string& path, Problems& problems);

/// YAML text that parse_yaml reads back as the same tree.
std::string to_yaml(const Node& node);

/// JSON text; plain scalars that are numbers, true or false stand as such, all else as strings.
std::string to_json(const Node& node);

/// How a message shows what a file holds: bounded, printable, in quotes.
std::string shown(std::string_view text);

/// The same without the quotes: for names.
std::string shown_bare(std::string_view text);

}  // namespace pinstrike
