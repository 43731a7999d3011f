// path: cold
#include "nic/multicast/membership.h"

#include "config/time_units.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace pinstrike::nic {

namespace {

constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();

// RFC 3376, 8: robustness variable 2, query interval 125 s, response interval 10 s.
constexpr unsigned robustness = 2;
constexpr std::int64_t older_querier_ns = (robustness * 125 + 10) * second_ns;
constexpr std::int64_t v3_unsolicited_interval_ns = 1 * second_ns;
constexpr std::int64_t v2_unsolicited_interval_ns = 10 * second_ns;

/// Limits answers to ten rounds a second, because a faulty querier may send many queries with a
/// short response time.
constexpr std::int64_t answers_interval_ns = second_ns / 10;

}  // namespace

GroupMembership::GroupMembership(MembershipConfig config, std::uint64_t seed)
    : groups_(std::move(config.groups)),
      host_(config.host),
      version_max_(config.version),
      random_(seed * 2 + 1) {
    std::sort(groups_.begin(), groups_.end());
    groups_.erase(std::unique(groups_.begin(), groups_.end()), groups_.end());
    answer_due_ns_.assign(groups_.size(), never_ns);
    report_due_ns_.assign(groups_.size(), never_ns);
    batch_.reserve(igmp_report_groups_max);
}

std::int64_t GroupMembership::random_delay(std::int64_t max_ns) {
    random_ ^= random_ << 13;  // xorshift64 suffices, because it only spreads answers in time
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return static_cast<std::int64_t>(random_ % (static_cast<std::uint64_t>(max_ns) + 1));
}

unsigned GroupMembership::version(std::int64_t now_ns) const {
    const unsigned heard = now_ns < v1_until_ns_ ? 1 : now_ns < v2_until_ns_ ? 2 : 3;
    return std::min(version_max_, heard);
}

void GroupMembership::forget_plans() {
    std::fill(answer_due_ns_.begin(), answer_due_ns_.end(), never_ns);
    std::fill(report_due_ns_.begin(), report_due_ns_.end(), never_ns);
    repeats_left_ = 0;
}

void GroupMembership::announce(std::int64_t now_ns) {
    std::fill(report_due_ns_.begin(), report_due_ns_.end(), now_ns);
    repeats_left_ = robustness - 1;
    const std::int64_t interval_ns =
        version(now_ns) == 3 ? v3_unsolicited_interval_ns : v2_unsolicited_interval_ns;
    repeat_due_ns_ = now_ns + random_delay(interval_ns);
}

GroupMembership GroupMembership::with(std::span<const Ipv4> groups) const {
    MembershipConfig config{groups_, host_, version_max_};
    config.groups.insert(config.groups.end(), groups.begin(), groups.end());
    return {std::move(config), random_};
}

void GroupMembership::adopt_groups(GroupMembership& other, std::int64_t now_ns) {
    groups_.swap(other.groups_);
    answer_due_ns_.swap(other.answer_due_ns_);
    report_due_ns_.swap(other.report_due_ns_);
    announce(now_ns);  // this also answers every query that is pending
}

void GroupMembership::plan_answer(std::size_t index, std::int64_t due_ns) {
    answer_due_ns_[index] = std::min(answer_due_ns_[index], due_ns);
}

void GroupMembership::on_frame(std::span<const std::byte> frame, std::int64_t now_ns) {
    const std::optional<IgmpQuery> query = parse_igmp_query(frame);
    if (!query) {
        return;
    }
    const unsigned version_before = version(now_ns);
    if (query->version == 1) {
        v1_until_ns_ = now_ns + older_querier_ns;
    } else if (query->version == 2) {
        v2_until_ns_ = now_ns + older_querier_ns;
    }
    if (version(now_ns) != version_before) {
        forget_plans();  // RFC 3376, 7.2.1; this query is answered in the new version
    }
    const std::int64_t earliest_ns = std::max(now_ns, answers_not_before_ns_);
    const std::int64_t max_ns = query->max_response_ns;
    if (query->group != Ipv4{}) {
        const auto found = std::lower_bound(groups_.begin(), groups_.end(), query->group);
        if (found != groups_.end() && *found == query->group) {
            plan_answer(static_cast<std::size_t>(found - groups_.begin()),
                        earliest_ns + random_delay(max_ns));
        }
        return;
    }
    // v3 answers for all groups at one time; older versions send one report per group, each with a
    // delay of its own.
    const std::int64_t common_ns = earliest_ns + random_delay(max_ns);
    for (std::size_t i = 0; i < groups_.size(); ++i) {
        plan_answer(i, version(now_ns) == 3 ? common_ns : earliest_ns + random_delay(max_ns));
    }
}

void GroupMembership::send_v3(IgmpRecord record, std::span<const Ipv4> groups,
                              ReportSender& sender) {
    const std::size_t bytes = write_v3_report(frame_, host_, record, groups);
    sender.send(std::span(frame_).first(bytes));
}

void GroupMembership::send_one(IgmpMessage message, Ipv4 group, ReportSender& sender) {
    const std::size_t bytes = write_message(frame_, host_, message, group);
    sender.send(std::span(frame_).first(bytes));
}

/// Sends the reports whose times in `due_ns` have come, in at most `frames_left` frames, and clears
/// these times. Returns the number of frames sent.
std::size_t GroupMembership::send_due(std::int64_t now_ns, IgmpRecord record,
                                      std::vector<std::int64_t>& due_ns, std::size_t frames_left,
                                      ReportSender& sender) {
    const unsigned spoken = version(now_ns);
    std::size_t frames = 0;
    batch_.clear();
    for (std::size_t i = 0; i < groups_.size() && frames < frames_left; ++i) {
        if (due_ns[i] > now_ns) {
            continue;
        }
        due_ns[i] = never_ns;
        if (spoken < 3) {
            send_one(spoken == 1 ? IgmpMessage::v1_report : IgmpMessage::v2_report, groups_[i],
                     sender);
            ++frames;
            continue;
        }
        batch_.push_back(groups_[i]);
        if (batch_.size() == igmp_report_groups_max) {
            send_v3(record, batch_, sender);
            batch_.clear();
            ++frames;
        }
    }
    if (!batch_.empty()) {
        send_v3(record, batch_, sender);
        ++frames;
    }
    return frames;
}

void GroupMembership::step(std::int64_t now_ns, ReportSender& sender) {
    if (repeats_left_ > 0 && now_ns >= repeat_due_ns_) {
        --repeats_left_;
        std::fill(report_due_ns_.begin(), report_due_ns_.end(), now_ns);
    }
    const std::size_t reports =
        send_due(now_ns, IgmpRecord::join, report_due_ns_, frames_per_step_max, sender);
    const std::size_t answers = send_due(now_ns, IgmpRecord::is_joined, answer_due_ns_,
                                         frames_per_step_max - reports, sender);
    if (answers > 0) {
        answers_not_before_ns_ = now_ns + answers_interval_ns;
    }
}

void GroupMembership::leave(std::int64_t now_ns, ReportSender& sender) {
    forget_plans();
    const unsigned spoken = version(now_ns);
    if (spoken == 3) {
        for (std::size_t at = 0; at < groups_.size(); at += igmp_report_groups_max) {
            const std::size_t count = std::min(igmp_report_groups_max, groups_.size() - at);
            send_v3(IgmpRecord::leave, std::span(groups_).subspan(at, count), sender);
        }
    } else if (spoken == 2) {
        for (const Ipv4 group : groups_) {
            send_one(IgmpMessage::v2_leave, group, sender);
        }
    }
}

}  // namespace pinstrike::nic
