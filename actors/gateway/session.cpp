// path: cold
#include "actors/gateway/session.h"

#include "actors/gateway/access_log.h"
#include "actors/gateway/limits.h"
#include "config/check.h"
#include "config/wall_time.h"
#include "config/yaml.h"
#include "feed/dbn/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pinstrike::actors::gateway {
namespace {

using feed::dbn::Schema;

/// Series whose state is sent in one step, so that a step is short.
constexpr std::size_t states_each_step = 512;

std::size_t names_count(const std::vector<Request>& requests) {
    std::size_t count = 0;
    for (const Request& request : requests) {
        count += request.list.symbols.size();
    }
    return count;
}

template <std::size_t Count>
void put_symbol(std::array<char, Count>& field, std::string_view text) {
    text.copy(field.data(), Count - 1);
}

}  // namespace

Session::Session(SessionHost& host, SessionOrigin origin)
    : host_(host),
      origin_(std::move(origin)),
      login_{new_challenge(), {}},
      output_(host.chunks()),
      now_ns_(origin_.began_ns) {
    // In one write, because one client library expects a complete line in its first read.
    output_.put_line(fmt::format("lsg_version=pinstrike\ncram={}\n", login_.challenge));
}

void Session::read(std::string_view text, std::int64_t now_ns) {
    now_ns_ = now_ns;
    input_.text.append(text);
    read_lines();
}

void Session::read_lines() {
    std::size_t begin = 0;
    std::size_t found = input_.text.find('\n', input_.searched);
    for (unsigned i = 0; i < lines_each_step && found != std::string::npos; ++i) {
        read_line(std::string_view{input_.text}.substr(begin, found - begin));
        begin = found + 1;
        found = input_.text.find('\n', begin);
    }
    input_.text.erase(0, phase_ == Phase::ended ? input_.text.size() : begin);
    input_.has_lines = phase_ != Phase::ended && found != std::string::npos;
    input_.searched = input_.has_lines ? 0 : input_.text.size();
    const std::size_t bytes_max = phase_ == Phase::login ? login_bytes_max : line_bytes_max;
    if (!input_.has_lines && input_.text.size() > bytes_max) {
        input_.text.clear();
        input_.searched = 0;
        end(SessionEnding::request, ErrorCode::invalid_subscription,
            fmt::format("found a line of more than {} bytes", bytes_max));
    }
}

void Session::read_line(std::string_view line) {
    if (line.ends_with('\r')) {
        line.remove_suffix(1);
    }
    if (phase_ == Phase::login) {
        read_login(line);
    } else if (phase_ == Phase::ended) {
        return;
    } else if (!held_error_) {
        read_request(line);
    } else if (line.starts_with("start_session")) {
        start();
    }
}

void Session::read_login(std::string_view line) {
    Parsed<LoginRequest> parsed = parse_login(line);
    if (!parsed.value) {
        return refuse_login(SessionEnding::login, parsed.error);
    }
    const ClientKey* const key = authenticate(host_.keys(), login_.challenge, parsed.value->auth);
    if (key == nullptr) {
        return refuse_login(SessionEnding::login, "CRAM authentication failed");
    }
    key_ = *key;
    if (host_.sessions_of(key->user) >= key->sessions) {
        output_.count(SessionCount::refusals);
        return refuse_login(
            SessionEnding::limit,
            fmt::format("User has reached their open connection limit: sessions {} of {}",
                        key->sessions, key->user));
    }
    PINSTRIKE_CHECK(subscriptions_ == nullptr && early_requests_.empty());
    login_.request = std::move(*parsed.value);
    subscriptions_ = std::make_unique<Subscriptions>(
        static_cast<RecordReceiver&>(*this), host_.market(), key_, host_.config().underlyings);
    replays_ = std::make_unique<SessionReplays>(host_, output_, key_, *subscriptions_,
                                                [this](InstrumentId id) { map(id); });
    phase_ = Phase::subscribing;
    output_.put_line(fmt::format("success=1|session_id={}\n", origin_.number));
}

void Session::refuse_login(SessionEnding why, std::string_view text) {
    output_.put_line(fmt::format("success=0|error={}\n", protocol_text(text, 300)));
    ending_ = why;
    phase_ = Phase::ended;
}

void Session::read_request(std::string_view line) {
    Parsed<Request> parsed = parse_request(line);
    if (!parsed.value) {
        output_.count(SessionCount::refusals);
        return end(SessionEnding::request, ErrorCode::invalid_subscription, parsed.error);
    }
    if (parsed.value->kind == Request::Kind::start) {
        return start();
    }
    if (output_.counters().read(SessionCount::subscriptions) >= key_.subscriptions) {
        output_.count(SessionCount::refusals);
        return end(SessionEnding::limit, ErrorCode::invalid_subscription,
                   fmt::format("the key's limit subscriptions is {} lines", key_.subscriptions));
    }
    if (subscriptions_->names_count() + names_count(early_requests_) > session_symbols_max) {
        output_.count(SessionCount::refusals);
        return end(SessionEnding::limit, ErrorCode::invalid_subscription,
                   fmt::format("a session may name {} symbols; parents such as SPX.OPT and "
                               "ALL_SYMBOLS have no such limit",
                               session_symbols_max));
    }
    if (const std::string objection = objection_to(*parsed.value); !objection.empty()) {
        output_.count(SessionCount::refusals);
        return end(SessionEnding::request, ErrorCode::invalid_subscription, objection);
    }
    output_.count(SessionCount::subscriptions);
    if (phase_ == Phase::subscribing) {
        early_requests_.push_back(std::move(*parsed.value));
    } else {
        apply(*parsed.value);
    }
}

std::string Session::objection_to(const Request& request) const {
    if (!is_recorded(request)) {
        return "";
    }
    if (!host_.replays().has_recording()) {
        return fmt::format(
            "start: found with schema {}, expected with definition or statistics: "
            "the gateway has no recording",
            feed::dbn::name_of(request.schema));
    }
    return request.start_ns <= now_ns_
               ? ""
               : fmt::format("start: found {}, expected a moment of the past",
                             time_text(request.start_ns));
}

void Session::put_metadata() {
    output_.start({.ts_out = login_.request.ts_out,
                   .zstd = login_.request.zstd,
                   .slow_reader = login_.request.slow_reader,
                   .heartbeat_seconds = login_.request.heartbeat_seconds,
                   .records_per_second = key_.records_per_second,
                   .queue_bytes = host_.config().queue_bytes},
                  now_ns_);
}

void Session::start() {
    if (phase_ == Phase::started) {
        return end(SessionEnding::request, ErrorCode::invalid_subscription,
                   "found a second start_session");
    }
    PINSTRIKE_CHECK(phase_ == Phase::subscribing && subscriptions_ != nullptr);
    put_metadata();
    phase_ = Phase::started;
    for (const Request& request : std::exchange(early_requests_, {})) {
        apply(request);
    }
    if (held_error_) {
        const HeldError error = std::move(*held_error_);
        held_error_.reset();
        return end(error.why, error.code, error.text);
    }
    if (!host_.feed_problem().empty()) {
        report(ErrorCode::internal, host_.feed_problem());
    }
}

void Session::apply(const Request& request) {
    if (request.kind == Request::Kind::unsubscribe) {
        return unsubscribe(request);
    }
    put_objections(request.list);
    const Selection selection = subscriptions_->add(request.schema, request.list);
    if (is_recorded(request)) {
        replays_->add(request);
    } else if (request.has_start || request.snapshot) {
        jobs_.add(request.schema, selection, host_.market().instruments().end(), request.has_start);
    }
    if (request.is_last) {
        output_.put_system(SystemCode::subscribed,
                           fmt::format("Subscription request {} for {} data succeeded", request.id,
                                       feed::dbn::name_of(request.schema)));
    }
}

void Session::put_objections(const SymbolList& list) {
    std::vector<std::string> objections;
    std::size_t more = 0;
    for (const std::string& symbol : list.symbols) {
        if (std::string text = list.all ? "" : subscriptions_->objection_to(symbol, list.type);
            !text.empty()) {
            output_.count(SessionCount::refusals);
            if (objections.size() < symbol_errors_max) {
                objections.push_back(std::move(text));
            } else {
                ++more;
            }
        }
    }
    if (more != 0) {
        objections.back() += fmt::format("; and {} more symbols of this line", more);
    }
    for (const std::string& text : objections) {
        output_.put_error(ErrorCode::symbol_failed, text, &text == &objections.back());
    }
}

void Session::unsubscribe(const Request& request) {
    jobs_.remove(request.schema, subscriptions_->remove(request.schema, request.list));
    replays_->look_again();
    if (request.is_last) {
        output_.put_system(SystemCode::unsubscribed,
                           fmt::format("Unsubscription request for {} data succeeded",
                                       feed::dbn::name_of(request.schema)));
    }
}

void Session::end(SessionEnding why, ErrorCode code, std::string_view text) {
    if (phase_ == Phase::ended) {
        return;
    }
    if (phase_ == Phase::login) {
        return refuse_login(why, text);
    }
    if (held_error_ && why != SessionEnding::shutdown) {
        return;
    }
    if (phase_ == Phase::subscribing && !text.empty()) {
        if (why != SessionEnding::shutdown) {
            held_error_ = HeldError{why, code, std::string{text}, now_ns_};
            return;
        }
        put_metadata();  // there is no time to wait for the start
    }
    if (!text.empty()) {
        output_.put_error(code, text);
    }
    PINSTRIKE_CHECK(subscriptions_ != nullptr && replays_ != nullptr);
    ending_ = why;
    phase_ = Phase::ended;
    held_error_.reset();
    jobs_.clear();
    replays_->clear();
    subscriptions_->remove_all();
}

void Session::report(ErrorCode code, std::string_view text) {
    if (phase_ == Phase::started) {
        output_.put_error(code, text);
    }
}

void Session::send_states(const CoreSeries* only) {
    if (phase_ != Phase::started) {
        return;
    }
    replays_->live_missed();
    for (std::size_t i = 0; i < feed::dbn::schemas_count; ++i) {
        const auto schema = static_cast<Schema>(i);
        if (replays_->has(schema)) {
            continue;  // the records follow
        }
        if (subscriptions_->has(schema) && (has_values(schema) || jobs_.replays(schema))) {
            jobs_.add(schema, subscriptions_->all_of(schema, only),
                      host_.market().instruments().end(), false);
        }
    }
}

void Session::step(std::int64_t now_ns) {
    now_ns_ = now_ns;
    if (input_.has_lines) {
        read_lines();
    }
    if (phase_ == Phase::login && since(origin_.began_ns, now_ns) > login_ns_max) {
        refuse_login(SessionEnding::login, "the login took too long");
    }
    if (held_error_ && since(held_error_->since_ns, now_ns) >= start_ns_max) {
        start();
    }
    if (phase_ != Phase::started) {
        return;
    }
    if (output_.overflowed()) {
        return end(SessionEnding::slow, ErrorCode::internal,
                   fmt::format("Internal error: the client stayed behind by more than its queue of "
                               "{} bytes holds",
                               host_.config().queue_bytes));
    }
    output_.step(now_ns);
    if (const auto ending = replays_->work(now_ns)) {
        return end(ending->why, ending->code, ending->text);
    }
    if (!jobs_.empty() && host_.market().has_state() && !output_.is_skipping()) {
        work_on_states();
    }
}

/// A series may take two records, of which one is its mapping.
void Session::work_on_states() {
    const std::size_t left = output_.rate_left();
    const std::size_t series_max =
        output_.is_current() ? std::min(states_each_step, left - left / 2) : 0;
    if (series_max == 0) {
        return;
    }
    const auto completed =
        jobs_.work(series_max, [this](Schema schema, InstrumentId id) { send_state(schema, id); });
    if (completed) {
        output_.put_system(SystemCode::replay_completed,
                           fmt::format("Finished {} replay", feed::dbn::name_of(*completed)));
    }
}

void Session::send_state(Schema schema, InstrumentId id) {
    host_.market().give_state(schema, id, now_ns_, [&](std::span<const std::byte> record) {
        map(id);
        output_.put_own(record);
    });
}

/// Sends the symbol of a series before its first record.
void Session::map(InstrumentId id) {
    if (id >= mapped_.size()) {
        mapped_.resize(std::max<std::size_t>(host_.market().instruments().end(), id + 1));
    }
    if (mapped_[id]) {
        return;
    }
    mapped_[id] = true;
    feed::dbn::SymbolMappingRecord record;
    record.header = feed::dbn::header_of<feed::dbn::SymbolMappingRecord>(
        feed::dbn::RecordType::symbol_mapping, 0, id, static_cast<std::uint64_t>(now_ns_));
    const auto [type, symbol] = subscriptions_->in_symbol_of(id);
    record.in_type = type;
    put_symbol(record.in_symbol, symbol);
    put_symbol(record.out_symbol, host_.market().instruments().symbol_of(id));
    output_.put_own(feed::dbn::bytes_of(record));
}

void Session::receive(Schema schema, InstrumentId id, std::span<const std::byte> record) {
    if (replays_->receive(schema, id, record)) {
        return;
    }
    if (schema == Schema::definition) {  // many may come at once
        return jobs_.add(schema, id);
    }
    if (!output_.admit(schema)) {
        if (has_values(schema)) {
            jobs_.add(schema, id);  // its values are old now
        }
        return;
    }
    if (!jobs_.empty() && jobs_.take_early(schema, id)) {
        send_state(schema, id);
    }
    map(id);
    output_.put(record);
}

void Session::interval_ended(Schema schema, std::int64_t end_ns) {
    if (phase_ == Phase::started && subscriptions_->has(schema) &&
        !replays_->interval_ended(schema, end_ns)) {
        output_.put_interval_end(schema, end_ns);
    }
}

}  // namespace pinstrike::actors::gateway
