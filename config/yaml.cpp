// path: cold
#include "config/yaml.h"

#include <fmt/format.h>
#include <libfyaml.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <unordered_set>

namespace pinstrike {

namespace {

struct FreeParser {
    void operator()(fy_parser* parser) const { fy_parser_destroy(parser); }
};

struct FreeDiagnostics {
    void operator()(fy_diag* diagnostics) const { fy_diag_destroy(diagnostics); }
};

using Diagnostics = std::unique_ptr<fy_diag, FreeDiagnostics>;
using Parser = std::unique_ptr<fy_parser, FreeParser>;

/// libfyaml writes to stderr unless it is given somewhere else; its errors are collected instead.
void discard(fy_diag* /*diagnostics*/, void* /*user*/, const char* /*text*/, std::size_t /*n*/) {}

Diagnostics make_diagnostics() {
    fy_diag_cfg settings;
    fy_diag_cfg_default(&settings);
    settings.fp = nullptr;
    settings.output_fn = discard;
    settings.colorize = false;
    Diagnostics diagnostics{fy_diag_create(&settings)};
    fy_diag_set_collect_errors(diagnostics.get(), true);
    return diagnostics;
}

std::string text_of(fy_token* token) {
    std::size_t length = 0;
    const char* text = fy_token_get_text(token, &length);
    return text == nullptr ? std::string{} : std::string{text, length};
}

bool quotes(fy_token* token) {
    const fy_scalar_style style = fy_token_scalar_style(token);
    return style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED;
}

Mark mark_of(fy_event* event, Mark otherwise) {
    const fy_mark* mark = fy_event_start_mark(event);
    return mark == nullptr ? otherwise
                           : Mark{static_cast<unsigned>(mark->line) + 1,
                                  static_cast<unsigned>(mark->column) + 1};
}

/// Builds the tree from the parser's events: nothing is expanded, so the tree is never larger than
/// the text.
class Builder {
  public:
    Builder(const std::string& file, fy_parser* parser, Problems& problems)
        : file_(file), parser_(parser), problems_(problems) {}

    /// The root, or nothing if the text holds none or ends in an error.
    std::optional<Node> build() {
        std::optional<Node> root;
        while (const Event event = next()) {
            if (event->type == FYET_STREAM_START || event->type == FYET_STREAM_END ||
                event->type == FYET_DOCUMENT_END) {
                continue;
            }
            if (event->type == FYET_DOCUMENT_START) {
                if (root) {
                    report(mark_of(event.get(), {}),
                           "found a second document, expected the end of the file");
                    break;
                }
                continue;
            }
            root = node_of(event.get(), {1, 1}, 0);
        }
        return stopped_ ? std::nullopt : std::move(root);
    }

  private:
    struct FreeEvent {
        fy_parser* parser = nullptr;

        void operator()(fy_event* event) const { fy_parser_event_free(parser, event); }
    };

    using Event = std::unique_ptr<fy_event, FreeEvent>;

    Event next() {
        return Event{stopped_ ? nullptr : fy_parser_parse(parser_), FreeEvent{parser_}};
    }

    void report(Mark mark, std::string text) {
        tell(problems_, Place{file_, mark.line, mark.column}, std::move(text));
    }

    /// libfyaml's mark of a quoted text or an alias is that of the first character behind the sign.
    static Mark before_sign(Mark mark) {
        return {mark.line, mark.column > 1 ? mark.column - 1 : mark.column};
    }

    Node node_of(fy_event* event, Mark near, std::size_t depth) {
        Node node;
        node.mark = mark_of(event, near);
        switch (event->type) {
            case FYET_SCALAR:
                node.text = text_of(event->scalar.value);
                node.quoted = fy_token_scalar_style(event->scalar.value) != FYSS_PLAIN;
                node.mark = quotes(event->scalar.value) ? before_sign(node.mark) : node.mark;
                refuse_marks(node, event->scalar.anchor, event->scalar.tag);
                break;
            case FYET_SEQUENCE_START:
                node.kind = Node::Kind::sequence;
                refuse_marks(node, event->sequence_start.anchor, event->sequence_start.tag);
                fill_sequence(node, depth + 1);
                break;
            case FYET_MAPPING_START:
                node.kind = Node::Kind::mapping;
                refuse_marks(node, event->mapping_start.anchor, event->mapping_start.tag);
                fill_mapping(node, depth + 1);
                break;
            default:
                node.kind = Node::Kind::refused;
                node.mark = before_sign(node.mark);
                report(node.mark, "found an alias, expected the value itself: aliases are refused");
                break;
        }
        return node;
    }

    void refuse_marks(const Node& node, fy_token* anchor, fy_token* tag) {
        if (anchor != nullptr) {
            report(node.mark, fmt::format("found the anchor {}, expected none: anchors and aliases "
                                          "are refused",
                                          shown(text_of(anchor))));
        }
        if (tag != nullptr) {
            report(node.mark, fmt::format("found the tag {}, expected none: tags are refused",
                                          shown(text_of(tag))));
        }
    }

    /// True where nesting may go on; says so once and stops the whole where not.
    bool deep_enough(const Node& node, std::size_t depth) {
        if (depth > yaml_depth_max && !stopped_) {
            report(node.mark,
                   fmt::format("found nesting deeper than {}, expected less", yaml_depth_max));
            stopped_ = true;
        }
        return !stopped_;
    }

    void fill_sequence(Node& node, std::size_t depth) {
        if (!deep_enough(node, depth)) {
            return;
        }
        while (const Event event = next()) {
            if (event->type == FYET_SEQUENCE_END) {
                return;
            }
            node.children.push_back(node_of(event.get(), node.mark, depth));
        }
    }

    void fill_mapping(Node& node, std::size_t depth) {
        if (!deep_enough(node, depth)) {
            return;
        }
        std::unordered_map<std::string, Mark> seen;
        while (const Event event = next()) {
            if (event->type == FYET_MAPPING_END) {
                return;
            }
            const Node key = node_of(event.get(), node.mark, depth);
            const Event value_event = next();
            if (!value_event) {
                return;
            }
            Node value = node_of(value_event.get(), key.mark, depth);
            if (key.kind != Node::Kind::scalar) {
                report(key.mark, "found a key that is not one word, expected a name");
                continue;
            }
            value.key = key.text;
            value.key_mark = key.mark;
            const auto [first, fresh] = seen.emplace(key.text, key.mark);
            if (!fresh) {
                report(key.mark,
                       fmt::format("{}: found the key again, expected it once: it stands at "
                                   "line {} already",
                                   shown_bare(key.text), first->second.line));
                continue;
            }
            node.children.push_back(std::move(value));
        }
    }

    const std::string& file_;
    fy_parser* parser_;
    Problems& problems_;
    bool stopped_ = false;
};

/// How many bytes the UTF-8 character at the front takes; 0: it is none, or a control character
/// that YAML does not allow.
std::size_t character_bytes(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
    const unsigned first = byte(0);
    if (first < 0x80) {
        return first >= 0x20 && first != 0x7F
                   ? 1
                   : (std::strchr("\t\n\r", static_cast<int>(first)) != nullptr && first != 0);
    }
    if (first >= 0xC2 && first < 0xE0) {
        return follows(1) ? 2 : 0;
    }
    if (first >= 0xE0 && first < 0xF0) {
        const bool overlong = first == 0xE0 && byte(1) < 0xA0;
        const bool surrogate = first == 0xED && byte(1) >= 0xA0;
        return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
    }
    const bool in_range = (first > 0xF0 || byte(1) >= 0x90) && (first < 0xF4 || byte(1) < 0x90);
    return first >= 0xF0 && first < 0xF5 && in_range && follows(1) && follows(2) && follows(3) ? 4
                                                                                               : 0;
}

/// libfyaml reads a bad byte in a plain scalar as an empty scalar, silently; so it is told here.
bool check_characters(std::string_view text, const std::string& file, Problems& problems) {
    Mark mark{1, 1};
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t bytes = character_bytes(text.substr(at));
        if (bytes == 0) {
            tell(problems, Place{file, mark.line, mark.column},
                 fmt::format("found the byte 0x{:02x}, expected UTF-8 text",
                             static_cast<unsigned char>(text[at])));
            return false;
        }
        const bool new_line = text[at] == '\n';
        mark = new_line ? Mark{mark.line + 1, 1} : Mark{mark.line, mark.column + 1};
        at += bytes;
    }
    return true;
}

void tell_errors(fy_diag* diagnostics, const std::string& file, Problems& problems) {
    void* at = nullptr;
    while (const fy_diag_error* error = fy_diag_errors_iterate(diagnostics, &at)) {
        tell(problems,
             Place{file, static_cast<unsigned>(std::max(error->line, 0)),
                   static_cast<unsigned>(std::max(error->column, 0))},
             fmt::format("not YAML: {}", error->msg));
    }
}

}  // namespace

std::optional<Node> parse_yaml(std::string_view text, const std::string& file, Problems& problems) {
    if (text.size() > yaml_bytes_max) {
        tell(problems, Place{file},
             fmt::format("found more than {} bytes, expected fewer", yaml_bytes_max));
        return std::nullopt;
    }
    if (!check_characters(text, file, problems)) {
        return std::nullopt;
    }
    const Diagnostics diagnostics = make_diagnostics();
    fy_parse_cfg settings{};
    settings.flags = static_cast<fy_parse_cfg_flags>(FYPCF_QUIET | FYPCF_COLLECT_DIAG |
                                                     FYPCF_DEFAULT_VERSION_1_2 | FYPCF_JSON_NONE);
    settings.diag = diagnostics.get();
    const Parser parser{fy_parser_create(&settings)};
    if (parser == nullptr || fy_parser_set_string(parser.get(), text.data(), text.size()) != 0) {
        tell(problems, Place{file}, "the YAML parser could not be started");
        return std::nullopt;
    }
    std::optional<Node> root = Builder{file, parser.get(), problems}.build();
    if (fy_parser_get_stream_error(parser.get())) {
        const std::size_t before = problems.size();
        tell_errors(diagnostics.get(), file, problems);
        if (problems.size() == before) {
            tell(problems, Place{file}, "not YAML");
        }
        return std::nullopt;
    }
    if (!root && problems.empty()) {
        tell(problems, Place{file, 1, 1}, "found nothing, expected a mapping of keys");
    }
    return root;
}

std::optional<std::string> read_text(const std::string& path, Problems& problems) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(path.c_str(), "rb"),
                                                               std::fclose};
    const auto refuse = [&] {
        tell(problems, Place{path}, fmt::format("cannot be read: {}", std::strerror(errno)));
        return std::nullopt;
    };
    if (file == nullptr) {
        return refuse();
    }
    std::string text;
    std::array<char, 65536> chunk{};
    // One byte over the limit is enough for the parser to refuse it.
    while (text.size() <= yaml_bytes_max) {
        const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), file.get());
        if (got == 0) {
            break;
        }
        text.append(chunk.data(), got);
    }
    if (std::ferror(file.get()) != 0) {
        return refuse();
    }
    return text;
}

std::optional<Node> read_yaml(const std::string& path, Problems& problems) {
    const std::optional<std::string> text = read_text(path, problems);
    return text ? parse_yaml(*text, path, problems) : std::nullopt;
}

}  // namespace pinstrike
