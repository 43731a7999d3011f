// path: cold
//
// The file of keys, and the answers to challenges.
#include "actors/gateway/client_keys.h"

#include "tests/config/problems.h"
#include "tests/nic/frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace pinstrike::actors::gateway::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* key_a = "db-0123456789abcdef0123456789abc";
constexpr const char* key_b = "db-zyxwvutsrqponmlkjihgfedcba987";

class KeyFiles : public testing::Test {
  protected:
    bool read(const std::string& text, const std::string& name = "keys.yaml",
              unsigned mode = 0600) {
        const std::string path = scratch.file(name);
        std::filesystem::remove(path);
        std::ofstream{path} << text;
        std::filesystem::permissions(path, static_cast<std::filesystem::perms>(mode));
        keys.clear();
        problems.clear();
        return read_client_keys(path, keys, problems);
    }

    static std::string row(const std::string& user, const std::string& key,
                           const std::string& more = "") {
        return "  - {user: " + user + ", key: " + key + more + "}\n";
    }

    nic::ScratchDirectory scratch;
    ClientKeys keys;
    Problems problems;
};

TEST_F(KeyFiles, have_keys_with_their_limits) {
    ASSERT_TRUE(read("keys:\n" + row("research", key_a) +
                     row("quants", key_b,
                         ", underlyings: [SPY, SPXW], sessions: 2, subscriptions: 30, "
                         "records_per_second: 5000, replays: 0")))
        << text_of(problems);
    ASSERT_EQ(keys.size(), 2U);
    EXPECT_EQ(keys[0].user, "research");
    EXPECT_EQ(keys[0].key, key_a);
    EXPECT_EQ(keys[0].sessions, 10U);
    EXPECT_EQ(keys[0].subscriptions, 1000U);
    EXPECT_EQ(keys[0].records_per_second, 0U);
    EXPECT_EQ(keys[0].replays, 1U);
    EXPECT_TRUE(keys[0].allows("AAPL"));
    EXPECT_EQ(keys[1].sessions, 2U);
    EXPECT_EQ(keys[1].subscriptions, 30U);
    EXPECT_EQ(keys[1].records_per_second, 5000U);
    EXPECT_EQ(keys[1].replays, 0U);
    EXPECT_TRUE(keys[1].allows("SPXW"));
    EXPECT_FALSE(keys[1].allows("SPX"));
    EXPECT_FALSE(keys[1].allows("AAPL"));
}

TEST_F(KeyFiles, that_others_can_read_are_refused) {
    const std::string text = "keys:\n" + row("a", key_a);
    for (const unsigned mode : {0644U, 0640U, 0604U, 0660U}) {
        EXPECT_FALSE(read(text, "keys.yaml", mode));
        EXPECT_THAT(text_of(problems), HasSubstr("expected 0600 or less"));
        EXPECT_TRUE(keys.empty());
    }
    EXPECT_TRUE(read(text, "keys.yaml", 0400));
    EXPECT_TRUE(read(text, "keys.example", 0644));
}

TEST_F(KeyFiles, with_problems_change_nothing_and_show_no_secret) {
    const std::string secret = "db-secretsecretsecretsecretsecr";
    for (const std::string& text : std::vector<std::string>{
             "keys:\n" + row("a", secret),                 // 31 characters
             "keys:\n" + row("a", secret + "et"),          // 33
             "keys:\n" + row("a", "\"" + secret + "|\""),  // a separator
             "keys:\n" + row("a", secret + "="),           // another
             "keys:\n" + row("a", "[" + secret + "x]"),    // no text
             "keys:\n" + row("a", secret + "x") + row("b", secret + "x"),
             "keys:\n" + row("a", secret + "x") + row("a", secret + "y"),
             "keys:\n" + row("a", secret + "x", ", colour: red"),
             "keys:\n" + row("a", secret + "x", ", sessions: 0"),
             "keys:\n" + row("a", secret + "x", ", sessions: 1001"),
             "keys:\n" + row("a", secret + "x", ", subscriptions: 0"),
             "keys:\n" + row("a", secret + "x", ", records_per_second: 0"),
             "keys:\n" + row("a", secret + "x", ", underlyings: [spy]"),
             "keys:\n" + row("a", secret + "x", ", underlyings: [SIXSIX]"),
             "keys:\n  - {key: " + secret + "x}\n",
             "keys:\n  - {user: a}\n",
         }) {
        EXPECT_FALSE(read(text)) << text;
        EXPECT_FALSE(problems.empty()) << text;
        EXPECT_THAT(text_of(problems), Not(HasSubstr("secretsecret"))) << text;
        EXPECT_TRUE(keys.empty());
    }
}

TEST_F(KeyFiles, say_what_is_wrong) {
    EXPECT_FALSE(read("keys:\n" + row("a", key_a) + row("b", key_a)));
    EXPECT_THAT(text_of(problems), HasSubstr("the key of user b is that of another user too"));
    EXPECT_FALSE(read("keys:\n" + row("a", key_a) + row("a", key_b)));
    EXPECT_THAT(text_of(problems), HasSubstr("two keys of user a"));
    EXPECT_FALSE(read("keys:\n" + row("a", key_a, ", colour: red")));
    EXPECT_THAT(text_of(problems), HasSubstr("colour"));
    EXPECT_FALSE(read("keys: []\n"));
    EXPECT_THAT(text_of(problems), HasSubstr("found no key"));
    EXPECT_FALSE(read(""));
    EXPECT_FALSE(read_client_keys(scratch.file("absent"), keys, problems));
}

TEST(Challenges, are_32_letters_or_digits_and_differ) {
    std::set<std::string> seen;
    std::set<char> letters;
    for (int i = 0; i < 200; ++i) {
        const std::string challenge = new_challenge();
        EXPECT_EQ(challenge.size(), 32U);
        letters.insert(challenge.begin(), challenge.end());
        EXPECT_TRUE(seen.insert(challenge).second);
    }
    EXPECT_EQ(letters.size(), 62U);
    EXPECT_THAT(std::string(letters.begin(), letters.end()), testing::MatchesRegex("[A-Za-z0-9]+"));
}

TEST(Challenges, are_answered_as_the_clients_answer_them) {
    EXPECT_EQ(answer_of("t7kNhwj4xqR0QYjzFKtBEG2ec2pXJ4FK", key_a),
              "95cad725e086ab9340d3b45218de9ac388e82143fae83490b9800589bcee7617-89abc");
}

TEST(Challenges, only_the_right_answer_finds_its_key) {
    ClientKeys keys(2);
    keys[0].user = "a";
    keys[0].key = key_a;
    keys[1].user = "b";
    keys[1].key = key_b;
    const std::string challenge = "t7kNhwj4xqR0QYjzFKtBEG2ec2pXJ4FK";
    EXPECT_EQ(authenticate(keys, challenge, answer_of(challenge, key_a)), &keys[0]);
    EXPECT_EQ(authenticate(keys, challenge, answer_of(challenge, key_b)), &keys[1]);
    std::string wrong = answer_of(challenge, key_a);
    EXPECT_EQ(authenticate(keys, "another", wrong), nullptr);
    EXPECT_EQ(authenticate(keys, challenge, wrong + "x"), nullptr);
    EXPECT_EQ(authenticate(keys, challenge, ""), nullptr);
    EXPECT_EQ(authenticate({}, challenge, wrong), nullptr);
    wrong.front() = wrong.front() == '9' ? '8' : '9';
    EXPECT_EQ(authenticate(keys, challenge, wrong), nullptr);
}

}  // namespace
}  // namespace pinstrike::actors::gateway::test
