// path: cold
#include "config/explain.h"

#include "config/nearest.h"

#include <algorithm>

namespace pinstrike {

namespace {

std::string last_word(const std::string& path) {
    return path.substr(path.rfind('.') + 1);
}

/// Words within 78 columns, each line indented.
std::string wrapped(std::string_view text, std::size_t indent) {
    std::string out;
    std::size_t column = 78;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (column + 1 + end > 78) {
            out += out.empty() ? "" : "\n";
            out.append(indent, ' ');
            column = indent;
        } else {
            out += ' ';
            ++column;
        }
        out += text.substr(0, end);
        column += end;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out + "\n";
}

}  // namespace

std::string without_indices(std::string_view path) {
    std::string out;
    bool inside = false;
    for (const char c : path) {
        inside = inside ? c != ']' : c == '[';
        if (!inside && c != ']') {
            out += c;
        }
    }
    return out;
}

std::string explain_text(const KeyDoc& doc) {
    std::string out = doc.path + "\n" + wrapped(doc.sentence, 2);
    out += fmt::format("  value:   {}\n", doc.words);
    if (!doc.unit.empty()) {
        out += fmt::format("  unit:    {}\n", doc.unit);
    }
    if (doc.required) {
        out += "  required\n";
    } else if (!doc.default_text.empty()) {
        out += fmt::format("  default: {}\n", doc.default_text);
    }
    if (!doc.applies.empty()) {
        out += fmt::format("  only with {}\n", doc.applies);
    }
    if (doc.reloads) {
        out += "  changes with a reload\n";
    }
    for (const ChoiceDoc& choice : doc.choices) {
        out += fmt::format("    {:<12} {}\n", choice.word, choice.sentence);
    }
    return out;
}

std::vector<KeyDoc> find_keys(const std::vector<KeyDoc>& docs, std::string_view asked) {
    const std::string path = without_indices(asked);
    std::vector<KeyDoc> found;
    const auto take = [&](auto&& matches) {
        std::copy_if(docs.begin(), docs.end(), std::back_inserter(found), matches);
    };
    take([&](const KeyDoc& doc) { return doc.path == path || doc.path.starts_with(path + "."); });
    if (found.empty()) {
        take([&](const KeyDoc& doc) { return last_word(doc.path) == path; });
    }
    return found;
}

std::string explain_rows(std::span<const RowTable> tables, std::string_view name) {
    std::string out;
    for (const RowTable& table : tables) {
        for (const Row& row : table.rows) {
            if (row.name == name) {
                out +=
                    fmt::format("{}{}\n{}  counts:  {}\n  of:      {}\n", out.empty() ? "" : "\n",
                                row.name, wrapped(row.sentence, 2), row.unit, table.of);
            }
        }
    }
    return out;
}

std::vector<std::string> near_keys(const std::vector<KeyDoc>& docs, std::string_view asked) {
    const std::string path = without_indices(asked);
    std::vector<std::string> paths;
    std::vector<std::string> words;
    for (const KeyDoc& doc : docs) {
        paths.push_back(doc.path);
        words.push_back(last_word(doc.path));
    }
    std::vector<std::string> near = nearest(path, paths, 5);
    for (const std::string& word : nearest(last_word(path), words, 5)) {
        for (const KeyDoc& doc : docs) {
            const bool known = std::find(near.begin(), near.end(), doc.path) != near.end();
            if (last_word(doc.path) == word && !known) {
                near.push_back(doc.path);
            }
        }
    }
    return near;
}

}  // namespace pinstrike
