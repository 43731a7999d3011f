// path: cold
//
// The YAML form of C++ types. A Form reads a value, writes it, and describes in words and as JSON
// Schema what it accepts. Forms are composed of other forms; modules define forms for their own
// types.
#pragma once

#include "config/limits.h"
#include "config/places.h"
#include "config/problem.h"
#include "config/units.h"
#include "config/yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike {

/// One of the words that a key accepts, and its meaning.
struct ChoiceDoc {
    std::string word;
    std::string sentence;
};

/// Which changes of a key a running program can apply without losing a message: none, any, or only
/// those whose new value includes the old one.
enum class Reload : std::uint8_t { never, any, more };

/// The documentation of one key.
struct KeyDoc {
    std::string path;  ///< "ports.burst_packets"
    std::string words;
    std::string unit;
    std::string default_text;
    std::string applies;  ///< "kind dpdk"; empty: always
    bool required = false;
    Reload reload = Reload::never;
    std::string sentence;
    std::vector<ChoiceDoc> choices;
};

/// Collects problems and places while a config is read.
class Reader {
  public:
    Reader(Problems& problems, Places& places) : problems_(problems), places_(places) {}

    /// Reports that the node at `path` is not a value of the expected form.
    void wrong(const Node& node, const std::string& path, std::string_view expected);

    void report(Mark mark, std::string text);

    /// Makes wrong() add ", or `word`" to the expected form at this path. An empty path ends this.
    void also_expect(const std::string& path, const std::string& word) {
        also_path_ = path;
        also_word_ = word;
    }

    /// Notes that the value at `path` could not be parsed.
    void mark_bad(const std::string& path) { places_.mark_bad(path); }

    void note_place(const std::string& path, Mark mark) {
        places_.put(path, mark.line, mark.column);
    }

  private:
    Problems& problems_;
    Places& places_;
    std::string also_path_;
    std::string also_word_;
};

/// What a form accepts, in words and as JSON Schema.
struct FormDoc {
    std::string words;  ///< "an integer from 1 to 512"
    Node schema = Node::mapping();
    std::vector<ChoiceDoc> choices;
    /// Adds the documentation of inner keys, for sections and lists of sections.
    std::function<void(const std::string& path, std::vector<KeyDoc>&)> document;
};

template <class T>
struct Form : FormDoc {
    Form() = default;

    explicit Form(const FormDoc& doc) : FormDoc(doc) {}

    /// Parses the node. On failure it reports the problem to the Reader and returns false.
    std::function<bool(const Node&, const std::string& path, T&, Reader&)> read;
    std::function<Node(const T&)> write;
};

/// The schema {"type": type}, to which the caller may add keywords.
Node schema_type(const std::string& type);

/// A form of one scalar. `parse` gets its text. A key without a value is refused before, and so is
/// a quoted scalar unless `quotes_allowed`.
template <class T>
Form<T> scalar_form(std::string words, Node schema,
                    std::function<std::optional<T>(const std::string&)> parse,
                    std::function<Node(const T&)> write, bool quotes_allowed = true) {
    Form<T> form;
    form.words = words;
    form.schema = std::move(schema);
    form.write = std::move(write);
    form.read = [words, parse, quotes_allowed](const Node& node, const std::string& path, T& into,
                                               Reader& reader) {
        const bool readable = node.kind == Node::Kind::scalar && !node.empty_scalar() &&
                              (quotes_allowed || !node.quoted);
        std::optional<T> value = readable ? parse(node.text) : std::nullopt;
        if (!value) {
            reader.wrong(node, path, words);
            return false;
        }
        into = std::move(*value);
        return true;
    };
    return form;
}

Form<std::int64_t> integer64(std::int64_t least, std::int64_t most);
Form<std::uint64_t> bytes64(std::uint64_t least, std::uint64_t most);
Form<std::size_t> power_of_two(std::size_t least, std::size_t most);
Form<double> number(double least, double most);
Form<bool> boolean();
Form<std::int64_t> duration_ns(std::int64_t least_ns, std::int64_t most_ns);

/// Any text, including an empty one in quotes.
Form<std::string> text();
/// Text for which `accepts` returns true. `pattern` is the same rule as a regular expression for
/// JSON Schema.
Form<std::string> text_like(std::string words, std::string pattern,
                            std::function<bool(const std::string&)> accepts);
/// Whether a text is a name of at most name_bytes_max letters, digits, '-', '_' and '.'.
[[nodiscard]] bool is_name(const std::string& name);

/// Such a name.
Form<std::string> name_text();

/// One of the given words, kept as text.
Form<std::string> word_of(std::vector<ChoiceDoc> words);
/// Numbers from `least` on, written as ranges, "1-48, 220", or as a list of numbers and ranges.
Form<std::vector<std::uint16_t>> number_ranges(int least = 1);

/// A form of the type To, which must represent every value that `form` accepts.
template <class To, class From>
Form<To> converted(const Form<From>& form) {
    Form<To> out{static_cast<const FormDoc&>(form)};
    out.write = [write = form.write](const To& value) { return write(static_cast<From>(value)); };
    out.read = [read = form.read](const Node& node, const std::string& path, To& into,
                                  Reader& reader) {
        From value{};
        const bool good = read(node, path, value, reader);
        into = good ? static_cast<To>(value) : into;
        return good;
    };
    return out;
}

template <class T>
Form<T> integer(T least, T most) {
    return converted<T>(
        integer64(static_cast<std::int64_t>(least), static_cast<std::int64_t>(most)));
}

template <class T>
struct Choice {
    std::string word;
    T value;
    std::string sentence;
};

/// "dpdk, uring, pcap or sim"
std::string words_joined(const std::vector<ChoiceDoc>& choices);

/// A form of an enum, or of another comparable type, whose values are written as words.
template <class T>
Form<T> choice(const std::vector<Choice<T>>& choices) {
    std::vector<ChoiceDoc> docs;
    for (const Choice<T>& each : choices) {
        docs.push_back({each.word, each.sentence});
    }
    const Form<std::string> words = word_of(docs);
    Form<T> out{static_cast<const FormDoc&>(words)};
    out.read = [read = words.read, choices](const Node& node, const std::string& path, T& into,
                                            Reader& reader) {
        std::string word;
        if (!read(node, path, word, reader)) {
            return false;
        }
        into = std::ranges::find(choices, word, &Choice<T>::word)->value;
        return true;
    };
    out.write = [choices](const T& value) {
        const auto found = std::ranges::find(choices, value, &Choice<T>::value);
        return Node::plain(found == choices.end() ? "?" : found->word);
    };
    return out;
}

Node schema_any_of(Node first, Node second);
Node schema_const(const std::string& word);
Node schema_list(Node items);

/// Accepts what `form` accepts, or one word for one special value ("any" for cpu -1).
template <class T>
Form<T> or_word(std::string word, T value, Form<T> form) {
    Form<T> out = form;
    out.words = fmt::format("{}, or {}", form.words, word);
    out.schema = schema_any_of(form.schema, schema_const(word));
    out.read = [word, value, form](const Node& node, const std::string& path, T& into,
                                   Reader& reader) {
        if (node.kind == Node::Kind::scalar && !node.quoted && node.text == word) {
            into = value;
            return true;
        }
        reader.also_expect(path, word);
        const bool good = form.read(node, path, into, reader);
        reader.also_expect("", "");
        return good;
    };
    out.write = [word, value, write = form.write](const T& written) {
        return written == value ? Node::plain(word) : write(written);
    };
    return out;
}

/// A form of a list. Element i has the path "path[i]". An element that cannot be parsed is kept as
/// a default value, so that the indices in paths stay correct.
template <class T>
Form<std::vector<T>> list_of(Form<T> form, std::string words) {
    Form<std::vector<T>> out{static_cast<const FormDoc&>(form)};
    out.words = words;
    out.schema = schema_list(form.schema);
    out.read = [form, words](const Node& node, const std::string& path, std::vector<T>& into,
                             Reader& reader) {
        if (node.kind != Node::Kind::sequence) {
            reader.wrong(node, path, words);
            return false;
        }
        if (node.children.size() > list_count_max) {
            reader.mark_bad(path);
            reader.report(node.mark, fmt::format("{}: found a list of {}, expected at most {}",
                                                 path, node.children.size(), list_count_max));
            return false;
        }
        into.clear();
        bool good = true;
        for (std::size_t i = 0; i < node.children.size(); ++i) {
            const std::string at = fmt::format("{}[{}]", path, i);
            reader.note_place(at, node.children[i].mark);
            T value{};
            good &= form.read(node.children[i], at, value, reader);
            into.push_back(std::move(value));
        }
        return good;
    };
    out.write = [write = form.write](const std::vector<T>& values) {
        std::vector<Node> children;
        for (const T& value : values) {
            children.push_back(write(value));
        }
        return Node::sequence_of(std::move(children));
    };
    return out;
}

}  // namespace pinstrike
