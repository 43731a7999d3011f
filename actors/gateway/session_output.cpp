// path: cold
#include "actors/gateway/session_output.h"

#include "config/time_units.h"
#include "config/wall_time.h"
#include "feed/dbn/metadata.h"
#include "feed/dbn/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pinstrike::actors::gateway {
namespace {

using feed::dbn::RecordType;
using feed::dbn::Schema;
using feed::dbn::SystemRecord;

template <class Record, class Code>
Record own_record(RecordType type, Code code, std::string_view text, std::int64_t event_ns) {
    Record record;
    record.header = feed::dbn::header_of<Record>(type, 0, 0, static_cast<std::uint64_t>(event_ns));
    const std::size_t bytes_max = record.text.size() - 1;
    protocol_text(text, bytes_max).copy(record.text.data(), bytes_max);
    record.code = static_cast<std::uint8_t>(code);
    return record;
}

}  // namespace

void SessionOutput::put_line(std::string_view line) {
    queue_.append(std::as_bytes(std::span{line}));
}

void SessionOutput::start(const OutputSettings& settings, std::int64_t now_ns) {
    settings_ = settings;
    now_ns_ = last_put_ns_ = now_ns;
    if (settings.zstd) {
        queue_.compress();
    }
    queue_.append(feed::dbn::live_metadata(feed::dbn::dataset, now_ns, settings.ts_out));
    if (settings.ts_out) {
        queue_.add_send_times();
    }
}

/// Values that a later record replaces may be left out; others never.
bool SessionOutput::is_skippable(Schema schema) const {
    return has_values(schema) && settings_.slow_reader == SlowReader::skip;
}

bool SessionOutput::is_above_rate() {
    if (settings_.records_per_second == 0 || limited_) {
        return limited_;  // until step() gives the client error 7, also if a new second has begun
    }
    if (const std::int64_t second = now_ns_ / second_ns; second != rate_second_) {
        rate_second_ = second;
        rate_records_ = 0;
    }
    return ++rate_records_ > settings_.records_per_second;
}

std::size_t SessionOutput::rate_left() const {
    if (settings_.records_per_second == 0) {
        return SIZE_MAX;
    }
    const std::uint64_t used = now_ns_ / second_ns == rate_second_ ? rate_records_ : 0;
    return settings_.records_per_second - std::min(used, settings_.records_per_second);
}

bool SessionOutput::admit(Schema schema) {
    counters_.bump(SessionCount::records);
    const std::size_t bytes = queue_.bytes();
    const bool skippable = is_skippable(schema);
    limited_ |= is_above_rate();
    skipping_ |= skippable && bytes > settings_.queue_bytes / 2;
    overflowed_ |= !skippable && bytes > settings_.queue_bytes;
    if (limited_ || overflowed_ || (skippable && skipping_)) {
        counters_.bump(SessionCount::skipped);
        ++skipped_now_;
        return false;
    }
    if (!skippable && bytes > settings_.queue_bytes / 4 && since(warned_ns_, now_ns_) > second_ns) {
        warned_ns_ = now_ns_;
        put_system(SystemCode::slow_reader,
                   fmt::format("Warning: slow reading, {} bytes wait of at most {}", bytes,
                               settings_.queue_bytes));
    }
    return true;
}

void SessionOutput::put(std::span<const std::byte> record) {
    queue_.append_record(record, static_cast<std::uint64_t>(now_ns_), event_ns_);
    last_put_ns_ = now_ns_;
}

void SessionOutput::put_own(std::span<const std::byte> record) {
    static_cast<void>(is_above_rate());  // it counts, and is sent in any case
    put_always(record);
}

void SessionOutput::put_always(std::span<const std::byte> record) {
    counters_.bump(SessionCount::records);
    overflowed_ |= queue_.bytes() > settings_.queue_bytes;
    put(record);
}

void SessionOutput::put_system(SystemCode code, std::string_view text) {
    put_always(
        feed::dbn::bytes_of(own_record<SystemRecord>(RecordType::system, code, text, now_ns_)));
}

void SessionOutput::put_interval_end(Schema schema, std::int64_t end_ns) {
    put_own(feed::dbn::bytes_of(own_record<SystemRecord>(
        RecordType::system, SystemCode::interval_ended,
        fmt::format("End of interval for {}", feed::dbn::name_of(schema)), end_ns)));
}

void SessionOutput::put_error(ErrorCode code, std::string_view text, bool is_last) {
    auto record = own_record<feed::dbn::ErrorRecord>(RecordType::error, code, text, now_ns_);
    record.is_last = is_last ? 1 : 0;
    put_always(feed::dbn::bytes_of(record));
}

void SessionOutput::step(std::int64_t now_ns) {
    now_ns_ = now_ns;
    if (since(last_put_ns_, now_ns) >= settings_.heartbeat_seconds * second_ns) {
        put_system(SystemCode::heartbeat, "Heartbeat");
    }
    const bool rate_is_free = limited_ && now_ns / second_ns != rate_second_;
    if ((!skipping_ && !rate_is_free) || !is_current()) {
        return;
    }
    const std::uint64_t skipped = std::exchange(skipped_now_, 0);
    put_error(ErrorCode::skipped,
              limited_ ? fmt::format("Slow client detected for records_per_second, the key's limit "
                                     "of {}: {} records skipped",
                                     settings_.records_per_second, skipped)
                       : fmt::format("Slow client detected for {}: {} records skipped",
                                     feed::dbn::dataset, skipped));
    skipping_ = limited_ = false;
}

const SessionCounters& SessionOutput::counters() {
    counters_.at(SessionCount::sent).set(queue_.records_sent());
    counters_.at(SessionCount::bytes).set(queue_.bytes_sent());
    return counters_;
}

void SessionOutput::give_up() {
    counters_.at(SessionCount::unsent).set(queue_.records_appended() - queue_.records_sent());
}

}  // namespace pinstrike::actors::gateway
