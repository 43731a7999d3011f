// path: cold
//
// Writes trees as text: YAML for effective configs, JSON for schemas.
#include "config/limits.h"
#include "config/yaml.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

namespace pinstrike {

namespace {

using Json = nlohmann::ordered_json;

/// Escapes text for double quotes, by rules common to YAML and JSON.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
            out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
            out += c;
        }
    }
    return out;
}

std::string in_quotes(std::string_view text) {
    return '"' + escaped(text) + '"';
}

std::string flow_of(const Node& node) {
    std::string out;
    for (const Node& child : node.children) {
        out += out.empty() ? "" : ", ";
        if (node.kind == Node::Kind::mapping) {
            out += child.key + ": ";
        }
        const bool scalar = child.kind == Node::Kind::scalar;
        out += !scalar ? flow_of(child) : child.quoted ? in_quotes(child.text) : child.text;
    }
    return node.kind == Node::Kind::mapping ? "{" + out + "}" : "[" + out + "]";
}

bool all_scalars(const Node& node) {
    return std::ranges::all_of(node.children,
                               [](const Node& child) { return child.kind == Node::Kind::scalar; });
}

/// The node as one text line; nullopt if it needs several.
std::optional<std::string> inline_of(const Node& node) {
    if (node.kind == Node::Kind::scalar) {
        return node.quoted ? in_quotes(node.text) : node.text;
    }
    const bool short_list = node.kind == Node::Kind::sequence && all_scalars(node);
    if (node.flow || node.children.empty() || short_list) {
        return flow_of(node);
    }
    return std::nullopt;
}

/// Writes block style at an indent; the caller has already written the indent of the first text
/// line.
void block(const Node& node, const std::string& indent, std::string& out) {
    const bool mapping = node.kind == Node::Kind::mapping;
    bool first = true;
    for (const Node& child : node.children) {
        out += first ? "" : indent;
        first = false;
        out += mapping ? child.key + ":" : "-";
        if (const auto line = inline_of(child)) {
            out += " " + *line + "\n";
        } else if (mapping) {
            const std::string deeper = indent + "  ";
            out += "\n" + deeper;
            block(child, deeper, out);
        } else {
            out += " ";
            block(child, indent + "  ", out);
        }
    }
}

/// Plain numbers, true and false become literals, all other scalars strings.
Json json_of(const Node& node) {
    if (node.kind == Node::Kind::scalar) {
        const Json literal = node.quoted ? Json{} : Json::parse(node.text, nullptr, false);
        return literal.is_number() || literal.is_boolean() ? literal : Json(node.text);
    }
    const bool mapping = node.kind == Node::Kind::mapping;
    Json out = mapping ? Json::object() : Json::array();
    for (const Node& child : node.children) {
        if (mapping) {
            out[child.key] = json_of(child);
        } else {
            out.push_back(json_of(child));
        }
    }
    return out;
}

}  // namespace

const Node* Node::find(std::string_view child_key) const {
    const auto found = std::ranges::find(children, child_key, &Node::key);
    return found == children.end() ? nullptr : &*found;
}

Node Node::plain(std::string text) {
    Node node;
    node.text = std::move(text);
    return node;
}

Node Node::quote(std::string text) {
    Node node = plain(std::move(text));
    node.quoted = true;
    return node;
}

Node Node::sequence_of(std::vector<Node> children) {
    Node node;
    node.kind = Kind::sequence;
    node.children = std::move(children);
    return node;
}

Node Node::mapping() {
    Node node;
    node.kind = Kind::mapping;
    return node;
}

Node& Node::add(std::string child_key, Node child) {
    child.key = std::move(child_key);
    children.push_back(std::move(child));
    return *this;
}

std::string to_yaml(const Node& node) {
    if (const auto line = inline_of(node)) {
        return *line + "\n";
    }
    std::string out;
    block(node, "", out);
    return out;
}

std::string to_json(const Node& node) {
    return json_of(node).dump(2, ' ', true, Json::error_handler_t::replace);
}

std::string shown(std::string_view text) {
    const std::string bare = shown_bare(text);
    return "\"" + bare + "\"";
}

std::string shown_bare(std::string_view text) {
    if (text.size() <= shown_bytes_max) {
        return escaped(text);
    }
    // The cut must not split a character of several bytes.
    std::size_t length = shown_bytes_max;
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) {
        --length;
    }
    return escaped(text.substr(0, length)) + "...";
}

}  // namespace pinstrike
