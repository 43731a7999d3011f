// path: cold
#include "actors/control/control_log.h"

#include "actors/telemetry/counter_snapshot.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace pinstrike::command {
namespace {

actors::LogCode code_of(nic::dpdk::LogLevel level) {
    switch (level) {
        case nic::dpdk::LogLevel::error:
            return actors::LogCode::dpdk_error;
        case nic::dpdk::LogLevel::warning:
            return actors::LogCode::dpdk_warning;
        case nic::dpdk::LogLevel::info:
            return actors::LogCode::dpdk_info;
        case nic::dpdk::LogLevel::debug:
            break;
    }
    return actors::LogCode::dpdk_debug;
}

actors::LogCode code_of(actors::peer::PeerEvent::Kind kind) {
    switch (kind) {
        case actors::peer::PeerEvent::Kind::connected:
            return actors::LogCode::peer_connected;
        case actors::peer::PeerEvent::Kind::lost:
            return actors::LogCode::peer_lost;
        case actors::peer::PeerEvent::Kind::refused:
            return actors::LogCode::peer_refused;
        case actors::peer::PeerEvent::Kind::state_taken:
            return actors::LogCode::peer_state_taken;
        case actors::peer::PeerEvent::Kind::state_missing:
            return actors::LogCode::peer_state_missing;
        case actors::peer::PeerEvent::Kind::turned_away:
            break;
    }
    return actors::LogCode::peer_turned_away;
}

}  // namespace

DriveLog::DriveLog(LogLevel level)
    : writer_(STDERR_FILENO),
      log_({level, actors::is_journal(STDERR_FILENO),
            [this](std::string_view line) { return write(line); }, journal()}) {}

/// Null unless standard error goes to the journal.
const actors::JournalWriter* DriveLog::journal() {
    return actors::is_journal(STDERR_FILENO) ? &journal_.emplace() : nullptr;
}

bool DriveLog::write(std::string_view line) {
    if (last_lines_.size() == last_lines_max) {
        last_lines_.pop_front();
    }
    last_lines_.emplace_back(line.substr(0, line.size() - 1));
    return kept_ || writer_.write(line);
}

void DriveLog::add(actors::LogCode code, std::string subject, std::string text) {
    log_.add({code, std::move(subject), std::move(text)});
}

void DriveLog::say(std::string_view text) {
    constexpr int patience_ms = 1000;
    static_cast<void>(writer_.write(text, patience_ms));
}

nic::dpdk::LogSink DriveLog::device_sink() const {
    return [queue = queue_](nic::dpdk::LogLevel level, std::string_view line) {
        queue->put({code_of(level), "dpdk", std::string{line}});
    };
}

/// All unknown hosts have one subject, however many there are.
actors::peer::PeerListener DriveLog::peer_sink() const {
    return [queue = queue_](const actors::peer::PeerEvent& event) {
        const bool stranger = event.kind == actors::peer::PeerEvent::Kind::turned_away;
        queue->put({code_of(event.kind), stranger ? "strangers" : "peer " + event.peer,
                    stranger ? event.peer + ": " + event.text : event.text});
    };
}

void DriveLog::log_remarks(const actors::Appliance& appliance) {
    for (const std::string& remark : appliance.remarks()) {
        if (std::find(remarks_logged_.begin(), remarks_logged_.end(), remark) ==
            remarks_logged_.end()) {
            remarks_logged_.push_back(remark);
            add(actors::LogCode::remark, "feed " + appliance.config().name, remark);
        }
    }
}

void DriveLog::step() {
    fetch_mail();
    log_.step();
}

void DriveLog::fetch_mail() {
    const actors::LogQueue::Taken taken = queue_->take();
    for (const actors::LogQueue::Message& message : taken.messages) {
        log_.add(message.entry, message.time);
    }
    if (taken.left_out != 0) {
        add(actors::LogCode::lines_left_out, "log", fmt::format("{} left out", taken.left_out));
    }
}

void DriveLog::look(const actors::CounterSnapshot& counters) {
    for (const actors::LogEntry& entry : watch_.look(counters)) {
        log_.add(entry);
    }
}

void DriveLog::finish(actors::Appliance& appliance) {
    look(actors::take_counter_snapshot(appliance));
    log_remarks(appliance);
    fetch_mail();
    log_.finish();
}

}  // namespace pinstrike::command
