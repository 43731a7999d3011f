// path: cold
//
// The host side of IGMP for a NIC that bypasses the kernel: a state machine without clock, thread
// or socket. Its owner passes it the time and the received frames. It sends through the
// ReportSender that step() gets. It does not allocate after construction.
//
// A report is not suppressed if another host reported the same group, although RFC 2236 allows it,
// because snooping switches learn from this host's own report which port needs the data. A querier
// of an older version is answered in its version until it has been silent for 260 s (RFC 3376,
// 7.2.1, 8.12).
#pragma once

#include "nic/multicast/igmp.h"
#include "nic/packet/address.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pinstrike::nic {

/// Sends reports. A report that the device does not accept is lost; IGMP tolerates this because
/// reports are repeated.
class ReportSender {
  public:
    virtual ~ReportSender() = default;
    virtual void send(std::span<const std::byte> frame) = 0;
};

struct MembershipConfig {
    std::vector<Ipv4> groups;  ///< in any order; duplicates are allowed
    IgmpHost host;
    unsigned version = 3;  ///< the newest IGMP version to use
};

class GroupMembership {
  public:
    /// `seed` determines the random delays of answers; it should differ between hosts.
    GroupMembership(MembershipConfig config, std::uint64_t seed);

    /// Plans two unsolicited reports of all groups. Call at the start and whenever the link comes
    /// up.
    void announce(std::int64_t now_ns);

    /// Plans the answer if the frame is a query; ignores any other frame.
    void on_frame(std::span<const std::byte> frame, std::int64_t now_ns);

    /// Sends the reports that are due, at most frames_per_step_max frames; the next steps send the
    /// rest.
    void step(std::int64_t now_ns, ReportSender& sender);

    /// Returns a copy with more groups, which a cold thread makes for adopt_groups().
    [[nodiscard]] GroupMembership with(std::span<const Ipv4> groups) const;

    /// Takes over the groups of `other`, which include the present ones, and plans reports of all
    /// of them. Neither allocates nor frees.
    void adopt_groups(GroupMembership& other, std::int64_t now_ns);

    /// Leaves all groups at once and clears all planned reports. Called when the port is closed.
    /// IGMPv1 has no leave message.
    void leave(std::int64_t now_ns, ReportSender& sender);

    /// The IGMP version in use now.
    [[nodiscard]] unsigned version(std::int64_t now_ns) const;

    [[nodiscard]] std::size_t groups_count() const { return groups_.size(); }

    static constexpr std::size_t frames_per_step_max = 32;

  private:
    void send_v3(IgmpRecord record, std::span<const Ipv4> groups, ReportSender& sender);
    void send_one(IgmpMessage message, Ipv4 group, ReportSender& sender);
    std::size_t send_due(std::int64_t now_ns, IgmpRecord record, std::vector<std::int64_t>& due_ns,
                         std::size_t frames_left, ReportSender& sender);
    void plan_answer(std::size_t index, std::int64_t due_ns);
    void forget_plans();
    [[nodiscard]] std::int64_t random_delay(std::int64_t max_ns);

    std::vector<Ipv4> groups_;                 ///< sorted, without duplicates
    std::vector<std::int64_t> answer_due_ns_;  ///< per group; never_ns: no answer is planned
    std::vector<std::int64_t>
        report_due_ns_;        ///< per group, unsolicited; never_ns: none is planned
    std::vector<Ipv4> batch_;  ///< the groups of the report being written
    IgmpHost host_;
    unsigned version_max_;
    unsigned repeats_left_ = 0;  ///< rounds of unsolicited reports still to send
    std::int64_t repeat_due_ns_ = 0;
    std::int64_t v1_until_ns_ = 0;
    std::int64_t v2_until_ns_ = 0;
    std::int64_t answers_not_before_ns_ = 0;
    std::uint64_t random_;
    std::array<std::byte, igmp_frame_bytes_max> frame_{};
};

}  // namespace pinstrike::nic
