// path: cold
#include "config/yaml.h"

#include "config/limits.h"

#include <fmt/format.h>
#include <yaml.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <unordered_map>

namespace pinstrike {

namespace {

/// libyaml stores UTF-8 text as unsigned characters.
const char* text_of(const yaml_char_t* text) {
    return reinterpret_cast<const char*>(text);
}

Mark mark_of(const yaml_mark_t& mark) {
    return {static_cast<unsigned>(mark.line) + 1, static_cast<unsigned>(mark.column) + 1};
}

struct Event : yaml_event_t {
    Event() : yaml_event_t{} {}

    ~Event() { clear(); }

    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    [[nodiscard]] Mark mark() const { return mark_of(start_mark); }

    /// Call before the parser writes the next event into this object.
    void clear() { yaml_event_delete(this); }
};

class Parser {
  public:
    explicit Parser(std::string_view text) {
        if (yaml_parser_initialize(&parser_) == 0) {
            throw std::bad_alloc{};
        }
        yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                     text.size());
    }

    ~Parser() { yaml_parser_delete(&parser_); }

    Parser(const Parser&) = delete;
    Parser& operator=(const Parser&) = delete;

    /// False at the end of the text and on an error.
    [[nodiscard]] bool next(Event& event) {
        return yaml_parser_parse(&parser_, &event) != 0 && event.type != YAML_NO_EVENT;
    }

    [[nodiscard]] bool failed() const { return parser_.error != YAML_NO_ERROR; }

    [[nodiscard]] Mark failed_at() const {
        // For a reader error the library sets no problem_mark.
        return parser_.error == YAML_READER_ERROR ? mark_of(parser_.mark)
                                                  : mark_of(parser_.problem_mark);
    }

    [[nodiscard]] std::string failure() const {
        const std::string problem = parser_.problem != nullptr ? parser_.problem : "unreadable";
        const Mark begun = mark_of(parser_.context_mark);
        if (parser_.context == nullptr) {
            return problem;
        }
        return fmt::format("{} {} that begins at {}:{}", problem, parser_.context, begun.line,
                           begun.column);
    }

  private:
    yaml_parser_t parser_{};
};

/// Builds the tree from the parser's events. Nothing is expanded, so the size of the tree is
/// bounded by the text.
class Builder {
  public:
    Builder(const std::string& file, Parser& parser, Problems& problems)
        : file_(file), parser_(parser), problems_(problems) {}

    /// The root, or nullopt if the text is empty or has a syntax error.
    std::optional<Node> build() {
        std::optional<Node> root;
        for (Event event; next(event); event.clear()) {
            if (event.type == YAML_STREAM_START_EVENT || event.type == YAML_STREAM_END_EVENT ||
                event.type == YAML_DOCUMENT_END_EVENT) {
                continue;
            }
            if (event.type == YAML_DOCUMENT_START_EVENT) {
                if (root) {
                    report(event.mark(), "found a second document, expected the end of the file");
                    break;
                }
                continue;
            }
            root = node_of(event, 0);
        }
        return stopped_ ? std::nullopt : std::move(root);
    }

  private:
    [[nodiscard]] bool next(Event& event) { return !stopped_ && parser_.next(event); }

    void report(Mark mark, std::string text) {
        add_problem(problems_, Place{file_, mark.line, mark.column}, std::move(text));
    }

    Node node_of(const Event& event, std::size_t depth) {
        Node node;
        node.mark = event.mark();
        switch (event.type) {
            case YAML_SCALAR_EVENT: {
                const auto& scalar = event.data.scalar;
                node.text.assign(text_of(scalar.value), scalar.length);
                node.quoted = scalar.style != YAML_PLAIN_SCALAR_STYLE;
                refuse_marks(node, scalar.anchor, scalar.tag);
                break;
            }
            case YAML_SEQUENCE_START_EVENT:
                node.kind = Node::Kind::sequence;
                refuse_marks(node, event.data.sequence_start.anchor, event.data.sequence_start.tag);
                fill_sequence(node, depth + 1);
                break;
            case YAML_MAPPING_START_EVENT:
                node.kind = Node::Kind::mapping;
                refuse_marks(node, event.data.mapping_start.anchor, event.data.mapping_start.tag);
                fill_mapping(node, depth + 1);
                break;
            default:
                node.kind = Node::Kind::refused;
                report(node.mark, "found an alias, expected the value itself: aliases are refused");
                break;
        }
        return node;
    }

    void refuse_marks(const Node& node, const yaml_char_t* anchor, const yaml_char_t* tag) {
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

    /// True if nesting may go deeper; otherwise reports a problem once and stops the parsing.
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
        for (Event event; next(event); event.clear()) {
            if (event.type == YAML_SEQUENCE_END_EVENT) {
                return;
            }
            node.children.push_back(node_of(event, depth));
        }
    }

    void fill_mapping(Node& node, std::size_t depth) {
        if (!deep_enough(node, depth)) {
            return;
        }
        std::unordered_map<std::string, Mark> seen;
        for (Event event; next(event); event.clear()) {
            if (event.type == YAML_MAPPING_END_EVENT) {
                return;
            }
            const Node key = node_of(event, depth);
            Event value_event;
            if (!next(value_event)) {
                return;
            }
            Node value = node_of(value_event, depth);
            if (key.kind != Node::Kind::scalar) {
                report(key.mark, "found a key that is not one word, expected a name");
                continue;
            }
            value.key = key.text;
            value.key_mark = key.mark;
            const auto [first, fresh] = seen.emplace(key.text, key.mark);
            if (!fresh) {
                report(key.mark,
                       fmt::format(
                           "{}: found the key again, expected it once: it is already in line {}",
                           shown_bare(key.text), first->second.line));
                continue;
            }
            node.children.push_back(std::move(value));
        }
    }

    const std::string& file_;
    Parser& parser_;
    Problems& problems_;
    bool stopped_ = false;
};

/// The length of the UTF-8 character at the front; 0 if it is invalid or a control character that
/// YAML does not allow.
std::size_t character_bytes(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const unsigned first = byte(0);
    if (first < 0x80) {
        const bool blank = first == '\t' || first == '\n' || first == '\r';
        return blank || (first >= 0x20 && first != 0x7F) ? 1 : 0;
    }
    const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    std::uint32_t code = first & (0x7FU >> bytes);
    bool whole = first >= 0xC0 && first < 0xF8;
    for (std::size_t i = 1; i < bytes; ++i) {
        whole = whole && (byte(i) & 0xC0U) == 0x80U;
        code = code << 6U | (byte(i) & 0x3FU);
    }
    const std::uint32_t least = bytes == 2 ? 0x80 : bytes == 3 ? 0x800 : 0x10000;
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    return whole && code >= least && code <= 0x10FFFF && !surrogate ? bytes : 0;
}

/// Reports line and column of an invalid character, because libyaml reports only its byte offset.
bool check_characters(std::string_view text, const std::string& file, Problems& problems) {
    Mark mark{1, 1};
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t bytes = character_bytes(text.substr(at));
        if (bytes == 0) {
            add_problem(problems, Place{file, mark.line, mark.column},
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

}  // namespace

std::optional<Node> parse_yaml(std::string_view text, const std::string& file, Problems& problems) {
    if (text.size() > yaml_bytes_max) {
        add_problem(problems, Place{file},
                    fmt::format("found more than {} bytes, expected fewer", yaml_bytes_max));
        return std::nullopt;
    }
    if (!check_characters(text, file, problems)) {
        return std::nullopt;
    }
    Parser parser{text};
    std::optional<Node> root = Builder{file, parser, problems}.build();
    if (parser.failed()) {
        const Mark mark = parser.failed_at();
        add_problem(problems, Place{file, mark.line, mark.column},
                    fmt::format("not YAML: {}", parser.failure()));
        return std::nullopt;
    }
    if (!root && problems.empty()) {
        add_problem(problems, Place{file, 1, 1}, "found nothing, expected a mapping of keys");
    }
    return root;
}

std::optional<std::string> read_text(const std::string& path, Problems& problems) {
    // Reading stops once the text exceeds the limit, because the parser then refuses it.
    std::string text(yaml_bytes_max + 1, '\0');
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(path.c_str(), "rb"),
                                                               std::fclose};
    const std::size_t got =
        file != nullptr ? std::fread(text.data(), 1, text.size(), file.get()) : 0;
    if (file == nullptr || std::ferror(file.get()) != 0) {
        const int error = errno;
        add_problem(problems, Place{path}, fmt::format("cannot be read: {}", std::strerror(error)),
                    remedy_of(error));
        return std::nullopt;
    }
    text.resize(got);
    return text;
}

}  // namespace pinstrike
