// path: cold
#include "actors/gateway/gateway.h"

#include "config/time_units.h"
#include "config/wall_time.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <utility>

namespace pinstrike::actors::gateway {
namespace {

constexpr std::int64_t status_turn_ns = 100'000'000;
/// How long clients may take to read the last bytes when the gateway ends.
constexpr std::int64_t drain_ns = 2 * second_ns;

}  // namespace

Gateway::Gateway(GatewayConfig config, NoteGateway note)
    : config_(std::move(config)),
      note_(std::move(note)),
      source_(config_.feed, config_.underlyings, *this),
      replays_(config_, *this),
      clients_(config_, market_, replays_, note_) {}

/// A client connects again after an error record, and does not after a plain end.
void Gateway::run(Requests& requests) {
    ::prctl(PR_SET_TIMERSLACK, 1);  // by default a sleep lasts 50 us longer
    while (!requests.stop.load(std::memory_order_relaxed)) {
        if (requests.reload.exchange(false, std::memory_order_relaxed)) {
            clients_.reload_keys();
        }
        if (step() == 0) {
            rest();
            continue;
        }
        nap_.worked(now_ns_);
    }
    const bool restarts = requests.restarts.load(std::memory_order_relaxed);
    clients_.server().stop_accepting(requests.socket_is_kept);
    clients_.end_all(SessionEnding::shutdown,
                     restarts ? "Internal error: the gateway restarts, connect again" : "");
    clients_.close_all(wall_ns() + drain_ns);
    take_status();
}

/// Sleeps if there has been no work for some time: until a socket has work, or for a time that
/// grows.
void Gateway::rest() {
    if (config_.wait != WaitStrategy::park) {
        return;
    }
    if (const std::int64_t nap_ns = nap_.next(now_ns_); nap_ns != 0) {
        clients_.server().wait(nap_ns);
    }
}

std::size_t Gateway::step() {
    now_ns_ = wall_ns();
    const std::size_t events = source_.poll(now_ns_);
    clients_.set_time(now_ns_, 0);  // what advance() makes is of no event
    time_.advance(now_ns_);
    const std::size_t sockets = clients_.step(now_ns_);
    if (since(status_ns_, now_ns_) >= status_turn_ns) {
        status_ns_ = now_ns_;
        take_status();
    }
    return events + sockets;
}

void Gateway::on_state(std::span<const pinstrike_value> values, StatePart part) {
    if (part.is_fresh) {
        time_.begin();
        market_.forget_values();
        places_.clear();
        note_(GatewayNote::feed_attached, "feed " + config_.feed,
              fmt::format("{} series", values.size()));
        clients_.set_feed_problem("");
    } else if (part.begins) {
        market_.begin_state(part.core);
    }
    if (!market_.take_state(values, part.is_complete)) {
        forget_series();
        static_cast<void>(market_.take_state(values, part.is_complete));
    }
    if (part.is_complete && part.is_fresh) {
        clients_.send_states(nullptr);
    } else if (part.is_complete) {
        const CoreSeries series = market_.end_state(part.core);
        clients_.send_states(&series);
    }
}

/// Ids name other series than before, so no session can go on.
void Gateway::forget_series() {
    clients_.end_all(SessionEnding::feed,
                     "Internal error: the feed's list of series changed, connect again");
    market_.clear();
}

void Gateway::on_dropped() {
    market_.counters().bump(MarketCount::read);
    market_.counters().bump(MarketCount::without_id);
}

/// Records bear the time after their events were read, so that no record is sent before its event
/// was received.
void Gateway::on_batch(std::int64_t received_ns) {
    now_ns_ = wall_ns();
    clients_.set_time(now_ns_, received_ns);
}

void Gateway::on_event(const pinstrike_record& record) {
    time_.note(record, now_ns_);
    if (!config_.record.empty()) {
        places_.note(record);
    }
    if (!market_.apply(record)) {
        forget_series();
    }
}

void Gateway::on_missed(std::uint64_t records) {
    market_.counters().bump(MarketCount::missed, records);
    note_(GatewayNote::missed, "gateway",
          fmt::format("{} records of the feed were overwritten before they were read", records));
    clients_.report(ErrorCode::skipped,
                    fmt::format("Slow client detected for the gateway itself: it missed {} records "
                                "of the feed; present values follow",
                                records));
}

void Gateway::on_lost(const std::string& why) {
    note_(GatewayNote::feed_lost, "feed " + config_.feed, why);
    clients_.set_feed_problem(
        fmt::format("Internal error: {}; values are old until the feed is back", why));
}

void Gateway::take_status() {
    GatewayStatus status{.users = clients_.users(),
                         .connections = clients_.server().connections(),
                         .instruments = market_.instruments().count(),
                         .waiting_events = source_.waiting(),
                         .feed_live = source_.is_live(),
                         .stepped_ns = now_ns_};
    for (const auto& [name, user] : status.users) {
        status.sessions += user.sessions;
    }
    const std::lock_guard lock{status_mutex_};
    status_ = std::move(status);
}

GatewayStatus Gateway::status() const {
    const std::lock_guard lock{status_mutex_};
    return status_;
}

}  // namespace pinstrike::actors::gateway
