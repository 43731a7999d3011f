// path: cold
#include "actors/telemetry/account.h"

#include "actors/telemetry/account_text.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <functional>

namespace pinstrike::actors {
namespace {

/// Books that balance, with every figure in use.
Account balanced_account() {
    Account account;
    account.feed = "opra";
    account.seconds = 12.5;
    account.ports = {{.port = "a0",
                      .packets = 30,
                      .bytes = 3000,
                      .missed = 5,
                      .no_buffer = std::nullopt,
                      .errors = 0,
                      .dropped = {{"not_udp", 2}, {"unknown_group", 3}},
                      .unknown_groups = {{{{0xEF01'0404}, 31004}, {0xA245'2C04}, 3}},
                      .handed = 25}};
    LineAccount line;
    line.line = 4;
    line.highest = 105;
    line.delivered = 90;
    line.lost = 15;
    line.repaired = 5;
    line.unasked = 7;
    line.filtered = 4;
    line.gaps_unlisted = 5;
    line.gaps = {{11, 18}, {4294967294, 4294967295}};
    line.a = {.packets = 12, .messages = 80, .accepted = 50, .duplicate = 28, .rejected = 2};
    line.b = {.packets = 10, .messages = 70, .accepted = 35, .duplicate = 35, .rejected = 0};
    line.poller = "poll0";
    line.controls = 6;
    line.retransmission_packets = 3;
    account.lines = {line};
    account.rings = {
        {.from = "poll0", .to = "core0", .routed = 50, .pushed = 48, .refused = 2, .records = 60},
        {.from = "poll0", .to = "core1", .routed = 30, .pushed = 30, .records = 30}};
    account.cores = {
        {.core = "core0",
         .events = 48,
         .records = 60,
         .gap_events = 3,
         .control_events = 8,
         .rows = {{"series", 20}, {"series_refused", 1234567}, {"venue_quotes_refused", 0}},
         .actors = {{"book", 48}, {"trades", 9}}},
        {.core = "core1",
         .events = 30,
         .records = 30,
         .rows = {{"series", 0}},
         .actors = {{"book", 30}}}};
    account.rejects = {{"checksum", 1}};
    return account;
}

TEST(Account, Balances) {
    EXPECT_TRUE(imbalances(balanced_account()).empty());
    EXPECT_TRUE(imbalances(Account{}).empty());
}

struct Mistake {
    const char* found;
    std::function<void(Account&)> make;
};

/// Every figure that is off by one is found, and the violated equation is named.
TEST(Account, NamesWhatDoesNotBalance) {
    const Mistake mistakes[] = {
        {"port a0: packets = dropped", [](Account& a) { ++a.ports[0].packets; }},
        {"port a0: packets = dropped", [](Account& a) { ++a.ports[0].dropped[1].second; }},
        {"ports and lines", [](Account& a) { ++a.lines[0].a.packets; }},
        {"line 4 stream A: messages", [](Account& a) { ++a.lines[0].a.messages; }},
        {"line 4 stream B: messages", [](Account& a) { ++a.lines[0].b.rejected; }},
        {"line 4: delivered = accepted", [](Account& a) { ++a.lines[0].repaired; }},
        {"line 4: delivered + lost = highest", [](Account& a) { ++a.lines[0].highest; }},
        {"line 4: lost = size of gaps", [](Account& a) { ++a.lines[0].gaps[0].second; }},
        {"line 4: lost = size of gaps", [](Account& a) { ++a.lines[0].gaps_unlisted; }},
        {"line 4: first <= last",
         [](Account& a) {
             a.lines[0].gaps = {{11, 20}, {21, 20}};
         }},
        {"ring poll0 to core0: routed", [](Account& a) { ++a.rings[0].refused; }},
        {"poller poll0: routed", [](Account& a) { ++a.lines[0].controls; }},
        {"poller poll0: routed", [](Account& a) { ++a.lines[0].filtered; }},
        {"poller poll1: routed", [](Account& a) { a.lines[0].poller = "poll1"; }},
        {"core core0: events", [](Account& a) { ++a.cores[0].events; }},
        {"core core1: events", [](Account& a) { --a.cores[1].events; }},
        {"core core0: records", [](Account& a) { --a.cores[0].records; }},
        {"core core1: records", [](Account& a) { ++a.rings[1].records; }},
        {"core core1: events", [](Account& a) { a.cores.pop_back(); }},
        {"core core0 actor book", [](Account& a) { ++a.cores[0].actors[0].events; }},
    };
    for (const Mistake& mistake : mistakes) {
        Account account = balanced_account();
        mistake.make(account);
        std::string all;
        for (const std::string& finding : imbalances(account)) {
            all += finding + "\n";
        }
        EXPECT_NE(all.find(mistake.found), std::string::npos)
            << "wanted: " << mistake.found << "\nfound: " << all;
        EXPECT_EQ(nlohmann::json::parse(to_json(account)).at("balanced"), false);
    }
}

TEST(Account, WritesTheCanonicalForm) {
    const nlohmann::json json = nlohmann::json::parse(to_json(balanced_account()));
    EXPECT_EQ(json, nlohmann::json::parse(R"({
        "feed": "opra", "balanced": true, "seconds": 12.5,
        "ports": [{"port": "a0", "packets": 30, "bytes": 3000, "missed": 5, "no_buffer": null,
                   "errors": 0, "dropped": {"not_udp": 2, "unknown_group": 3},
                   "unknown_groups": [{"group": "239.1.4.4", "port": 31004,
                                       "from": "162.69.44.4", "packets": 3}]}],
        "lines": [{"line": 4, "highest": 105, "delivered": 90, "lost": 15, "repaired": 5,
                   "unasked": 7, "filtered": 4, "gaps": [[11, 18], [4294967294, 4294967295]],
                   "gaps_unlisted": 5,
                   "streams": {"A": {"packets": 12, "messages": 80, "accepted": 50,
                                     "duplicate": 28, "rejected": 2},
                               "B": {"packets": 10, "messages": 70, "accepted": 35,
                                     "duplicate": 35, "rejected": 0}}}],
        "rings": [{"from": "poll0", "to": "core0", "routed": 50, "pushed": 48, "refused": 2},
                  {"from": "poll0", "to": "core1", "routed": 30, "pushed": 30, "refused": 0}],
        "cores": [{"core": "core0", "events": 48, "gap_events": 3, "control_events": 8,
                   "series": 20, "series_refused": 1234567, "venue_quotes_refused": 0,
                   "actors": [{"actor": "book", "events": 48},
                                            {"actor": "trades", "events": 9}]},
                  {"core": "core1", "events": 30, "gap_events": 0, "control_events": 0,
                   "series": 0, "actors": [{"actor": "book", "events": 30}]}],
        "rejects": {"checksum": 1}})"));
}

TEST(Account, IsReadAsTables) {
    const std::string text = to_text(balanced_account());
    for (
        const char* row : {
            "port                         packets        to lines          missed       no buffer  "
            "        errors\n"
            "a0                                30              25               5               -  "
            "             0\n"
            "  dropped: not_udp 2, unknown_group 3\n"
            "  unknown groups: 239.1.4.4:31004 from 162.69.44.4, 3 packets\n",
            "4                                 90              50              35               5  "
            "            15\n",
            "poll0:core0                       50              48               2\n",
            "core0                             48               3               8\n"
            "  series 20, series_refused 1,234,567\n",
            "blocks rejected or accepted with a remark: checksum 1\n",
        }) {
        EXPECT_NE(text.find(row), std::string::npos) << row << "\nnot in:\n" << text;
    }
}

TEST(Account, TellsOfChecksumOffloadWhereEveryChecksumIsWrong) {
    Account account;
    account.ports.resize(1);
    account.ports[0].dropped = {{"arp", 1}, {"udp_checksum", 20}};
    EXPECT_NE(to_text(account).find("udp_checksum: off"), std::string::npos);
    account.ports[0].handed = 1;
    EXPECT_EQ(to_text(account).find("udp_checksum: off"), std::string::npos) << "one was right";
    account.ports[0].handed = 0;
    account.ports[0].dropped.emplace_back("unknown_group", 1);
    EXPECT_EQ(to_text(account).find("udp_checksum: off"), std::string::npos) << "one was right";
    account.ports[0].dropped = {{"not_udp", 21}};
    EXPECT_EQ(to_text(account).find("udp_checksum: off"), std::string::npos);
}

TEST(Account, OfManyLinesShowsTheirSumAndThoseThatLost) {
    Account account;
    for (std::uint16_t number = 1; number <= 96; ++number) {
        LineAccount line;
        line.line = number;
        line.delivered = 10;
        line.lost = number <= 20 ? 3 : 0;
        account.lines.push_back(line);
    }
    const std::string text = to_text(account);
    EXPECT_NE(text.find("\n16 "), std::string::npos) << text;
    EXPECT_EQ(text.find("\n17 "), std::string::npos) << text;
    EXPECT_NE(text.find("  4 more lines lost messages\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\nall 96                           960               0               0    "
                        "           0              60\n"),
              std::string::npos)
        << text;
}

TEST(Account, EmptyIsStillJson) {
    const nlohmann::json json = nlohmann::json::parse(to_json(Account{}));
    EXPECT_EQ(json.at("lines"), nlohmann::json::array());
    EXPECT_EQ(json.at("rejects"), nlohmann::json::object());
}

}  // namespace
}  // namespace pinstrike::actors
