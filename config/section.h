// path: cold
//
// Tables of keys. A module lists the keys of each of its structs once:
//
//     Section<PortConfig>{"a port"}
//         .key("burst_packets", &PortConfig::burst_packets, integer(1U, 512U),
//              "Packets asked of the port in one call.").unit("packets")
//
// The parser, the effective config, `explain`, the JSON Schema and the manual pages are made from
// the table. Defaults are the struct's initialisers; the table does not repeat them.
#pragma once

#include "config/check.h"
#include "config/form.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace pinstrike {

/// One key of a section of type T. Its form reads and writes a member of the T.
template <class T>
struct KeyRow : Form<T> {
    using Form<T>::Form;

    std::string name;
    std::string unit;
    std::string sentence;
    std::string applies;                       ///< the condition in words: "kind pcap"
    std::string deciding;                      ///< the key on which `applies_to` depends
    std::function<bool(const T&)> applies_to;  ///< empty: the key always applies
    bool required = false;
    Reload reload = Reload::never;
};

template <class T>
class Section {
  public:
    /// `noun`: the name of such a section in messages ("a port").
    explicit Section(std::string noun) : noun_(std::move(noun)) {}

    /// `member`: a pointer to the member, or a callable that returns a reference to it, for a T and
    /// for a const T.
    template <class Member, class Access>
    Section& key(std::string name, Access member, Form<Member> form, std::string sentence) {
        KeyRow<T> row{static_cast<const FormDoc&>(form)};
        row.name = std::move(name);
        row.sentence = std::move(sentence);
        row.read = [member, read = form.read](const Node& node, const std::string& path, T& into,
                                              Reader& reader) {
            return read(node, path, std::invoke(member, into), reader);
        };
        row.write = [member, write = form.write](const T& from) {
            return write(std::invoke(member, from));
        };
        rows_.push_back(std::move(row));
        return *this;
    }

    // Each of these functions sets a property of the last key added.

    Section& unit(std::string unit) {
        last().unit = std::move(unit);
        return *this;
    }

    Section& required() {
        last().required = true;
        return *this;
    }

    /// A running program can apply a new value without losing a message.
    Section& reloads() {
        last().reload = Reload::any;
        return *this;
    }

    /// A running program can do so only if the new value includes the old one.
    Section& reloads_more() {
        last().reload = Reload::more;
        return *this;
    }

    /// The key applies only if `applies_to` is true, which depends on the key `deciding`.
    Section& only_for(std::string deciding, std::string words,
                      std::function<bool(const T&)> applies_to) {
        last().deciding = std::move(deciding);
        last().applies = std::move(words);
        last().applies_to = std::move(applies_to);
        return *this;
    }

    /// Adds the keys of `other`, which apply only if `applies_to` is true.
    Section& add_only_for(const Section& other, const std::string& deciding,
                          const std::string& words,
                          const std::function<bool(const T&)>& applies_to) {
        for (const KeyRow<T>& row : other.rows_) {
            rows_.push_back(row);
            only_for(deciding, words, applies_to);
        }
        return *this;
    }

    [[nodiscard]] const std::string& noun() const { return noun_; }

    [[nodiscard]] const std::vector<KeyRow<T>>& rows() const { return rows_; }

  private:
    KeyRow<T>& last() {
        PINSTRIKE_CHECK(!rows_.empty());
        return rows_.back();
    }

    std::string noun_;
    std::vector<KeyRow<T>> rows_;
};

/// Joins "ports[0]" and "pci" to "ports[0].pci".
std::string path_of(const std::string& path, const std::string& name);

/// Reports a key that no row has, with the most similar known key.
void report_unknown(const Node& child, const std::string& path, const std::string& noun,
                    const std::vector<std::string>& known, Reader& reader);
void report_missing(const Node& section, const std::string& path, const std::string& words,
                    Reader& reader);

template <class T>
bool read_section(const Section<T>& section, const Node& node, const std::string& path, T& into,
                  Reader& reader) {
    if (node.kind != Node::Kind::mapping) {
        reader.wrong(node, path.empty() ? "the file" : path,
                     "the keys of " + section.noun() + " (name: value)");
        return false;
    }
    std::set<std::string> failed;
    for (const KeyRow<T>& row : section.rows()) {
        const std::string at = path_of(path, row.name);
        if (const Node* child = node.find(row.name)) {
            reader.note_place(at, child->mark);
            if (!row.read(*child, at, into, reader)) {
                failed.insert(row.name);
            }
        } else if (row.required) {
            report_missing(node, at, row.words, reader);
            failed.insert(row.name);
        }
    }
    std::vector<std::string> known;
    for (const KeyRow<T>& row : section.rows()) {
        known.push_back(row.name);
        const Node* child = node.find(row.name);
        // If the deciding key could not be parsed, its value is unknown, so nothing is reported.
        if (child != nullptr && row.applies_to && !failed.contains(row.deciding) &&
            !row.applies_to(into)) {
            reader.report(child->key_mark,
                          fmt::format("{}: found in {} of another kind, expected only with {}",
                                      path_of(path, row.name), section.noun(), row.applies));
        }
    }
    for (const Node& child : node.children) {
        report_unknown(child, path, section.noun(), known, reader);
    }
    return failed.empty();
}

template <class T>
Node write_section(const Section<T>& section, const T& from) {
    Node node = Node::mapping();
    for (const KeyRow<T>& row : section.rows()) {
        if (!row.applies_to || row.applies_to(from)) {
            node.add(row.name, row.write(from));
        }
    }
    return node;
}

template <class T>
Node schema_of(const Section<T>& section) {
    Node properties = Node::mapping();
    std::vector<Node> required;
    const T defaults{};
    for (const KeyRow<T>& row : section.rows()) {
        Node schema = row.schema;
        schema.add("description", Node::quote(row.sentence));
        if (!row.required && !row.document) {
            schema.add("default", row.write(defaults));
        }
        properties.add(row.name, std::move(schema));
        if (row.required) {
            required.push_back(Node::quote(row.name));
        }
    }
    Node schema = schema_type("object");
    schema.add("properties", std::move(properties));
    schema.add("additionalProperties", Node::plain("false"));
    if (!required.empty()) {
        schema.add("required", Node::sequence_of(std::move(required)));
    }
    return schema;
}

/// Adds the documentation of the keys of a section and of its inner sections, with their defaults.
template <class T>
void document_section(const Section<T>& section, const std::string& path,
                      std::vector<KeyDoc>& docs) {
    const T defaults{};
    for (const KeyRow<T>& row : section.rows()) {
        const std::string at = path_of(path, row.name);
        std::string text = row.document || row.required ? "" : to_yaml(row.write(defaults));
        text.erase(text.find_last_not_of('\n') + 1);
        docs.push_back({at, row.words, row.unit, text, row.applies, row.required, row.reload,
                        row.sentence, row.choices});
        if (row.document) {
            row.document(at, docs);
        }
    }
}

template <class T>
Form<T> section_form(const Section<T>& section) {
    Form<T> form;
    form.words = "the keys of " + section.noun();
    form.schema = schema_of(section);
    form.read = [section](const Node& node, const std::string& path, T& into, Reader& reader) {
        return read_section(section, node, path, into, reader);
    };
    form.write = [section](const T& from) { return write_section(section, from); };
    form.document = [section](const std::string& path, std::vector<KeyDoc>& docs) {
        document_section(section, path, docs);
    };
    return form;
}

}  // namespace pinstrike
