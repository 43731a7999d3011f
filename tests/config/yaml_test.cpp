// path: cold
#include "config/yaml.h"

#include "config/limits.h"
#include "tests/config/problems.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace pinstrike {
namespace {

/// All problems reported for a text; "" if it is valid.
std::string problems_of(std::string_view text) {
    Problems problems;
    const bool tree = parse_yaml(text, "f.yaml", problems).has_value();
    EXPECT_TRUE(tree || !problems.empty()) << "refused without a word";
    return text_of(problems);
}

TEST(Yaml, NodesKnowTheirPlaces) {
    Problems problems;
    const auto root = parse_yaml("a: 1\nlist:\n  - x\n  - {k: \"7\"}\n", "f", problems);
    ASSERT_TRUE(root);
    EXPECT_TRUE(problems.empty());
    ASSERT_EQ(root->children.size(), 2U);
    EXPECT_EQ(root->find("a")->text, "1");
    EXPECT_EQ(root->find("a")->mark.column, 4U);
    EXPECT_EQ(root->find("a")->key_mark.column, 1U);
    const Node& list = *root->find("list");
    ASSERT_EQ(list.children.size(), 2U);
    EXPECT_EQ(list.children[0].mark.line, 3U);
    EXPECT_EQ(list.children[0].mark.column, 5U);
    const Node& inner = *list.children[1].find("k");
    EXPECT_TRUE(inner.quoted);
    EXPECT_EQ(inner.text, "7");
    EXPECT_EQ(inner.mark.line, 4U);
    EXPECT_EQ(inner.mark.column, 9U);
    EXPECT_EQ(root->find("b"), nullptr);
}

TEST(Yaml, DuplicateKeyIsReportedWithBothPlaces) {
    EXPECT_EQ(problems_of("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\na: 2\n"),
              "f.yaml:5:3: c: found the key again, expected it once: it is already in line "
              "3\nf.yaml:6:1: a: found the key again, expected it once: it is already in line 1\n");
}

TEST(Yaml, AliasesAnchorsAndTagsAreRefused) {
    EXPECT_EQ(
        problems_of("a: &x [1]\nb: *x\nc: !!str 3\n"),
        "f.yaml:1:4: found the anchor \"x\", expected none: anchors and aliases are refused\n"
        "f.yaml:2:4: found an alias, expected the value itself: aliases are refused\n"
        "f.yaml:3:4: found the tag \"tag:yaml.org,2002:str\", expected none: tags are refused\n");
}

TEST(Yaml, BombOfAliasesStaysSmall) {
    std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n";
    for (int i = 1; i < 30; ++i) {
        bomb += fmt::format("a{0}: &a{0} [*a{1}", i, i - 1);
        for (int j = 1; j < 9; ++j) {
            bomb += fmt::format(",*a{}", i - 1);
        }
        bomb += "]\n";
    }
    Problems problems;
    const auto root = parse_yaml(bomb, "f", problems);
    EXPECT_EQ(problems.size(), 30U + 29U * 9U);
    ASSERT_TRUE(root);
    EXPECT_EQ(root->children.back().children.size(), 9U);
    EXPECT_EQ(root->children.back().children[0].children.size(), 0U);
}

TEST(Yaml, OddDocumentsAreRefused) {
    EXPECT_EQ(problems_of(""), "f.yaml:1:1: found nothing, expected a mapping of keys\n");
    EXPECT_EQ(problems_of("# only a comment\n"),
              "f.yaml:1:1: found nothing, expected a mapping of keys\n");
    EXPECT_EQ(problems_of("a: 1\n---\nb: 2\n"),
              "f.yaml:2:1: found a second document, expected the end of the file\n");
    EXPECT_EQ(problems_of("? [x]\n: 2\n"),
              "f.yaml:1:3: found a key that is not one word, expected a name\n");
}

TEST(Yaml, WhatIsNotYamlIsReportedWithItsPlace) {
    EXPECT_EQ(
        problems_of("a:\t1\n\tb: 2\n"),
        "f.yaml:2:1: not YAML: found a tab character that violates indentation while scanning "
        "a plain scalar that begins at 1:4\n");
    EXPECT_EQ(problems_of("a: \"x"),
              "f.yaml:1:6: not YAML: found unexpected end of stream while scanning a quoted scalar "
              "that begins at 1:4\n");
    EXPECT_EQ(problems_of("a: b: c\n"),
              "f.yaml:1:5: not YAML: mapping values are not allowed in this context\n");
    EXPECT_EQ(
        problems_of("ok: 1\nb: [1, 2\n"),
        "f.yaml:3:1: not YAML: did not find expected ',' or ']' while parsing a flow sequence "
        "that begins at 2:4\n");
}

TEST(Yaml, BytesThatAreNoTextAreRefused) {
    using namespace std::string_literals;
    EXPECT_EQ(problems_of("a: 1\nb: \xFF\n"),
              "f.yaml:2:4: found the byte 0xff, expected UTF-8 text\n");
    EXPECT_EQ(problems_of("a: \0b\n"s), "f.yaml:1:4: found the byte 0x00, expected UTF-8 text\n");
    EXPECT_EQ(problems_of("a: \x07\n"), "f.yaml:1:4: found the byte 0x07, expected UTF-8 text\n");
    // Overlong, a surrogate, beyond Unicode, cut off.
    for (const char* bad : {"\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80"}) {
        EXPECT_NE(problems_of(std::string{"a: "} + bad), "") << bad;
    }
    EXPECT_EQ(problems_of("a: \xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\n"), "");
}

TEST(Yaml, SizeAndDepthAreBounded) {
    EXPECT_EQ(problems_of(std::string(yaml_bytes_max + 1, ' ')),
              "f.yaml: found more than 1048576 bytes, expected fewer\n");
    EXPECT_EQ(problems_of(std::string(200'000, '[')),
              "f.yaml:1:17: found nesting deeper than 16, expected less\n");
    EXPECT_EQ(problems_of(std::string(16, '[') + std::string(16, ']')), "");
}

TEST(Yaml, FileThatCannotBeRead) {
    Problems problems;
    EXPECT_FALSE(read_text("/nonexistent/x.yaml", problems));
    EXPECT_EQ(text_of(problems),
              "/nonexistent/x.yaml: cannot be read: No such file or directory\n");
    problems.clear();
    EXPECT_FALSE(read_text("/", problems));
    EXPECT_EQ(text_of(problems), "/: cannot be read: Is a directory\n");
}

TEST(Yaml, WrittenTextReadsBackAsTheSameTree) {
    Node node = Node::mapping();
    node.add("plain", Node::plain("2ms"));
    node.add("quoted", Node::quote("a \"b\" \\ \n: # ä"));
    node.add("empty", Node::quote(""));
    node.add("list", Node::sequence_of({Node::plain("1"), Node::quote("x, y")}));
    node.add("none", Node::sequence_of({}));
    Node inner = Node::mapping();
    inner.add("k", Node::plain("v")).add("deep", Node::mapping().add("l", Node::plain("2")));
    node.add("sections", Node::sequence_of({inner, inner}));
    const std::string text = to_yaml(node);
    Problems problems;
    const auto back = parse_yaml(text, "f", problems);
    ASSERT_TRUE(back) << text << text_of(problems);
    EXPECT_EQ(to_yaml(*back), text);
    EXPECT_EQ(back->find("quoted")->text, "a \"b\" \\ \n: # ä");
    EXPECT_EQ(back->find("list")->children[1].text, "x, y");
    EXPECT_EQ(back->find("sections")->children[1].find("deep")->find("l")->text, "2");
}

TEST(Yaml, JsonQuotesWhatIsNoLiteral) {
    Node node = Node::mapping();
    node.add("n", Node::plain("-1.5e3")).add("b", Node::plain("true"));
    node.add("s", Node::plain("2ms")).add("q", Node::quote("7")).add("z", Node::plain("007"));
    EXPECT_EQ(to_json(node),
              "{\n  \"n\": -1500.0,\n  \"b\": true,\n  \"s\": \"2ms\",\n  \"q\": \"7\",\n  \"z\": "
              "\"007\"\n}");
}

TEST(Shown, IsBoundedAndPrintable) {
    EXPECT_EQ(shown("a\tb\"c"), "\"a\\u0009b\\\"c\"");
    EXPECT_EQ(shown(std::string(100, 'x')), fmt::format("\"{}...\"", std::string(60, 'x')));
    // The cut is within a character of two bytes.
    EXPECT_EQ(shown_bare(std::string(59, 'x') + "ä" + std::string(9, 'x')),
              std::string(59, 'x') + "...");
}

}  // namespace
}  // namespace pinstrike
