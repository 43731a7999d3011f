// path: cold
#include "feed/recovery/recovery_keys.h"

#include "config/time_units.h"

namespace pinstrike::feed {

namespace {

const std::vector<Choice<RepairKind>>& kinds() {
    static const std::vector<Choice<RepairKind>> choices{
        {"retransmission", RepairKind::retransmission,
         "the lines' published retransmission groups, which are then received: it waits for "
         "messages that others requested"},
        {"peer", RepairKind::peer, "another instance, which keeps the last seconds of every line"}};
    return choices;
}

}  // namespace

const char* word_of(RepairKind kind) {
    for (const Choice<RepairKind>& each : kinds()) {
        if (each.value == kind) {
            return each.word.c_str();
        }
    }
    return "?";
}

Section<RecoveryConfig> recovery_section() {
    constexpr std::int64_t s = 1000 * ms_ns;
    Section<RecoveryConfig> section{"recovery"};
    section
        .key("sources", &RecoveryConfig::sources, list_of(choice(kinds()), "a list of sources"),
             "Sources that are asked for messages lost on both streams, in this order; none: there "
             "is no recovery.")
        .key("request_after", &RecoveryConfig::request_after_ns, duration_ns(0, 10 * s),
             "How long the other stream has to fill a hole before a source is asked.")
        .key("answer_within", &RecoveryConfig::answer_within_ns, duration_ns(ms_ns / 10, 60 * s),
             "How long a source has to answer before the next is asked. After the last source the "
             "first is asked again, after pauses that begin with this time and double.")
        .key("give_up_after", &RecoveryConfig::give_up_after_ns, duration_ns(ms_ns, 3600 * s),
             "How long the messages of a hole are requested. Those not found by then stay lost.")
        .key("requests_per_second", &RecoveryConfig::requests_per_second,
             integer<std::uint32_t>(10, 100'000),
             "Most requests in a second, over all lines and sources.")
        .unit("requests")
        .key("messages_per_second", &RecoveryConfig::messages_per_second,
             integer<std::uint32_t>(10'000, 10'000'000),
             "Most messages requested in a second, over all lines and sources.")
        .unit("messages")
        .key("ranges_max", &RecoveryConfig::ranges_max, integer<std::size_t>(1, 1 << 20),
             "Most ranges, of up to 1000 messages, requested for each line at a time; ranges "
             "beyond them are not requested.")
        .unit("ranges");
    return section;
}

}  // namespace pinstrike::feed
