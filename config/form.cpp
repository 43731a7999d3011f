// path: cold
#include "config/form.h"

#include "config/limits.h"
#include "config/nearest.h"

#include <fmt/format.h>

#include <algorithm>

namespace pinstrike {

namespace {

std::string found_text(const Node& node) {
    switch (node.kind) {
        case Node::Kind::sequence:
            return "a list";
        case Node::Kind::mapping:
            return "a mapping";
        case Node::Kind::refused:
        case Node::Kind::scalar:
            break;
    }
    return node.empty_scalar() ? "nothing"
           : node.quoted       ? shown(node.text) + " in quotes"
                               : shown(node.text);
}

std::string plain_number(double value) {
    std::string text = fmt::format("{}", value);
    // parse_number() accepts no infinities; whole numbers are written without ".0".
    return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

Node schema_range(const std::string& type, const std::string& least, const std::string& most) {
    Node schema = schema_type(type);
    schema.add("minimum", Node::plain(least));
    schema.add("maximum", Node::plain(most));
    return schema;
}

Node schema_pattern(const std::string& pattern) {
    Node schema = schema_type("string");
    schema.add("pattern", Node::quote(pattern));
    return schema;
}

/// True if YAML reads the unquoted text back as the same text.
bool plain_safe(const std::string& text) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.' || c == '/';
    };
    return !text.empty() && text[0] != '-' && std::all_of(text.begin(), text.end(), allowed);
}

Node text_node(const std::string& text) {
    return plain_safe(text) ? Node::plain(text) : Node::quote(text);
}

}  // namespace

void Reader::wrong(const Node& node, const std::string& path, std::string_view expected) {
    mark_bad(path);
    if (node.kind != Node::Kind::refused) {
        const bool more = !also_word_.empty() && path == also_path_;
        report(node.mark, fmt::format("{}: found {}, expected {}{}{}", path, found_text(node),
                                      expected, more ? ", or " : "", more ? also_word_ : ""));
    }
}

void Reader::report(Mark mark, std::string text) {
    add_problem(problems_, Place{places_.file(), mark.line, mark.column}, std::move(text));
}

Node schema_type(const std::string& type) {
    return Node::mapping().add("type", Node::quote(type));
}

Node schema_any_of(Node first, Node second) {
    return Node::mapping().add("anyOf", Node::sequence_of({std::move(first), std::move(second)}));
}

Node schema_const(const std::string& word) {
    return Node::mapping().add("const", Node::quote(word));
}

Node schema_list(Node items) {
    return schema_type("array").add("items", std::move(items));
}

Form<std::int64_t> integer64(std::int64_t least, std::int64_t most) {
    return scalar_form<std::int64_t>(
        fmt::format("an integer from {} to {}", least, most),
        schema_range("integer", fmt::format("{}", least), fmt::format("{}", most)),
        [least, most](const std::string& text) {
            const auto value = parse_integer(text);
            return value && *value >= least && *value <= most ? value : std::nullopt;
        },
        [](const std::int64_t& value) { return Node::plain(fmt::format("{}", value)); }, false);
}

Form<std::size_t> power_of_two(std::size_t least, std::size_t most) {
    Form<std::size_t> form = integer<std::size_t>(least, most);
    return scalar_form<std::size_t>(
        fmt::format("a power of two from {} to {}", least, most), form.schema,
        [least, most](const std::string& text) -> std::optional<std::size_t> {
            const auto value = parse_integer(text);
            if (!value || *value <= 0) {
                return std::nullopt;
            }
            const auto size = static_cast<std::size_t>(*value);
            const bool good = size >= least && size <= most && (size & (size - 1)) == 0;
            return good ? std::optional{size} : std::nullopt;
        },
        form.write, false);
}

Form<double> number(double least, double most) {
    return scalar_form<double>(
        fmt::format("a number from {} to {}", plain_number(least), plain_number(most)),
        schema_range("number", plain_number(least), plain_number(most)),
        [least, most](const std::string& text) {
            const auto value = parse_number(text);
            return value && *value >= least && *value <= most ? value : std::nullopt;
        },
        [](const double& value) { return Node::plain(plain_number(value)); }, false);
}

Form<bool> boolean() {
    return scalar_form<bool>(
        "true or false", schema_type("boolean"),
        [](const std::string& text) -> std::optional<bool> {
            return text == "true"    ? std::optional{true}
                   : text == "false" ? std::optional{false}
                                     : std::nullopt;
        },
        [](const bool& value) { return Node::plain(value ? "true" : "false"); }, false);
}

Form<std::int64_t> duration_ns(std::int64_t least_ns, std::int64_t most_ns) {
    return scalar_form<std::int64_t>(
        fmt::format("a duration (ns, us, ms, s, m or h) from {} to {}", duration_text(least_ns),
                    duration_text(most_ns)),
        schema_pattern("^[0-9]+(\\.[0-9]+)?(ns|us|ms|s|m|h)$"),
        [least_ns, most_ns](const std::string& text) {
            const auto value = parse_duration_ns(text);
            return value && *value >= least_ns && *value <= most_ns ? value : std::nullopt;
        },
        [](const std::int64_t& value) { return Node::plain(duration_text(value)); });
}

Form<std::uint64_t> bytes64(std::uint64_t least, std::uint64_t most) {
    return scalar_form<std::uint64_t>(
        fmt::format("a size (B, KiB, MiB or GiB) from {} to {}", bytes_text(least),
                    bytes_text(most)),
        schema_pattern("^[0-9]+(\\.[0-9]+)?(B|KiB|MiB|GiB)$"),
        [least, most](const std::string& text) {
            const auto value = parse_bytes(text);
            return value && *value >= least && *value <= most ? value : std::nullopt;
        },
        [](const std::uint64_t& value) { return Node::plain(bytes_text(value)); });
}

Form<std::string> text() {
    return scalar_form<std::string>(
        "text", schema_type("string"), [](const std::string& text) { return std::optional{text}; },
        text_node);
}

Form<std::string> text_like(std::string words, std::string pattern,
                            std::function<bool(const std::string&)> accepts) {
    return scalar_form<std::string>(
        std::move(words), schema_pattern(pattern),
        [accepts = std::move(accepts)](const std::string& text) {
            return accepts(text) ? std::optional{text} : std::nullopt;
        },
        text_node);
}

bool is_name(const std::string& name) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.';
    };
    return !name.empty() && name.size() <= name_bytes_max &&
           std::all_of(name.begin(), name.end(), allowed);
}

Form<std::string> name_text() {
    return text_like(
        fmt::format("a name of letters, digits, '-', '_' and '.', at most {} long", name_bytes_max),
        fmt::format("^[A-Za-z0-9._-]{{1,{}}}$", name_bytes_max), is_name);
}

std::string words_joined(const std::vector<ChoiceDoc>& choices) {
    std::string out;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        out += i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ";
        out += choices[i].word;
    }
    return out;
}

Form<std::string> word_of(std::vector<ChoiceDoc> words) {
    std::vector<std::string> known;
    std::vector<Node> values;
    for (const ChoiceDoc& word : words) {
        known.push_back(word.word);
        values.push_back(Node::quote(word.word));
    }
    Form<std::string> form;
    form.words = words_joined(words);
    form.schema = Node::mapping().add("enum", Node::sequence_of(std::move(values)));
    form.choices = std::move(words);
    form.write = text_node;
    form.read = [known, words = form.words](const Node& node, const std::string& path,
                                            std::string& into, Reader& reader) {
        const bool readable = node.kind == Node::Kind::scalar && !node.empty_scalar();
        if (!readable || std::find(known.begin(), known.end(), node.text) == known.end()) {
            const std::string hint = readable ? did_you_mean(node.text, known) : std::string{};
            reader.wrong(node, path, words + hint);
            return false;
        }
        into = node.text;
        return true;
    };
    return form;
}

Form<std::vector<std::uint16_t>> number_ranges(int least) {
    Form<std::vector<std::uint16_t>> form;
    form.words =
        fmt::format("numbers and ranges from {} to {}, such as 1-48, 220", least, range_number_max);
    const std::string pattern = "^[0-9]+(-[0-9]+)?(, *[0-9]+(-[0-9]+)?)*$";
    const Node one = schema_any_of(schema_pattern(pattern), schema_type("integer"));
    form.schema = schema_any_of(one, schema_list(one));
    form.write = [](const std::vector<std::uint16_t>& numbers) {
        return Node::plain(ranges_text(numbers));
    };
    form.read = [words = form.words, least](const Node& node, const std::string& path,
                                            std::vector<std::uint16_t>& into, Reader& reader) {
        const bool list = node.kind == Node::Kind::sequence;
        const std::vector<Node> alone{node};
        std::vector<std::uint16_t> numbers;
        bool good = !list || !node.children.empty();
        for (const Node& each : list ? node.children : alone) {
            const auto some =
                each.kind == Node::Kind::scalar ? parse_ranges(each.text, least) : std::nullopt;
            if (!some || numbers.size() >= numbers_max) {
                reader.wrong(each, path, words);
                good = false;
                continue;
            }
            numbers.insert(numbers.end(), some->begin(), some->end());
        }
        if (list && node.children.empty()) {
            reader.wrong(node, path, words);
        }
        into = good ? std::move(numbers) : into;
        return good;
    };
    return form;
}

}  // namespace pinstrike
