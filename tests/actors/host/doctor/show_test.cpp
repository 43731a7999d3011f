// path: cold
#include "actors/host/doctor/show.h"

#include "actors/host/doctor/fixes.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace pinstrike::actors::doctor {
namespace {

Findings some() {
    return {{"a", Severity::ok, "first", "well", "well", "", {}},
            {"b", Severity::warning, "second",
             "a long text that has to go on in the next line because eighty columns are not enough",
             "more", "because\nof lines; $(reboot) `reboot`", sysctl_fix("net/core/rmem_max", 7)},
            {"c", Severity::advice, "third", "x", "y", "z", boot_fix("iommu", "iommu=pt")},
            {"d", Severity::unknown, "fourth", "not visible", "z", "w", advice_fix("look there")}};
}

TEST(Show, TextFitsAndSaysTheSum) {
    const std::string text = findings_text(some());
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        EXPECT_LE(line.size(), 80U) << line;
    }
    EXPECT_NE(text.find("ok       first: well\n"), std::string::npos);
    EXPECT_NE(text.find("         seen    a long text"), std::string::npos);
    EXPECT_NE(text.find("         fix     sysctl -w net/core/rmem_max=7\n"), std::string::npos);
    EXPECT_NE(text.find("\n0 error, 1 warning, 1 advice, 1 cannot be judged, 1 ok\n"),
              std::string::npos);
}

TEST(Show, TextIsWrappedByCharactersNotBytes) {
    std::string words;
    for (int i = 0; i < 35; ++i) {
        words += "\u00b5 ";  // two bytes
    }
    // "ok       x: " and 34 words with a blank between fill 79 columns.
    EXPECT_EQ(findings_text({{"a", Severity::ok, "x", words, "", "", {}}}).find('\n'), 79U + 34U);
}

TEST(Show, JsonHasItAll) {
    const auto json = nlohmann::json::parse(findings_json(some()));
    EXPECT_EQ(json["worst"], "warning");
    EXPECT_EQ(json["counts"]["unknown"], 1);
    EXPECT_EQ(json["findings"][1]["fix"]["until_boot"][0], "sysctl -w net/core/rmem_max=7");
    EXPECT_EQ(json["findings"][2]["fix"]["boot_loader"], true);
}

TEST(Show, ScriptHasABlockForEachFixAndNoLineFromOutside) {
    const std::string script = fix_script(some());
    EXPECT_NE(script.find("\nset -eu\n"), std::string::npos);
    EXPECT_NE(script.find("# --- warning: b ---\n"), std::string::npos);
    EXPECT_NE(script.find("# why:    because of lines; $(reboot) `reboot`\n"), std::string::npos);
    EXPECT_NE(script.find("# Until the next boot:\nsysctl -w net/core/rmem_max=7\n"),
              std::string::npos);
    EXPECT_NE(script.find("# Boot loader:\nboot_parameters iommu iommu=pt\n"), std::string::npos);
    EXPECT_NE(script.find("    update-grub\n"), std::string::npos);
    EXPECT_EQ(script.find("look there"), std::string::npos);  // unknown: nothing to fix
    EXPECT_NE(fix_script({}).find("# Nothing has to be fixed.\n"), std::string::npos);
}

TEST(Show, WordsOfShells) {
    EXPECT_EQ(shell_word("a/b=2-7,9"), "a/b=2-7,9");
    EXPECT_EQ(shell_word("a b"), "'a b'");
    EXPECT_EQ(shell_word("it's; $(x)"), "'it'\\''s; $(x)'");
    EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace pinstrike::actors::doctor
