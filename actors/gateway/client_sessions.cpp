// path: cold
#include "actors/gateway/client_sessions.h"

#include "actors/market/reader_keys.h"
#include "config/time_units.h"
#include "config/wall_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pinstrike::actors::gateway {
namespace {

constexpr std::int64_t hour_ns = 3600 * second_ns;
/// How long a client may take to read the rest and close its connection after its session ended.
constexpr std::int64_t close_ns = 5 * second_ns;
constexpr std::int64_t restart_nap_ns = 1'000'000;
/// Events that were received so long ago are of a replayed day, and say nothing of the gateway.
constexpr std::int64_t replay_ns_min = 60 * second_ns;

/// The subject is the user, because the log remembers all subjects, and sessions are many.
std::string subject_of(const Session& session) {
    return "user " + session.key().user;
}

/// Logs a login that has succeeded or failed since the session was in phase `before`.
void note_login(const NoteGateway& note, const Session& session, Session::Phase before) {
    if (before == Session::Phase::login && session.phase() == Session::Phase::ended) {
        note(GatewayNote::login_refused, "address " + session.origin().address,
             std::string{row_of(session.ending()).sentence});
    } else if (before == Session::Phase::login && session.subscriptions() != nullptr) {
        note(GatewayNote::session_begun, subject_of(session),
             fmt::format("session {} from {} ({})", session.origin().number,
                         session.origin().address, session.client()));
    }
}

/// All records of a write count with the age of the oldest, so the clock is read once.
void count_write(const Write& write, Histogram& writes) {
    if (write.event_ns == 0) {
        return;
    }
    const std::int64_t age_ns = wall_ns() - write.event_ns;
    if (age_ns < replay_ns_min) {
        writes.record(age_ns, write.records);
    }
}

}  // namespace

struct ClientSessions::Client {
    Session session;
    std::uint32_t connection;
    bool finished = false;
    std::int64_t ended_ns = 0;  ///< 0: the session has not ended
    AccessEntry logged;         ///< the part that the access log has already

    Client(SessionHost& host, SessionOrigin origin, std::uint32_t at)
        : session(host, std::move(origin)), connection(at) {}
};

ClientSessions::ClientSessions(const GatewayConfig& config, Market& market, ReplayHost& replays,
                               const NoteGateway& note)
    : config_(config),
      market_(market),
      replays_(replays),
      note_(note),
      access_(config.access_log) {}

ClientSessions::~ClientSessions() {
    server_.reset();  // it may be sending from the queues of clients
}

bool ClientSessions::open(int inherited, Problems& problems) {
    ClientKeys keys_read;
    if (!read_client_keys(config_.keys, keys_read, problems) || !access_.open(problems)) {
        return false;
    }
    users_.keep(std::move(keys_read));
    times_.opened_ns = wall_ns();
    server_ = SocketServer::open(endpoint_of(config_.address), inherited, config_.connections_max,
                                 *this, problems);
    if (server_ != nullptr) {
        note_(GatewayNote::opened, "gateway",
              fmt::format("serves feed {} at {} to {} keys", config_.feed, config_.address,
                          keys().size()));
    }
    return server_ != nullptr;
}

std::size_t ClientSessions::step(std::int64_t now_ns) {
    now_ns_ = now_ns;
    if (const std::int64_t hour = now_ns / hour_ns; hour > std::exchange(times_.hour, hour)) {
        log_open_sessions(hour * hour_ns);
    }
    for (auto& [connection, client] : clients_) {
        const Session::Phase before = client->session.phase();
        client->session.step(now_ns_);
        note_login(note_, client->session, before);
        step_client(*client);
    }
    return server_->poll();
}

void ClientSessions::set_time(std::int64_t now_ns, std::int64_t received_ns) {
    now_ns_ = now_ns;
    for (auto& [connection, client] : clients_) {
        client->session.output().set_time(now_ns, received_ns);
    }
}

/// Sends what waits. An ended session without more to send closes its connection, and after some
/// time in any case.
void ClientSessions::step_client(Client& client) {
    if (!client.session.has_lines()) {
        server_->resume(client.connection);
    }
    const bool is_over = client.session.phase() == Session::Phase::ended;
    if (is_over) {
        client.ended_ns = client.ended_ns == 0 ? now_ns_ : client.ended_ns;
        if (since(client.ended_ns, now_ns_) > close_ns) {
            return server_->abort(client.connection);
        }
    }
    if (server_->is_sending(client.connection)) {
        return;
    }
    OutputQueue& queue = client.session.output().queue();
    if (const auto bytes = queue.next(); !bytes.empty()) {
        count_write(queue.take_offered(), totals_.writes);
        server_->send(client.connection, bytes);
    } else if (is_over && !std::exchange(client.finished, true)) {
        server_->finish(client.connection);
    }
}

bool ClientSessions::takes_more(std::uint32_t connection) const {
    return !clients_.at(connection)->session.has_lines();
}

bool ClientSessions::accepted(std::uint32_t connection, const std::string& address) {
    if (!address_limit_.allows(address, now_ns_)) {
        return false;
    }
    clients_.emplace(connection, std::make_unique<Client>(
                                     static_cast<SessionHost&>(*this),
                                     SessionOrigin{next_number_++, address, now_ns_}, connection));
    return true;
}

void ClientSessions::received(std::uint32_t connection, std::span<const std::byte> bytes) {
    Session& session = clients_.at(connection)->session;
    const Session::Phase before = session.phase();
    session.read({reinterpret_cast<const char*>(bytes.data()), bytes.size()},  // tidy: text
                 now_ns_);
    note_login(note_, session, before);
}

void ClientSessions::sent(std::uint32_t connection, std::size_t count) {
    Client& client = *clients_.at(connection);
    client.session.output().queue().sent(count);
    step_client(client);
}

void ClientSessions::closed(std::uint32_t connection) {
    const auto found = clients_.find(connection);
    if (found == clients_.end()) {
        return;  // it was not accepted
    }
    Session& session = found->second->session;
    session.output().give_up();
    const SessionCounters& counters = session.output().counters();
    for (std::size_t i = 0; i < SessionCounters::count; ++i) {
        const auto which = static_cast<SessionCount>(i);
        totals_.ended.bump(which, counters.read(which));
    }
    users_.add_ended(session.key().user, counters);
    totals_.endings.bump(session.ending());
    if (session.subscriptions() != nullptr) {
        write_access(*found->second, now_ns_);
        note_(GatewayNote::session_ended, subject_of(session),
              fmt::format("session {}: {}; {} records sent, {} skipped", session.origin().number,
                          row_of(session.ending()).sentence, counters.read(SessionCount::sent),
                          counters.read(SessionCount::skipped)));
    }
    clients_.erase(found);
}

void ClientSessions::write_access(Client& client, std::int64_t to_ns) {
    Session& session = client.session;
    const SessionCounters& counters = session.output().counters();
    AccessEntry entry{
        .session = fmt::format("{}-{}", time_text(times_.opened_ns), session.origin().number),
        .user = session.key().user,
        .address = session.origin().address,
        .client = session.client(),
        .from_ns = std::max(session.origin().began_ns, client.logged.to_ns),
        .to_ns = to_ns,
        .schemas = session.subscriptions()->schemas_text(),
        .underlyings = session.subscriptions()->underlyings_count(),
        .records = counters.read(SessionCount::sent) - client.logged.records,
        .bytes = counters.read(SessionCount::bytes) - client.logged.bytes};
    client.logged.to_ns = to_ns;
    client.logged.records += entry.records;
    client.logged.bytes += entry.bytes;
    if (!access_.add(entry)) {
        note_(GatewayNote::access_unlogged, "gateway",
              fmt::format("{} lacks the line {}", config_.access_log, to_line(entry)));
    }
}

/// Writes the sessions so far into the access log, because another hour begins at `until_ns`. The
/// lines end before it, so that each belongs to one month.
void ClientSessions::log_open_sessions(std::int64_t until_ns) {
    for (auto& [connection, client] : clients_) {
        const Session& session = client->session;
        if (session.subscriptions() != nullptr && session.origin().began_ns < until_ns &&
            client->logged.to_ns < until_ns) {
            write_access(*client, until_ns - ms_ns);
            client->logged.to_ns = until_ns;
        }
    }
}

unsigned ClientSessions::sessions_of(const std::string& user) const {
    return static_cast<unsigned>(
        std::count_if(clients_.begin(), clients_.end(), [&](const auto& entry) {
            const Session& session = entry.second->session;
            return session.subscriptions() != nullptr && session.key().user == user;
        }));
}

void ClientSessions::reload_keys() {
    Problems problems;
    if (!access_.open(problems)) {  // its lines go to the file that is open
        note_(GatewayNote::access_unlogged, "gateway", problems.front().text);
        problems.clear();
    }
    ClientKeys keys_read;
    const bool good = read_client_keys(config_.keys, keys_read, problems);
    totals_.keys_refused.set(good ? 0 : 1);
    if (!good) {
        note_(GatewayNote::keys_refused, "keys", problems.front().text);
        return;
    }
    users_.keep(std::move(keys_read));
    for (auto& [connection, client] : clients_) {
        Session& session = client->session;
        const bool stays = std::find(keys().begin(), keys().end(), session.key()) != keys().end();
        if (session.subscriptions() != nullptr && !stays) {
            session.end(SessionEnding::key, ErrorCode::key_deactivated,
                        "User or API key deactivated, or its limits changed");
        }
    }
    note_(GatewayNote::keys_read, "keys", fmt::format("{} keys", keys().size()));
}

void ClientSessions::report(ErrorCode code, std::string_view text) {
    for (auto& [connection, client] : clients_) {
        client->session.report(code, text);
    }
}

void ClientSessions::set_feed_problem(const std::string& text) {
    feed_problem_ = text;
    if (!text.empty()) {
        report(ErrorCode::internal, text);
    }
}

void ClientSessions::send_states(const CoreSeries* only) {
    for (auto& [connection, client] : clients_) {
        client->session.send_states(only);
    }
}

void ClientSessions::end_all(SessionEnding why, std::string_view text) {
    for (auto& [connection, client] : clients_) {
        client->session.end(why, ErrorCode::internal, text);
    }
}

void ClientSessions::close_all(std::int64_t until_ns) {
    while (!clients_.empty() && wall_ns() < until_ns) {
        if (step(wall_ns()) == 0) {
            server_->wait(restart_nap_ns);
        }
    }
    for (auto& [connection, client] : clients_) {
        server_->abort(connection);
    }
    while (!clients_.empty() && wall_ns() < until_ns + second_ns) {
        if (server_->poll() == 0) {
            server_->wait(restart_nap_ns);
        }
    }
}

UserStatuses ClientSessions::users() {
    UserStatuses users = users_.ended();
    for (auto& [connection, client] : clients_) {
        Session& session = client->session;
        if (session.key().user.empty()) {
            continue;
        }
        UserStatus& user = users[session.key().user];
        user.add(session.output().counters());
        const OutputQueue& queue = session.output().queue();
        user.sessions += session.subscriptions() != nullptr ? 1 : 0;
        user.queue_bytes += queue.bytes();
        user.waiting_records += queue.records_appended() - queue.records_sent();
        if (const std::int64_t oldest = queue.oldest_ns(); oldest != 0) {
            user.behind_ns = std::max(user.behind_ns, now_ns_ - oldest);
        }
    }
    return users;
}

}  // namespace pinstrike::actors::gateway
