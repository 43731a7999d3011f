// path: cold
#include "config/explain.h"

#include "config/nearest.h"
#include "config/wrapped.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace pinstrike {

namespace {

std::string last_word(const std::string& path) {
    return path.substr(path.rfind('.') + 1);
}

constexpr std::size_t columns = 78;

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

Explanation explanation_of(const KeyDoc& doc) {
    Explanation out{"key", doc.path, doc.sentence, {{"value", doc.words}}, doc.choices, ""};
    const auto add = [&out](const char* word, const std::string& text) {
        if (!text.empty()) {
            out.facts.push_back({word, text});
        }
    };
    add("unit", doc.unit);
    add("default", doc.required ? "none, required" : doc.default_text);
    add("only with", doc.applies);
    add("changes", doc.reload == Reload::never ? ""
                   : doc.reload == Reload::any ? "with a reload"
                                               : "with a reload: more, not less");
    return out;
}

std::string explain_text(const Explanation& explanation) {
    std::string out =
        explanation.name + "\n  " + wrapped(explanation.sentence, 2, 2, columns) + "\n";
    std::size_t word_columns = 7;
    for (const Fact& fact : explanation.facts) {
        word_columns = std::max(word_columns, fact.word.size());
    }
    const std::size_t indent = 2 + word_columns + 2;
    for (const Fact& fact : explanation.facts) {
        out += fmt::format("  {:<{}}{}\n", fact.word + ":", word_columns + 2,
                           wrapped(fact.text, indent, indent, columns));
    }
    for (const ChoiceDoc& choice : explanation.choices) {
        out += fmt::format("    {:<12} {}\n", choice.word, choice.sentence);
    }
    return out;
}

std::string explain_json(const std::vector<Explanation>& explanations) {
    using Json = nlohmann::ordered_json;
    Json list = Json::array();
    for (const Explanation& explanation : explanations) {
        Json facts = Json::object();
        for (const Fact& fact : explanation.facts) {
            facts[fact.word] = fact.text;
        }
        Json one{{"kind", explanation.kind},
                 {"name", explanation.name},
                 {"sentence", explanation.sentence},
                 {"facts", facts}};
        if (!explanation.metric.empty()) {
            one["metric"] = explanation.metric;
        }
        for (const ChoiceDoc& choice : explanation.choices) {
            one["choices"].push_back({{"word", choice.word}, {"sentence", choice.sentence}});
        }
        list.push_back(std::move(one));
    }
    constexpr int indent = 2;
    return list.dump(indent, ' ', true, Json::error_handler_t::replace) + "\n";
}

std::vector<KeyDoc> find_keys(const std::vector<KeyDoc>& docs, std::string_view asked) {
    const std::string path = without_indices(asked);
    std::vector<KeyDoc> found;
    const auto take = [&](auto&& matches) {
        std::ranges::copy_if(docs, std::back_inserter(found), matches);
    };
    take([&](const KeyDoc& doc) { return doc.path == path || doc.path.starts_with(path + "."); });
    if (found.empty()) {
        take([&](const KeyDoc& doc) { return last_word(doc.path) == path; });
    }
    return found;
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
            if (last_word(doc.path) == word && std::ranges::count(near, doc.path) == 0) {
                near.push_back(doc.path);
            }
        }
    }
    return near;
}

}  // namespace pinstrike
