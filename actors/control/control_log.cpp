// path: cold
#include "actors/control/control_log.h"

#include "actors/telemetry/counter_snapshot.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace pinstrike::actors {
namespace {

LogCode code_of(LogLevel level) {
    switch (level) {
        case LogLevel::error:
            return LogCode::dpdk_error;
        case LogLevel::warning:
            return LogCode::dpdk_warning;
        case LogLevel::info:
            return LogCode::dpdk_info;
        case LogLevel::debug:
            break;
    }
    return LogCode::dpdk_debug;
}

LogCode code_of(peer::PeerEvent::Kind kind) {
    constexpr std::array codes{LogCode::peer_connected,   LogCode::peer_lost,
                               LogCode::peer_refused,     LogCode::peer_turned_away,
                               LogCode::peer_state_taken, LogCode::peer_state_missing};
    return codes[static_cast<std::size_t>(kind)];
}

}  // namespace

ControlLog::ControlLog(LogLevel level)
    : writer_(STDERR_FILENO),
      log_({level, is_journal(STDERR_FILENO), [this](std::string_view line) { return write(line); },
            journal()}) {}

/// Null unless standard error goes to the journal.
const JournalWriter* ControlLog::journal() {
    return is_journal(STDERR_FILENO) ? &journal_.emplace() : nullptr;
}

bool ControlLog::write(std::string_view line) {
    if (last_lines_.size() == last_lines_max) {
        last_lines_.pop_front();
    }
    last_lines_.emplace_back(line.substr(0, line.size() - 1));
    return kept_ || writer_.write(line);
}

void ControlLog::add(LogCode code, std::string subject, std::string text) {
    log_.add({code, std::move(subject), std::move(text)});
}

void ControlLog::say(std::string_view text) {
    constexpr int patience_ms = 1000;
    static_cast<void>(writer_.write(text, patience_ms));
}

nic::dpdk::LogSink ControlLog::device_sink() const {
    return [queue = queue_](LogLevel level, std::string_view line) {
        queue->put({code_of(level), "dpdk", std::string{line}});
    };
}

/// All unknown hosts have one subject, however many there are.
peer::PeerListener ControlLog::peer_sink() const {
    return [queue = queue_](const peer::PeerEvent& event) {
        const bool stranger = event.kind == peer::PeerEvent::Kind::turned_away;
        queue->put({code_of(event.kind), stranger ? "strangers" : "peer " + event.peer,
                    stranger ? event.peer + ": " + event.text : event.text});
    };
}

RecorderListener ControlLog::recorder_sink() const {
    return [queue = queue_](RecorderNote note, std::string sentence) {
        queue->put({note == RecorderNote::repaired ? LogCode::recording_repaired
                                                   : LogCode::segment_not_removed,
                    "recorder", std::move(sentence)});
    };
}

RecoveredListener ControlLog::recovered_sink() const {
    return [queue = queue_](bool recovered, std::string text) {
        queue->put({recovered ? LogCode::state_recovered : LogCode::state_unrecovered, "recorder",
                    std::move(text)});
    };
}

void ControlLog::log_remarks(const Appliance& appliance) {
    for (const std::string& remark : appliance.remarks()) {
        if (std::find(remarks_logged_.begin(), remarks_logged_.end(), remark) ==
            remarks_logged_.end()) {
            remarks_logged_.push_back(remark);
            add(LogCode::remark, "feed " + appliance.config().name, remark);
        }
    }
}

void ControlLog::step() {
    fetch_mail();
    log_.step();
}

void ControlLog::fetch_mail() {
    const LogQueue::Taken taken = queue_->take();
    for (const LogQueue::Message& message : taken.messages) {
        log_.add(message.entry, message.time);
    }
    if (taken.left_out != 0) {
        add(LogCode::lines_left_out, "log", fmt::format("{} left out", taken.left_out));
    }
}

void ControlLog::look(const CounterSnapshot& counters) {
    for (const LogEntry& entry : watch_.look(counters)) {
        log_.add(entry);
    }
}

void ControlLog::finish(Appliance& appliance) {
    look(take_counter_snapshot(appliance));
    log_remarks(appliance);
    fetch_mail();
    log_.finish();
}

}  // namespace pinstrike::actors
