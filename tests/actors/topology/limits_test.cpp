// path: cold
//
// The limits of every key that has limits, a second time. So the test finds a limit that was
// changed by mistake in its table, and a key with limits that this list lacks. Each key is tried at
// its limits and one step beyond.
#include "actors/topology/actor_kinds.h"
#include "actors/topology/feed_keys.h"
#include "config/explain.h"
#include "config/units.h"
#include "tests/config/problems.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace pinstrike {
namespace {

struct Limits {
    const char* path;
    const char* kind;  ///< as in the key's text
    const char* least;
    const char* most;
};

constexpr const char* integer_kind = "an integer";
constexpr const char* number_kind = "a number";
constexpr const char* power_kind = "a power of two";
constexpr const char* duration_kind = "a duration (ns, us, ms, s, m or h)";
constexpr const char* size_kind = "a size (B, KiB, MiB or GiB)";

constexpr std::array all_limits{
    Limits{"lines.number", integer_kind, "1", "65535"},
    Limits{"ports.descriptors_count", integer_kind, "64", "32768"},
    Limits{"ports.kernel_buffer", size_kind, "64KiB", "1GiB"},
    Limits{"ports.burst_packets", integer_kind, "1", "512"},
    Limits{"ports.igmp_version", integer_kind, "2", "3"},
    Limits{"ports.vlan", integer_kind, "0", "4094"},
    Limits{"pollers.cpu", integer_kind, "0", "4095"},
    Limits{"cores.cpu", integer_kind, "0", "4095"},
    Limits{"ring_slots", power_kind, "1024", "268435456"},
    Limits{"arbitration.window", duration_kind, "0ns", "10s"},
    Limits{"arbitration.hold", size_kind, "4KiB", "1GiB"},
    Limits{"arbitration.gap_ranges", integer_kind, "1", "16777216"},
    Limits{"recovery.request_after", duration_kind, "0ns", "10s"},
    Limits{"recovery.answer_within", duration_kind, "100us", "60s"},
    Limits{"recovery.give_up_after", duration_kind, "1ms", "3600s"},
    Limits{"recovery.requests_per_second", integer_kind, "10", "100000"},
    Limits{"recovery.messages_per_second", integer_kind, "10000", "10000000"},
    Limits{"recovery.ranges_max", integer_kind, "1", "1048576"},
    Limits{"silence.stream_silent_after", duration_kind, "1ms", "3600s"},
    Limits{"silence.stream_down_after", duration_kind, "1ms", "3600s"},
    Limits{"history.keep", duration_kind, "100ms", "3600s"},
    Limits{"history.memory", size_kind, "1MiB", "1024GiB"},
    Limits{"peer.requests_per_second", integer_kind, "1", "1000000"},
    Limits{"peer.messages_per_second", integer_kind, "1000", "100000000"},
    Limits{"peer.connections_max", integer_kind, "1", "256"},
    Limits{"peer.state_within", duration_kind, "1s", "600s"},
    Limits{"publish.stream_records", power_kind, "1024", "268435456"},
    Limits{"record.segment", size_kind, "4MiB", "1024GiB"},
    Limits{"record.memory", size_kind, "4MiB", "1GiB"},
    Limits{"record.keep", duration_kind, "60s", "315360000s"},
    Limits{"record.keep_bytes", size_kind, "8MiB", "1048576GiB"},
    Limits{"record.free", size_kind, "0B", "1048576GiB"},
    Limits{"record.snapshot_interval", duration_kind, "1s", "86400s"},
    Limits{"record.compress", integer_kind, "-7", "19"},
    Limits{"record.compress_percent", integer_kind, "1", "100"},
    Limits{"book.series_capacity", integer_kind, "1000", "100000000"},
    Limits{"traffic.seed", integer_kind, "0", "9223372036854775807"},
    Limits{"traffic.lines_count", integer_kind, "1", "65535"},
    Limits{"traffic.roots_count", integer_kind, "1", "100000"},
    Limits{"traffic.series_count", integer_kind, "1", "10000000"},
    Limits{"traffic.messages_count", integer_kind, "1", "1000000000000"},
    Limits{"traffic.maps_count", integer_kind, "0", "1000000000000"},
    Limits{"traffic.rate_messages_per_second", number_kind, "1", "10000000000"},
    Limits{"traffic.burst_factor", number_kind, "1", "1000"},
    Limits{"traffic.burst_share", number_kind, "0", "0.9"},
    Limits{"traffic.test_symbols", number_kind, "0", "1"},
    Limits{"traffic.first_sequence", integer_kind, "1", "4294967295"},
    Limits{"traffic.mix", number_kind, "0", "1"},
    Limits{"traffic.a.loss", number_kind, "0", "1"},
    Limits{"traffic.a.duplicate", number_kind, "0", "1"},
    Limits{"traffic.a.reorder", number_kind, "0", "1"},
    Limits{"traffic.a.reorder_by", duration_kind, "1ns", "1s"},
    Limits{"traffic.a.corrupt", number_kind, "0", "1"},
    Limits{"traffic.a.skew", duration_kind, "0ns", "10s"},
    Limits{"traffic.b.loss", number_kind, "0", "1"},
    Limits{"traffic.b.duplicate", number_kind, "0", "1"},
    Limits{"traffic.b.reorder", number_kind, "0", "1"},
    Limits{"traffic.b.reorder_by", duration_kind, "1ns", "1s"},
    Limits{"traffic.b.corrupt", number_kind, "0", "1"},
    Limits{"traffic.b.skew", duration_kind, "0ns", "10s"},
    Limits{"control_cpu", integer_kind, "0", "4095"},
};

std::vector<KeyDoc> documented() {
    std::vector<KeyDoc> docs;
    document_section(actors::feed_section(), "", docs);
    return docs;
}

TEST(Limits, AreThoseOfTheTablesAndNoneIsLeftOut) {
    std::map<std::string, std::string> listed;
    for (const Limits& limits : all_limits) {
        listed[limits.path] =
            fmt::format("{} from {} to {}", limits.kind, limits.least, limits.most);
    }
    const std::regex has_limits{"(an? [^,]*(?:\\([^)]*\\))?) from [^ ]+ to [^ ,]+"};
    for (const KeyDoc& doc : documented()) {
        std::smatch found;
        const std::string section = doc.path.substr(0, doc.path.find('.'));
        const bool of_another_actor =  // whose own tests hold its limits
            !listed.contains(doc.path) && actors::find_actor_kind(section) != nullptr;
        if (std::regex_search(doc.words, found, has_limits) && !of_another_actor) {
            EXPECT_EQ(listed[doc.path], found.str()) << doc.path;
            listed.erase(doc.path);
        }
    }
    for (const auto& [path, words] : listed) {
        ADD_FAILURE() << path << ": no key has these limits: " << words;
    }
}

/// The number before (`by` -1) or after (1) a number that is not negative.
std::string moved(const std::string& text, int by) {
    const std::uint64_t value = std::stoull(text);
    return by > 0 ? std::to_string(value + 1) : value == 0 ? "-1" : std::to_string(value - 1);
}

/// The nearest value beyond the lower (`by` -1) or upper (1) limit.
std::string outside(const Limits& limits, int by) {
    const std::string kind = limits.kind;
    const std::string limit = by < 0 ? limits.least : limits.most;
    if (kind == integer_kind) {
        return moved(limit, by);
    }
    if (kind == power_kind) {
        return std::to_string(by < 0 ? std::stoll(limit) / 2 : std::stoll(limit) * 2);
    }
    if (kind == duration_kind) {
        return moved(std::to_string(parse_duration_ns(limit).value()), by) + "ns";
    }
    if (kind == size_kind) {
        return moved(std::to_string(parse_bytes(limit).value()), by) + "B";
    }
    const double value = std::stod(limit);
    return fmt::format("{}", std::nextafter(value, by * std::numeric_limits<double>::infinity()));
}

/// A config with this key alone: "ports: [{vlan: 5}]".
std::string text_with(const std::string& path, const std::string& value) {
    static const std::set<std::string> lists{"lines", "ports", "pollers", "cores"};
    std::string head;
    std::string tail;
    std::string rest = path;
    for (std::size_t dot = rest.find('.'); dot != std::string::npos; dot = rest.find('.')) {
        const bool list = lists.contains(rest.substr(0, dot));
        head += rest.substr(0, dot) + (list ? ": [{" : ": {");
        tail.insert(0, list ? "}]" : "}");
        rest.erase(0, dot + 1);
    }
    return head + rest + ": " + value + tail;
}

bool is_refused(const Limits& limits, const std::string& value) {
    Problems problems;
    const std::string text = text_with(limits.path, value);
    const auto root = parse_yaml(text, "f", problems);
    EXPECT_TRUE(root) << text << "\n" << text_of(problems);
    Places places{"f"};
    Reader reader{problems, places};
    actors::FeedConfig config;
    read_section(actors::feed_section(), root.value_or(Node{}), "", config, reader);
    return text_of(problems).find(fmt::format("expected {} from", limits.kind)) !=
           std::string::npos;
}

TEST(Limits, AreAcceptedAndTheNearestOutsideRefused) {
    for (const Limits& limits : all_limits) {
        EXPECT_TRUE(is_refused(limits, outside(limits, -1))) << limits.path;
        EXPECT_FALSE(is_refused(limits, limits.least)) << limits.path;
        EXPECT_FALSE(is_refused(limits, limits.most)) << limits.path;
        EXPECT_TRUE(is_refused(limits, outside(limits, 1))) << limits.path;
    }
}

}  // namespace
}  // namespace pinstrike
