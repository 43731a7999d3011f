// path: cold
#include "config/check.h"
#include "config/time_units.h"
#include "nic/multicast/igmp.h"
#include "nic/multicast/membership.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace pinstrike;
using namespace pinstrike::nic;

class CountingSender final : public ReportSender {
  public:
    void send(std::span<const std::byte> frame) override {
        PINSTRIKE_CHECK(frame.size() <= igmp_frame_bytes_max);
        PINSTRIKE_CHECK(!parse_igmp_query(frame));  // a report is not a query
        ++frames_count;
    }

    std::size_t frames_count = 0;
};

constexpr std::int64_t longest_response_ns = 3175 * second_ns;  // RFC 3376, 4.1.1, for code 255

}  // namespace

int fuzz_one(std::span<const std::byte> bytes) {
    const auto query = parse_igmp_query(bytes);
    if (query) {
        PINSTRIKE_CHECK(query->version >= 1 && query->version <= 3);
        PINSTRIKE_CHECK(query->max_response_ns >= 0 &&
                        query->max_response_ns <= longest_response_ns);
    }
    MembershipConfig config;
    config.groups = {Ipv4{0xE000CC01}, Ipv4{0xE000CC02}, Ipv4{0xE000CE01}};
    GroupMembership membership(config, bytes.size());
    membership.on_frame(bytes, second_ns);
    CountingSender sender;
    membership.step(longest_response_ns + 2 * second_ns, sender);
    // A query gets at most one answer per group, and a general query gets at least one.
    PINSTRIKE_CHECK(sender.frames_count <= config.groups.size());
    PINSTRIKE_CHECK(!query || query->group != Ipv4{} || sender.frames_count > 0);
    PINSTRIKE_CHECK(query || sender.frames_count == 0);
    return 0;
}
