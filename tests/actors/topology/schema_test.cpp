// path: cold
//
// The JSON Schema of configs, tried by a small validator of the keywords that it uses: it accepts
// the shipped examples and what is printed of them, and refuses what the parser refuses.
#include "actors/topology/feed_keys.h"
#include "actors/topology/load_config.h"
#include "config/explain.h"
#include "tests/config/problems.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <regex>

namespace pinstrike {
namespace {

using Json = nlohmann::json;

/// A config as an editor's YAML reader passes it to a validator.
Json json_of(const Node& node) {
    Json out;
    switch (node.kind) {
        case Node::Kind::mapping:
            out = Json::object();
            for (const Node& child : node.children) {
                out[child.key] = json_of(child);
            }
            return out;
        case Node::Kind::sequence:
            out = Json::array();
            for (const Node& child : node.children) {
                out.push_back(json_of(child));
            }
            return out;
        default:
            return Json::parse(to_json(node));
    }
}

bool has_type(const Json& value, const std::string& type) {
    return type == "integer"   ? value.is_number_integer()
           : type == "number"  ? value.is_number()
           : type == "boolean" ? value.is_boolean()
           : type == "string"  ? value.is_string()
           : type == "array"   ? value.is_array()
                               : type == "object" && value.is_object();
}

/// The first place where the value violates the schema; "" if it is valid.
std::string broken(const Json& value, const Json& schema, const std::string& path);

std::string broken_object(const Json& value, const Json& schema, const std::string& path) {
    for (const auto& name : schema.value("required", Json::array())) {
        if (!value.contains(name.get<std::string>())) {
            return path + "." + name.get<std::string>() + " is missing";
        }
    }
    for (const auto& [name, child] : value.items()) {
        if (!schema["properties"].contains(name)) {
            return path + "." + name + " is unknown";
        }
        const std::string inner = broken(child, schema["properties"][name], path + "." + name);
        if (!inner.empty()) {
            return inner;
        }
    }
    return "";
}

std::string broken(const Json& value, const Json& schema, const std::string& path) {
    if (schema.contains("anyOf")) {
        std::string all;
        for (const Json& each : schema["anyOf"]) {
            const std::string inner = broken(value, each, path);
            if (inner.empty()) {
                return "";
            }
            all += inner + "; ";
        }
        return all;
    }
    const bool wrong =
        (schema.contains("type") && !has_type(value, schema["type"])) ||
        (schema.contains("const") && value != schema["const"]) ||
        (schema.contains("enum") &&
         std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end()) ||
        (schema.contains("minimum") && value < schema["minimum"]) ||
        (schema.contains("maximum") && value > schema["maximum"]) ||
        (schema.contains("pattern") &&
         !std::regex_search(value.get<std::string>(),
                            std::regex{schema["pattern"].get<std::string>()}));
    if (wrong) {
        return path + " is " + value.dump();
    }
    if (value.is_object()) {
        return broken_object(value, schema, path);
    }
    if (value.is_array()) {
        for (const Json& child : value) {
            const std::string inner = broken(child, schema["items"], path + "[]");
            if (!inner.empty()) {
                return inner;
            }
        }
    }
    return "";
}

Json schema() {
    return Json::parse(to_json(schema_of(actors::feed_section())));
}

std::string broken_text(std::string_view text) {
    Problems problems;
    const auto node = parse_yaml(text, "f", problems);
    EXPECT_EQ(text_of(problems), "");
    return broken(json_of(node.value_or(Node{})), schema(), "");
}

TEST(Schema, AcceptsTheExamplesAndTheirEffectiveConfigs) {
    for (const char* name : {"demo", "opra", "af_xdp"}) {
        const std::string file = std::string{PINSTRIKE_SOURCE} + "/config/" + name + ".yaml";
        Problems problems;
        const auto text = read_text(file, problems);
        const auto config = actors::load_config(file, problems);
        ASSERT_TRUE(text && config) << text_of(problems);
        EXPECT_EQ(broken_text(*text), "");
        EXPECT_EQ(broken_text(actors::effective_config(*config)), "");
    }
}

TEST(Schema, RefusesWhatTheParserRefuses) {
    const std::string rest = "lines: 1\nports: []\npollers: []\ncores: []\n";
    EXPECT_EQ(broken_text(rest), "");
    EXPECT_EQ(broken_text(rest + "nmae: x\n"), ".nmae is unknown");
    EXPECT_EQ(broken_text("lines: 1\nports: []\ncores: []\n"), ".pollers is missing");
    EXPECT_EQ(broken_text(rest + "ring_slots: many\n"), ".ring_slots is \"many\"");
    EXPECT_EQ(broken_text(rest + "ring_slots: 1\n"), ".ring_slots is 1");
    EXPECT_EQ(broken_text(rest + "arbitration: {window: 2}\n"), ".arbitration.window is 2");
    EXPECT_EQ(broken_text(rest + "sharding: none\n"), ".sharding is \"none\"");
}

/// Finds the schema of the properties of a path, through lists and alternatives.
const Json* find_property(const Json& schema, const std::string& path) {
    if (path.empty()) {
        return &schema;
    }
    for (const char* keyword : {"items"}) {
        if (schema.contains(keyword)) {
            return find_property(schema[keyword], path);
        }
    }
    if (schema.contains("anyOf")) {
        for (const Json& each : schema["anyOf"]) {
            if (const Json* found = find_property(each, path)) {
                return found;
            }
        }
        return nullptr;
    }
    const std::size_t dot = path.find('.');
    const std::string name = path.substr(0, dot);
    if (!schema.contains("properties") || !schema["properties"].contains(name)) {
        return nullptr;
    }
    return find_property(schema["properties"][name],
                         dot == std::string::npos ? "" : path.substr(dot + 1));
}

TEST(Schema, MentionsEveryKeyWithItsSentenceAndDefault) {
    const Json whole = schema();
    std::vector<KeyDoc> docs;
    document_section(actors::feed_section(), "", docs);
    EXPECT_GT(docs.size(), 60U);
    for (const KeyDoc& doc : docs) {
        const Json* found = find_property(whole, doc.path);
        ASSERT_NE(found, nullptr) << doc.path;
        EXPECT_EQ((*found)["description"], doc.sentence);
        EXPECT_EQ(found->contains("default"), !doc.default_text.empty()) << doc.path;
    }
}

TEST(Explain, EveryKeyHasWordsASentenceAndADefault) {
    std::vector<KeyDoc> docs;
    document_section(actors::feed_section(), "", docs);
    for (const KeyDoc& doc : docs) {
        EXPECT_FALSE(doc.words.empty()) << doc.path;
        EXPECT_TRUE(doc.sentence.ends_with('.')) << doc.path;
        const auto found = find_keys(docs, doc.path);
        ASSERT_FALSE(found.empty()) << doc.path;
        EXPECT_EQ(found[0].path, doc.path);
        EXPECT_NE(explain_text(explanation_of(found[0])).find(doc.path), std::string::npos);
        // A count names its unit; durations and sizes have it in the value.
        if (doc.path.ends_with("_count") || doc.path.ends_with("_packets")) {
            EXPECT_FALSE(doc.unit.empty()) << doc.path;
        }
    }
}

}  // namespace
}  // namespace pinstrike
