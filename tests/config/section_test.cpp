// path: cold
//
// Tables of keys, on structs of the test.
#include "config/section.h"

#include "config/explain.h"
#include "config/type_map.h"
#include "tests/config/problems.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace pinstrike {
namespace {

enum class Colour { red, green };

struct Wheel {
    std::string name;
    double size = 1.5;
};

struct Cart {
    std::string owner = "nobody";
    int load = 10;
    bool covered = false;
    Colour colour = Colour::green;
    std::int64_t pause_ns = 2'000'000;
    std::uint64_t room_bytes = 1024;
    std::size_t slots = 8;
    int place = -1;
    std::vector<Wheel> wheels;
    Wheel spare;
    std::vector<std::uint16_t> stops;
};

Section<Wheel> wheel_section() {
    Section<Wheel> section{"a wheel"};
    section.key("name", &Wheel::name, name_text(), "Its name.").required();
    section.key("size", &Wheel::size, number(0.5, 2), "How large it is.").unit("m");
    return section;
}

Section<Cart> cart_section() {
    Section<Cart> section{"a cart"};
    section.key("owner", &Cart::owner, text(), "Whose it is.")
        .key("load", &Cart::load, integer(0, 100), "What it carries.")
        .unit("kg")
        .key("covered", &Cart::covered, boolean(), "Whether it has a roof.")
        .key("colour", &Cart::colour,
             choice<Colour>({{"red", Colour::red, "like fire"}, {"green", Colour::green, "grass"}}),
             "How it is painted.")
        .key("pause", &Cart::pause_ns, duration_ns(0, 1'000'000'000), "Rest between ways.")
        .key("room", &Cart::room_bytes, bytes64(16, 1 << 20), "Room inside.")
        .key("slots", &Cart::slots, power_of_two(2, 64), "Places.")
        .key("place", &Cart::place, or_word("any", -1, integer(0, 9)), "Where it stands.")
        .key("wheels", &Cart::wheels, list_of(section_form(wheel_section()), "a list of wheels"),
             "What it runs on.")
        .key("spare", &Cart::spare, section_form(wheel_section()), "The spare wheel.")
        .only_for("covered", "covered carts", [](const Cart& cart) { return cart.covered; })
        .key("stops", &Cart::stops, number_ranges(), "Where it halts.");
    return section;
}

struct Reading {
    Cart cart;
    std::string problems;
};

Reading read(std::string_view text) {
    Reading reading;
    Problems problems;
    const auto root = parse_yaml(text, "f", problems);
    Places places{"f"};
    Reader reader{problems, places};
    if (root) {
        read_section(cart_section(), *root, "", reading.cart, reader);
    }
    reading.problems = text_of(problems);
    return reading;
}

TEST(Section, ReadsEveryKindOfValue) {
    const Reading got = read(
        "owner: \"7 dwarfs\"\nload: 42\ncovered: true\ncolour: red\npause: 1.5ms\nroom: 4KiB\n"
        "slots: 16\nplace: 3\nwheels:\n  - {name: left, size: 2}\n  - name: right\n"
        "spare: {name: x}\nstops: [1-3, 7]\n");
    EXPECT_EQ(got.problems, "");
    EXPECT_EQ(got.cart.owner, "7 dwarfs");
    EXPECT_EQ(got.cart.load, 42);
    EXPECT_TRUE(got.cart.covered);
    EXPECT_EQ(got.cart.colour, Colour::red);
    EXPECT_EQ(got.cart.pause_ns, 1'500'000);
    EXPECT_EQ(got.cart.room_bytes, 4096U);
    EXPECT_EQ(got.cart.slots, 16U);
    EXPECT_EQ(got.cart.place, 3);
    ASSERT_EQ(got.cart.wheels.size(), 2U);
    EXPECT_EQ(got.cart.wheels[0].size, 2);
    EXPECT_EQ(got.cart.wheels[1].size, 1.5);
    EXPECT_EQ(got.cart.spare.name, "x");
    EXPECT_EQ(got.cart.stops, (std::vector<std::uint16_t>{1, 2, 3, 7}));
}

TEST(Section, LeavesOutMeansTheInitialiser) {
    const Reading got = read("place: any\n");
    EXPECT_EQ(got.problems, "");
    EXPECT_EQ(got.cart.place, -1);
    EXPECT_EQ(got.cart.owner, "nobody");
    EXPECT_EQ(got.cart.slots, 8U);
}

struct Wrong {
    const char* text;
    const char* problem;
};

class WrongValues : public testing::TestWithParam<Wrong> {};

TEST_P(WrongValues, AreReportedWithTheirPlace) {
    EXPECT_EQ(read(GetParam().text).problems, GetParam().problem);
}

INSTANTIATE_TEST_SUITE_P(
    Section, WrongValues,
    testing::Values(
        Wrong{"load: x\n", "f:1:7: load: found \"x\", expected an integer from 0 to 100\n"},
        Wrong{"load: 101\n", "f:1:7: load: found \"101\", expected an integer from 0 to 100\n"},
        Wrong{"load: 1.5\n", "f:1:7: load: found \"1.5\", expected an integer from 0 to 100\n"},
        Wrong{"load: \"7\"\n",
              "f:1:7: load: found \"7\" in quotes, expected an integer from 0 to 100\n"},
        Wrong{"load: [1]\n", "f:1:7: load: found a list, expected an integer from 0 to 100\n"},
        Wrong{"load: {a: 1}\n",
              "f:1:7: load: found a mapping, expected an integer from 0 to 100\n"},
        Wrong{"load:\n", "f:1:6: load: found nothing, expected an integer from 0 to 100\n"},
        Wrong{"covered: yes\n", "f:1:10: covered: found \"yes\", expected true or false\n"},
        Wrong{"colour: rde\n",
              "f:1:9: colour: found \"rde\", expected red or green; did you mean \"red\"?\n"},
        Wrong{"colour: [red]\n", "f:1:9: colour: found a list, expected red or green\n"},
        Wrong{"pause: 5\n",
              "f:1:8: pause: found \"5\", expected a duration (ns, us, ms, s, m or h) from 0ns to "
              "1s\n"},
        Wrong{"pause: 2s\n",
              "f:1:8: pause: found \"2s\", expected a duration (ns, us, ms, s, m or h) from 0ns to "
              "1s\n"},
        Wrong{"room: 1B\n",
              "f:1:7: room: found \"1B\", expected a size (B, KiB, MiB or GiB) from 16B to 1MiB\n"},
        Wrong{"slots: 12\n", "f:1:8: slots: found \"12\", expected a power of two from 2 to 64\n"},
        Wrong{"slots: -8\n", "f:1:8: slots: found \"-8\", expected a power of two from 2 to 64\n"},
        Wrong{"place: none\n",
              "f:1:8: place: found \"none\", expected an integer from 0 to 9, or any\n"},
        Wrong{"wheels: 3\n", "f:1:9: wheels: found \"3\", expected a list of wheels\n"},
        Wrong{"wheels:\n  - 3\n",
              "f:2:5: wheels[0]: found \"3\", expected the keys of a wheel (name: value)\n"},
        Wrong{"wheels:\n  - {size: 9}\n",
              "f:2:5: wheels[0].name: found nothing, expected a name of letters, digits, '-', '_' "
              "and '.', at most 32 long\n"
              "f:2:12: wheels[0].size: found \"9\", expected a number from 0.5 to 2\n"},
        Wrong{"wheels:\n  - name: a b\n",
              "f:2:11: wheels[0].name: found \"a b\", expected a name of letters, digits, '-', '_' "
              "and '.', at most 32 long\n"},
        Wrong{"stops: 5-2\n",
              "f:1:8: stops: found \"5-2\", expected numbers and ranges from 1 to 65535, such as "
              "1-48, 220\n"},
        Wrong{"stops: []\n",
              "f:1:8: stops: found a list, expected numbers and ranges from 1 to 65535, such as "
              "1-48, 220\n"},
        Wrong{"spare: {name: x}\n",
              "f:1:1: spare: found in a cart of another kind, expected only with covered carts\n"},
        Wrong{"lod: 3\n",
              "f:1:1: lod: found an unknown key, expected one of a cart; did you mean \"load\"?\n"},
        Wrong{"zebra: 3\n", "f:1:1: zebra: found an unknown key, expected one of a cart\n"},
        Wrong{"3\n", "f:1:1: the file: found \"3\", expected the keys of a cart (name: value)\n"}));

TEST(Section, ReportsEverythingAtOnce) {
    EXPECT_EQ(read("load: x\nslots: 3\nwheel: 1\nslots: 4\n").problems,
              "f:4:1: slots: found the key again, expected it once: it is already in line 2\n"
              "f:1:7: load: found \"x\", expected an integer from 0 to 100\n"
              "f:2:8: slots: found \"3\", expected a power of two from 2 to 64\n"
              "f:3:1: wheel: found an unknown key, expected one of a cart; did you mean "
              "\"wheels\"?\n");
}

TEST(Section, RefusedNodesAreReportedOnce) {
    EXPECT_EQ(read("owner: &x a\nload: *x\n").problems,
              "f:1:8: found the anchor \"x\", expected none: anchors and aliases are refused\n"
              "f:2:7: found an alias, expected the value itself: aliases are refused\n");
}

TEST(Section, WritesWhatItReads) {
    const std::string text = to_yaml(write_section(cart_section(), Cart{}));
    EXPECT_EQ(text,
              "owner: nobody\nload: 10\ncovered: false\ncolour: green\npause: 2ms\nroom: 1KiB\n"
              "slots: 8\nplace: any\nwheels: []\nstops: \n");
}

TEST(Section, DocumentsEveryKey) {
    std::vector<KeyDoc> docs;
    document_section(cart_section(), "", docs);
    EXPECT_EQ(docs.size(), 11U + 2U * 2U);
    const auto found = find_keys(docs, "wheels[3].size");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(explain_text(explanation_of(found[0])),
              "wheels.size\n  How large it is.\n  value:   a number from 0.5 to 2\n"
              "  unit:    m\n  default: 1.5\n");
    EXPECT_EQ(find_keys(docs, "size").size(), 2U);
    EXPECT_EQ(find_keys(docs, "wheels").size(), 3U);
    EXPECT_EQ(explain_text(explanation_of(find_keys(docs, "colour")[0])),
              "colour\n  How it is painted.\n  value:   red or green\n  default: green\n"
              "    red          like fire\n    green        grass\n");
    EXPECT_TRUE(find_keys(docs, "lod").empty());
    EXPECT_EQ(near_keys(docs, "lod"), std::vector<std::string>{"load"});
}

TEST(TypeMap, HasOneValueOfEachType) {
    TypeMap map;
    EXPECT_EQ(std::as_const(map).get<Wheel>().size, 1.5);
    map.get<Wheel>().size = 2;
    EXPECT_EQ(map.get<Cart>().load, 10);
    const TypeMap copy = map;
    map.get<Wheel>().size = 3;
    EXPECT_EQ(copy.get<Wheel>().size, 2);
    EXPECT_EQ(copy.get<Cart>().load, 10);
}

TEST(Explain, JsonHasWhatTheTextHas) {
    const Explanation lost{"counter",         "lost", "came \"off\"", {{"counts", "wheels"}}, {},
                           "cart_lost_wheels"};
    EXPECT_EQ(explain_text(lost), "lost\n  came \"off\"\n  counts:  wheels\n");
    EXPECT_EQ(nlohmann::json::parse(explain_json({lost})),
              nlohmann::json::parse(R"([{"kind": "counter", "name": "lost",
                  "sentence": "came \"off\"", "facts": {"counts": "wheels"},
                  "metric": "cart_lost_wheels"}])"));
    std::vector<KeyDoc> docs;
    document_section(cart_section(), "", docs);
    const auto colour =
        nlohmann::json::parse(explain_json({explanation_of(find_keys(docs, "colour")[0])}));
    EXPECT_EQ(colour[0]["choices"][1]["sentence"], "grass");
    EXPECT_EQ(explain_json({}), "[]\n");
}

TEST(Explain, LongFactsStandBelowThemselves) {
    const std::string words = "one two three four five six seven eight nine ten eleven twelve";
    EXPECT_EQ(explain_text({"alert", "a", "b", {{"meaning", words + ", " + words}}, {}, ""}),
              "a\n  b\n  meaning: one two three four five six seven eight nine ten eleven twelve,"
              " one\n           two three four five six seven eight nine ten eleven twelve\n");
}

}  // namespace
}  // namespace pinstrike
