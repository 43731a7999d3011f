// path: cold
//
// The host side of group membership for a NIC that the kernel no longer sees: a state machine
// without clock, thread or socket. It is told the time and the frames that came, and sends through
// the ReportSender given to step(). Nothing is allocated after construction.
//
// Reports are never suppressed because another host reported the same group (RFC 2236 lets hosts
// do so): switches that snoop learn from our own report which port wants the data. A querier of an
// older version is answered in its version until it was silent for 260 s (RFC 3376, 7.2.1, 8.12).
#pragma once

#include "nic/multicast/igmp.h"
#include "nic/port_config.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pinstrike::nic {

/// Sends a report; what the device does not take is lost, and repeated by the robustness of IGMP.
class ReportSender {
  public:
    virtual ~ReportSender() = default;
    virtual void send(std::span<const std::byte> frame) = 0;
};

struct MembershipConfig {
    std::vector<Ipv4> groups;  ///< in any order, also several times
    IgmpHost host;
    unsigned version = 3;  ///< the newest that is spoken
};

class GroupMembership {
  public:
    /// `seed` moves the random delays of answers: different on every host.
    GroupMembership(MembershipConfig config, std::uint64_t seed);

    /// Reports all groups unasked, twice: at the start, and whenever the link comes up.
    void announce(std::int64_t now_ns);

    /// Takes a frame that may be a query, and plans the answer; anything else changes nothing.
    void on_frame(std::span<const std::byte> frame, std::int64_t now_ns);

    /// Sends what is due, at most frames_per_step_max frames; the rest with the next steps.
    void step(std::int64_t now_ns, ReportSender& sender);

    /// Such a one with more groups: a cold thread makes it, take_groups() gives them to this one.
    [[nodiscard]] GroupMembership with(std::span<const Ipv4> groups) const;

    /// Has the groups of `other` from now on, and reports them all; neither allocates nor frees.
    void take_groups(GroupMembership& other, std::int64_t now_ns);

    /// Leaves all groups at once (v1 knows no leaving). The end: nothing more is planned.
    void leave(std::int64_t now_ns, ReportSender& sender);

    /// The version spoken now.
    [[nodiscard]] unsigned version(std::int64_t now_ns) const;

    [[nodiscard]] std::size_t groups_count() const { return groups_.size(); }

    static constexpr std::size_t frames_per_step_max = 32;

  private:
    void send_v3(IgmpRecord record, std::span<const Ipv4> groups, ReportSender& sender);
    void send_one(Ipv4 group, unsigned version, ReportSender& sender);
    std::size_t send_due(std::int64_t now_ns, IgmpRecord record, std::vector<std::int64_t>& due_ns,
                         std::size_t frames_left, ReportSender& sender);
    void plan_answer(std::size_t index, std::int64_t due_ns);
    void forget_plans();
    [[nodiscard]] std::int64_t random_delay(std::int64_t max_ns);

    std::vector<Ipv4> groups_;                 ///< sorted, each once
    std::vector<std::int64_t> answer_due_ns_;  ///< per group; never: no answer is owed
    std::vector<std::int64_t> report_due_ns_;  ///< per group: the next unsolicited report
    std::vector<Ipv4> batch_;                  ///< the groups of the report being written
    IgmpHost host_;
    unsigned version_max_;
    unsigned repeats_left_ = 0;  ///< unsolicited rounds still to come
    std::int64_t repeat_due_ns_ = 0;
    std::int64_t v1_until_ns_ = 0;
    std::int64_t v2_until_ns_ = 0;
    std::int64_t answers_not_before_ns_ = 0;
    std::uint64_t random_;
    std::array<std::byte, igmp_frame_bytes_max> frame_{};
};

}  // namespace pinstrike::nic
