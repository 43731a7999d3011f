// path: cold
#include "actors/gateway/session_replays.h"

#include <fmt/format.h>

#include <utility>

namespace pinstrike::actors::gateway {

using feed::dbn::Schema;
using Phase = SessionReplay::Phase;

bool is_recorded(const Request& request) {
    return request.has_start && request.schema != Schema::definition &&
           request.schema != Schema::statistics;
}

void SessionReplays::add(const Request& request) {
    if (replays_.empty() || replays_.back()->phase() != Phase::waiting) {
        replays_.push_back(std::make_unique<SessionReplay>(SessionReplay::Setup{
            host_.market(), host_.replays().feed(), client_, host_.replays().kept_bytes()}));
    }
    replays_.back()->selection().add(request);
    is_whole_ = request.is_last;
}

std::optional<SessionReplays::End> SessionReplays::work(std::int64_t now_ns) {
    if (replays_.empty()) {
        return std::nullopt;
    }
    SessionReplay& replay = *replays_.front();
    if (replay.phase() == Phase::waiting) {
        const bool is_ready = (replays_.size() > 1 || is_whole_) && host_.market().has_state();
        return is_ready ? start(replay) : std::nullopt;
    }
    replay.work(now_ns);
    if (replay.take_joined()) {
        report_joined(replay);
    }
    if (replay.phase() == Phase::failed) {
        const SessionReplay::Failure& failure = replay.failure();
        return End{SessionEnding::replay, static_cast<ErrorCode>(failure.code), failure.text};
    }
    if (replay.phase() == Phase::over) {
        replays_.pop_front();
    }
    return std::nullopt;
}

std::optional<SessionReplays::End> SessionReplays::start(SessionReplay& replay) {
    ReplayHost::Started started = host_.replays().start(key_, replay.selection().wanted());
    if (started.source == nullptr) {
        client_.output.count(SessionCount::refusals);
        return End{SessionEnding::limit, ErrorCode::invalid_subscription, started.refusal};
    }
    replay.begin(std::move(started.source));
    return std::nullopt;
}

/// Live records follow.
void SessionReplays::report_joined(SessionReplay& replay) {
    if (const std::string lack = replay.lack(); !lack.empty()) {
        client_.output.put_error(ErrorCode::skipped,
                                 fmt::format("Slow client detected for the recording: {}", lack));
    }
    for (const ReplayWanted& wanted : replay.selection().wanted()) {
        client_.output.put_system(
            SystemCode::replay_completed,
            fmt::format("Finished {} replay", feed::dbn::name_of(wanted.schema)));
    }
}

bool SessionReplays::receive(Schema schema, InstrumentId id, std::span<const std::byte> record) {
    for (const auto& replay : replays_) {
        if (replay->selection().has(schema, id)) {
            replay->keep(schema, id, record, 0);
            return true;
        }
    }
    return false;
}

bool SessionReplays::interval_ended(Schema schema, std::int64_t end_ns) {
    SessionReplay* const replay = find(schema);
    if (replay != nullptr) {
        replay->keep(schema, 0, {}, end_ns);
    }
    return replay != nullptr;
}

void SessionReplays::live_missed() {
    for (const auto& replay : replays_) {
        replay->live_missed();
    }
}

void SessionReplays::look_again() {
    for (const auto& replay : replays_) {
        replay->selection().look_again();
    }
}

SessionReplay* SessionReplays::find(Schema schema) const {
    for (const auto& replay : replays_) {
        if (replay->selection().has(schema)) {
            return replay.get();
        }
    }
    return nullptr;
}

}  // namespace pinstrike::actors::gateway
