// path: cold
#include "actors/gateway/client_sessions.h"

#include "config/wall_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pinstrike::actors::gateway {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
/// How long a client may take to close its connection after the session has ended.
constexpr std::int64_t close_ns = 2 * second_ns;
constexpr std::int64_t nap_ns = 1'000'000;
/// New connections of one address in a second.
constexpr std::size_t connections_each_second = 20;

std::string subject_of(const Session& session) {
    return "session " + std::to_string(session.origin().number);
}

}  // namespace

struct ClientSessions::Client {
    Session session;
    std::uint32_t connection;
    bool finished = false;
    std::int64_t finished_ns = 0;
    AccessEntry logged;  ///< the part that the access log has already

    Client(SessionHost& host, SessionOrigin origin, std::uint32_t at)
        : session(host, std::move(origin)), connection(at) {}
};

ClientSessions::ClientSessions(const GatewayConfig& config, Market& market, const NoteGateway& note)
    : config_(config), market_(market), note_(note), access_(config.access_log) {}

ClientSessions::~ClientSessions() {
    server_.reset();  // it may be sending from the queues of clients
}

bool ClientSessions::open(int inherited, Problems& problems) {
    if (!read_client_keys(config_.keys, keys_, problems) || !access_.open(problems)) {
        return false;
    }
    const Endpoint at = endpoint_of(config_.address);
    server_ =
        SocketServer::open(at.host, at.port, inherited, config_.connections_max, *this, problems);
    if (server_ != nullptr) {
        note_(GatewayNote::opened, "gateway",
              fmt::format("serves feed {} at {} to {} keys", config_.feed, config_.address,
                          keys_.size()));
    }
    return server_ != nullptr;
}

std::size_t ClientSessions::step(std::int64_t now_ns) {
    now_ns_ = now_ns;
    for (auto& [connection, client] : clients_) {
        client->session.step(now_ns_);
        step_client(*client);
    }
    return server_->poll();
}

void ClientSessions::set_time(std::int64_t now_ns) {
    now_ns_ = now_ns;
    for (auto& [connection, client] : clients_) {
        client->session.output().set_time(now_ns);
    }
}

/// Sends what waits. An ended session without more to send closes its connection.
void ClientSessions::step_client(Client& client) {
    if (server_->is_sending(client.connection)) {
        return;
    }
    if (const auto bytes = client.session.output().queue().next(); !bytes.empty()) {
        server_->send(client.connection, bytes);
    } else if (client.session.phase() == Session::Phase::ended) {
        if (!std::exchange(client.finished, true)) {
            client.finished_ns = now_ns_;
            server_->finish(client.connection);
        } else if (now_ns_ - client.finished_ns > close_ns) {
            server_->abort(client.connection);
        }
    }
}

bool ClientSessions::connects_too_often(const std::string& address) {
    std::erase_if(recent_, [this](const auto& entry) {
        return entry.second.empty() || entry.second.back() < now_ns_ - second_ns;
    });
    auto& recent = recent_[address];
    std::erase_if(recent, [this](std::int64_t at) { return at < now_ns_ - second_ns; });
    recent.push_back(now_ns_);
    return recent.size() > connections_each_second;
}

bool ClientSessions::accepted(std::uint32_t connection, const std::string& address) {
    if (connects_too_often(address)) {
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
    if (before == Session::Phase::login && session.phase() == Session::Phase::ended) {
        note_(GatewayNote::login_refused, "address " + session.origin().address,
              std::string{row_of(session.ending()).sentence});
    } else if (before == Session::Phase::login && session.subscriptions() != nullptr) {
        note_(GatewayNote::session_begun, subject_of(session),
              fmt::format("user {} from {} ({})", session.key().user, session.origin().address,
                          session.client()));
    }
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
        ended_.bump(which, counters.read(which));
    }
    endings_.bump(session.ending());
    if (session.subscriptions() != nullptr) {
        write_access(*found->second);
        note_(GatewayNote::session_ended, subject_of(session),
              fmt::format("user {}: {}; {} records sent, {} skipped", session.key().user,
                          row_of(session.ending()).sentence, counters.read(SessionCount::sent),
                          counters.read(SessionCount::skipped)));
    }
    clients_.erase(found);
}

void ClientSessions::write_access(Client& client) {
    Session& session = client.session;
    const SessionCounters& counters = session.output().counters();
    AccessEntry entry{.user = session.key().user,
                      .address = session.origin().address,
                      .client = session.client(),
                      .from_ns = std::max(session.origin().began_ns, client.logged.to_ns),
                      .to_ns = now_ns_,
                      .schemas = session.subscriptions()->schemas_text(),
                      .underlyings = session.subscriptions()->underlyings_count(),
                      .records = counters.read(SessionCount::sent) - client.logged.records,
                      .bytes = counters.read(SessionCount::bytes) - client.logged.bytes};
    client.logged.to_ns = now_ns_;
    client.logged.records += entry.records;
    client.logged.bytes += entry.bytes;
    if (!access_.add(entry)) {
        note_(GatewayNote::access_unlogged, "gateway",
              fmt::format("a session of user {} is not in {}", entry.user, config_.access_log));
    }
}

void ClientSessions::log_open_sessions() {
    for (auto& [connection, client] : clients_) {
        if (client->session.subscriptions() != nullptr) {
            write_access(*client);
        }
    }
}

unsigned ClientSessions::sessions_of(const std::string& user) const {
    return static_cast<unsigned>(
        std::count_if(clients_.begin(), clients_.end(), [&](const auto& entry) {
            const Session& session = entry.second->session;
            return session.subscriptions() != nullptr && session.key().user == user &&
                   session.phase() != Session::Phase::ended;
        }));
}

void ClientSessions::reload_keys() {
    Problems problems;
    ClientKeys keys;
    const bool good = read_client_keys(config_.keys, keys, problems) && access_.open(problems);
    keys_refused_.set(good ? 0 : 1);
    if (!good) {
        note_(GatewayNote::keys_refused, "keys", problems.front().text);
        return;
    }
    keys_ = std::move(keys);
    for (auto& [connection, client] : clients_) {
        Session& session = client->session;
        const bool stays = std::find(keys_.begin(), keys_.end(), session.key()) != keys_.end();
        if (session.subscriptions() != nullptr && !stays) {
            session.end(SessionEnding::key, ErrorCode::key_deactivated,
                        "User or API key deactivated, or its limits changed");
        }
    }
    note_(GatewayNote::keys_read, "keys", fmt::format("{} keys", keys_.size()));
}

void ClientSessions::report(ErrorCode code, std::string_view text) {
    for (auto& [connection, client] : clients_) {
        client->session.report(code, text);
    }
}

void ClientSessions::send_states() {
    for (auto& [connection, client] : clients_) {
        client->session.send_states();
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
            server_->wait(nap_ns);
        }
    }
    for (auto& [connection, client] : clients_) {
        server_->abort(connection);
    }
    while (!clients_.empty() && wall_ns() < until_ns + second_ns) {
        if (server_->poll() == 0) {
            server_->wait(nap_ns);
        }
    }
}

std::vector<SessionStatus> ClientSessions::statuses() {
    std::vector<SessionStatus> statuses;
    for (auto& [connection, client] : clients_) {
        Session& session = client->session;
        if (session.subscriptions() == nullptr) {
            continue;
        }
        const SessionCounters& counters = session.output().counters();
        const OutputQueue& queue = session.output().queue();
        const std::int64_t behind = session.output().behind_since_ns();
        statuses.push_back({.number = session.origin().number,
                            .user = session.key().user,
                            .address = session.origin().address,
                            .sent = counters.read(SessionCount::sent),
                            .skipped = counters.read(SessionCount::skipped),
                            .queue_bytes = queue.bytes(),
                            .waiting_records = queue.records_appended() - queue.records_sent(),
                            .behind_ns = behind == 0 ? 0 : now_ns_ - behind});
    }
    return statuses;
}

}  // namespace pinstrike::actors::gateway
