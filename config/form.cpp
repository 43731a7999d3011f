// path: cold
#include "config/form.h"

#include "config/nearest.h"

#include <algorithm>

namespace pinstrike {

namespace {

std::string found_text(const Node& node) {
    return node.kind == Node::Kind::sequence  ? "a list"
           : node.kind == Node::Kind::mapping ? "a mapping"
           : node.empty_scalar()              ? "nothing"
           : node.quoted                      ? shown(node.text) + " in quotes"
                                              : shown(node.text);
}

std::string plain_number(double value) {
    std::string text = fmt::format("{}", value);
    // parse_number() accepts no infinities; whole numbers are written without ".0".
    return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

Node schema_range(const std::string& type, const std::string& least, const std::string& most) {
    return schema_type(type).add("minimum", Node::plain(least)).add("maximum", Node::plain(most));
}

Node schema_pattern(const std::string& pattern) {
    return schema_type("string").add("pattern", Node::quote(pattern));
}

bool is_in_names(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

/// True if YAML reads the unquoted text back as the same text.
bool plain_safe(const std::string& text) {
    return !text.empty() && text[0] != '-' &&
           std::ranges::all_of(text, [](char c) { return is_in_names(c) || c == '/'; });
}

Node text_node(const std::string& text) {
    return plain_safe(text) ? Node::plain(text) : Node::quote(text);
}

/// A form of the values from `least` to `most`.
template <class Value>
Form<Value> ranged(std::string_view what, Node schema, Value least, Value most,
                   std::optional<Value> (*parse)(std::string_view), std::string (*text_of)(Value),
                   bool quotes_allowed) {
    return scalar_form<Value>(
        fmt::format("{} from {} to {}", what, text_of(least), text_of(most)), std::move(schema),
        [=](const std::string& text) {
            const auto value = parse(text);
            return value && *value >= least && *value <= most ? value : std::nullopt;
        },
        [=](const Value& value) { return Node::plain(text_of(value)); }, quotes_allowed);
}

std::string integer_text(std::int64_t value) {
    return fmt::format("{}", value);
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
    return ranged("an integer", schema_range("integer", integer_text(least), integer_text(most)),
                  least, most, parse_integer, integer_text, false);
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
    return ranged("a number", schema_range("number", plain_number(least), plain_number(most)),
                  least, most, parse_number, plain_number, false);
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
    return ranged("a duration (ns, us, ms, s, m or h)",
                  schema_pattern("^[0-9]+(\\.[0-9]+)?(ns|us|ms|s|m|h)$"), least_ns, most_ns,
                  parse_duration_ns, duration_text, true);
}

Form<std::uint64_t> bytes64(std::uint64_t least, std::uint64_t most) {
    return ranged("a size (B, KiB, MiB or GiB)",
                  schema_pattern("^[0-9]+(\\.[0-9]+)?(B|KiB|MiB|GiB)$"), least, most, parse_bytes,
                  bytes_text, true);
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
    return !name.empty() && name.size() <= name_bytes_max && std::ranges::all_of(name, is_in_names);
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
        if (!readable || std::ranges::count(known, node.text) == 0) {
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
