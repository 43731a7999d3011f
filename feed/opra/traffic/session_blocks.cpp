// path: cold
//
// The packing of messages into blocks, their numbers, and the passing of time.
#include "config/check.h"
#include "config/time_units.h"
#include "feed/opra/layout.h"
#include "feed/opra/traffic/traffic_session.h"

#include <algorithm>
#include <utility>

namespace pinstrike::feed::opra::traffic {

namespace {

constexpr std::int64_t housekeep_every_ns = second_ns;
constexpr std::int64_t integrity_after_ns = 8 * second_ns;  // at least every 10 s (OPRA Control)
constexpr double ordinary_messages = 2.26;                  // measured mean per block
constexpr double burst_ns = 2e6;
constexpr unsigned any_count = block::messages_max;
constexpr std::int64_t control_spacing_ns = 1'000;

wire::Message control_message(char type, char participant) {
    wire::Message message{{}, wire::Control{}};
    message.header.participant = participant;
    message.header.type = type;
    return message;
}

}  // namespace

void TrafficSession::advance() {
    const double share = config_.shape == PacketShape::blend ? config_.burst_share : 0;
    const double ordinary_rate = config_.rate_messages_per_second /
                                 (1 - share + share * std::max(config_.burst_factor, 1.0));
    const double rate = bursting_ ? ordinary_rate * config_.burst_factor : ordinary_rate;
    pass_time_to(now_ns_ + static_cast<std::int64_t>(random_.exponential(second_ns / rate)));
}

void TrafficSession::pass_time_to(std::int64_t ts_ns) {
    while (housekeep_ns_ <= ts_ns) {
        now_ns_ = std::max(now_ns_, housekeep_ns_);
        housekeep_ns_ += housekeep_every_ns;
        housekeep();
    }
    now_ns_ = std::max(now_ns_, ts_ns);
    if (config_.shape == PacketShape::blend && now_ns_ >= burst_switch_ns_) {
        switch_burst();
    }
}

/// Makes sure that no message waits longer than a second in a block that is not full, and that no
/// line is silent for ten seconds.
void TrafficSession::housekeep() {
    for (const LineIndex i : indices_of(lines_)) {
        Line& line = lines_[i];
        flush(line);
        if (line.use != LineUse::maps && now_ns_ - line.sent_ns >= integrity_after_ns) {
            const wire::Message heartbeat = control_message('N', 'O');
            line.session = session_of(line, 'O');
            send(line, {&heartbeat, 1}, line.last, BlockRole::line_integrity);
        }
    }
}

void TrafficSession::switch_burst() {
    if (bursting_) {
        flush_all();
    }
    bursting_ = !bursting_ && config_.burst_share > 0;
    const double share = std::clamp(config_.burst_share, 0.001, 1.0);
    const double mean_ns = bursting_ ? burst_ns : burst_ns * (1 - share) / share;
    burst_switch_ns_ = now_ns_ + 1 + static_cast<std::int64_t>(random_.exponential(mean_ns));
}

/// The session indicator. On GTH lines it is X for OPRA's own messages, and the weekday of the
/// trade date for messages of the exchanges.
std::uint8_t TrafficSession::session_of(const Line& line, char participant) const {
    return line.use != LineUse::gth ? 0 : participant == 'O' ? 'X' : trade_weekday_;
}

void TrafficSession::post(LineIndex index, wire::Message message) {
    Line& line = lines_[index];
    const std::size_t bytes = encoded_bytes(message);
    const std::uint8_t session = session_of(line, message.header.participant);
    if (!line.pending.empty() &&
        (line.session != session || line.pending_bytes + bytes > block::bytes_max)) {
        flush(line);
    }
    if (line.pending.empty()) {
        const bool full = config_.shape == PacketShape::full || bursting_;
        line.wanted_count = full ? any_count : random_.geometric(ordinary_messages);
        if (config_.messages_per_packet != 0) {
            line.wanted_count = config_.messages_per_packet;
        }
        line.pending_bytes = block::header_bytes;
        line.session = session;
    }
    line.pending_bytes += bytes;
    line.pending.push_back(std::move(message));
    ++messages_;
    if (line.pending.size() >= line.wanted_count) {
        flush(line);
    }
}

void TrafficSession::post_alone(LineIndex index, const wire::Message& message) {
    Line& line = lines_[index];
    flush(line);
    post(index, message);
    flush(line);
}

void TrafficSession::control(LineIndex index, char type, char participant) {
    pass_time_to(now_ns_ + control_spacing_ns);
    post_alone(index, control_message(type, participant));
}

/// Sends a control of type C or K with the number `sequence`, which no data message has. The next
/// message has the number `sequence` + 1.
void TrafficSession::restart_number(LineIndex index, char type, std::uint32_t sequence) {
    pass_time_to(now_ns_ + control_spacing_ns);
    Line& line = lines_[index];
    flush(line);
    const wire::Message message = control_message(type, 'O');
    line.session = session_of(line, 'O');
    send(line, {&message, 1}, sequence, type == 'C' ? BlockRole::start_of_day : BlockRole::reset);
    line.last = sequence;
    line.next = sequence + 1;
}

void TrafficSession::flush(Line& line) {
    if (line.pending.empty()) {
        return;
    }
    const std::vector<wire::Message> messages = std::exchange(line.pending, {});
    roll_over(line, messages.size());
    send(line, messages, line.next, BlockRole::data);
    const std::uint64_t last = std::uint64_t{line.next} + messages.size() - 1;
    line.last = static_cast<std::uint32_t>(last > sequence_max ? last - sequence_max : last);
    line.next = line.last == sequence_max ? 1 : line.last + 1;
}

/// If the config says to announce the wrap, sends a K with number 1 before the block that would
/// reach the wrap.
void TrafficSession::roll_over(Line& line, std::size_t messages_count) {
    if (!config_.rollover_reset || std::uint64_t{line.next} + messages_count <= sequence_max) {
        return;
    }
    const wire::Message message = control_message('K', 'O');
    const std::uint8_t session = std::exchange(line.session, session_of(line, 'O'));
    resets_lower_ = false;
    send(line, {&message, 1}, 1, BlockRole::reset);
    resets_lower_ = true;
    line.session = session;
    line.last = 1;
    line.next = 2;
}

void TrafficSession::flush_all() {
    for (Line& line : lines_) {
        flush(line);
    }
}

void TrafficSession::send(Line& line, std::span<const wire::Message> messages,
                          std::uint32_t sequence, BlockRole role) {
    now_ns_ = std::max(now_ns_, last_block_ns_ + 1);  // no two blocks have the same time
    last_block_ns_ = now_ns_;
    SentBlock out;
    out.line = static_cast<LineIndex>(&line - lines_.data());
    out.line_number = line.number;
    out.header.session = line.session;
    out.header.sequence = sequence;
    out.header.seconds = static_cast<std::uint32_t>(now_ns_ / second_ns);
    out.header.nanoseconds = static_cast<std::uint32_t>(now_ns_ % second_ns);
    out.ts_ns = now_ns_;
    out.role = role;
    out.lowers = resets_lower_;
    out.disaster_site = disaster_site_;
    out.messages = messages;
    BlockBuilder builder{buffer_};
    builder.begin(out.header);
    for (const wire::Message& message : messages) {
        PINSTRIKE_CHECK(builder.add(message));
    }
    out.bytes = builder.finish();
    line.sent_ns = now_ns_;
    ++blocks_;
    sink_.block(out);
}

}  // namespace pinstrike::feed::opra::traffic
