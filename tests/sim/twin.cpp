// path: cold
#include "tests/sim/twin.h"

#include "config/time_units.h"
#include "nic/packet/bytes.h"
#include "tests/sim/host.h"

#include <algorithm>
#include <map>

namespace pinstrike::sim {

namespace {

constexpr std::int64_t reconnect_ns = 100'000'000;

actors::peer::Identity identity_of(std::uint8_t instance) {
    constexpr std::string_view secret = "known to both of the pair";
    actors::peer::Identity identity{
        "opra", actors::peer::Secret{std::as_bytes(std::span{secret})}, {}};
    identity.instance.fill(std::byte{instance});
    return identity;
}

actors::peer::Nonce draw_nonce(Random& random) {
    actors::peer::Nonce nonce;
    for (std::byte& byte : nonce) {
        byte = static_cast<std::byte>(random.next());
    }
    return nonce;
}

/// The time stamp in a block's header (OPRA Block Header).
std::int64_t stamp_of(std::span<const std::byte> bytes) {
    constexpr std::size_t seconds_at = 11;
    constexpr std::size_t nanoseconds_at = 15;
    if (bytes.size() < nanoseconds_at + 4) {
        return 0;
    }
    return std::int64_t{nic::load_be32(bytes.data() + seconds_at)} * second_ns +
           nic::load_be32(bytes.data() + nanoseconds_at);
}

}  // namespace

struct Twin::Connection {
    /// `now_ns`: recovery's time, which the client uses.
    Connection(Twin& twin, const actors::peer::SessionLimits& limits, std::int64_t now_ns)
        : server(twin.there_, limits, *twin.history_, twin.server_counters_,
                 draw_nonce(twin.random_), {}, twin.true_ns_),
          client(twin.here_, limits, twin.read_block_, twin.client_counters_,
                 draw_nonce(twin.random_), {}, now_ns) {}

    [[nodiscard]] bool all_arrived() const {
        return up.pieces.empty() && down.pieces.empty() && client.output().empty() &&
               server.output().empty();
    }

    actors::peer::ServerSession server;
    actors::peer::ClientSession client;
    Wire up;
    Wire down;
};

/// Logs the blocks that the twin sends and forwards them to recovery.
class Twin::RepairLog final : public feed::RepairAnswers {
  public:
    RepairLog(Twin& twin, feed::RepairAnswers& to) : twin_(twin), to_(to) {}

    void block(std::uint16_t line, std::span<const std::byte> bytes) override {
        const Block* block = twin_.truth_.stamped(stamp_of(bytes));
        const bool sent = block != nullptr && std::ranges::equal(block->bytes, bytes);
        const bool genuine = sent && block->line_number == line;
        if (sent && !genuine) {
            twin_.mixed_up_.insert(line);
            twin_.misplaced_.insert(block);
        }
        twin_.brought_.push_back(genuine ? block : nullptr);
        twin_.traffic_.bytes += bytes.size();
        to_.block(line, bytes);
    }

    void finished(std::uint64_t id) override {
        ++twin_.traffic_.finished;
        to_.finished(id);
    }

    void refused(std::uint64_t id, feed::Refusal reason) override {
        ++twin_.traffic_.refused[static_cast<std::size_t>(reason)];
        to_.refused(id, reason);
    }

  private:
    Twin& twin_;
    feed::RepairAnswers& to_;
};

/// Logs the states that the twin sends and forwards them to the receiver.
class Twin::StateLog final : public actors::peer::StateTaker {
  public:
    StateLog(actors::peer::StateTransfer& to, TwinTraffic& traffic) : to_(to), traffic_(traffic) {}

    void record(const actors::StateRecord& record) override {
        if (record.kind == actors::StateRecord::Kind::series) {
            sent_[{record.key.name, record.key.strike_e8}].push_back({record.line, record.place});
            latest_[record.line] = {record.line, record.place};
            ++traffic_.state_series;
            traffic_.state_wanted += to_.over() ? 0 : 1;
        }
        to_.record(record);
    }

    void impossible() override { to_.impossible(); }

    void ended(actors::peer::StateOutcome outcome) override {
        if (!to_.over()) {
            ++traffic_.state_ended;
            traffic_.state_failed += outcome == actors::peer::StateOutcome::whole ? 0 : 1;
        }
        to_.ended(outcome);
    }

    [[nodiscard]] std::span<const SentState> of(const feed::SeriesKey& series) const {
        const auto at = sent_.find({series.name, series.strike_e8});
        return at == sent_.end() ? std::span<const SentState>{} : at->second;
    }

    [[nodiscard]] const SentState* latest_state(std::uint16_t line) const {
        const auto at = latest_.find(line);
        return at == latest_.end() ? nullptr : &at->second;
    }

  private:
    actors::peer::StateTransfer& to_;
    TwinTraffic& traffic_;
    std::map<std::pair<std::uint64_t, std::int64_t>, std::vector<SentState>> sent_;  ///< by series
    std::map<std::uint16_t, SentState> latest_;                                      ///< by line
};

Twin::Twin(const Plan& plan, const Truth& truth, std::span<const Flight> flights)
    : plan_(plan),
      twin_(plan.twin),
      truth_(truth),
      flights_(flights),
      random_(feed::opra::traffic::scramble(plan.seed ^ 0x5457'494EULL)),
      read_block_(actors::peer::venue_block_reader("opra")),
      here_(identity_of(1)),
      there_(identity_of(2)) {
    for (const feed::LineConfig& line : plan.lines) {
        numbers_.push_back(line.number);
    }
    start();
}

Twin::~Twin() = default;

void Twin::start() {
    kept_.clear();
    traffic_.kept_bytes = 0;
    history_ = std::make_unique<feed::History>(
        numbers_, feed::HistoryConfig{twin_.keep_ns, twin_.memory_bytes}, feed::Numbering{});
    if (plan_.state.taken) {
        Plan& its = *plans_.emplace_back(std::make_unique<Plan>(plan_of_twin(plan_)));
        its.host.start_after_ns = std::max<std::int64_t>(true_ns_ - plan_.days.front().start_ns, 0);
        lives_.push_back(std::make_unique<Host>(its, nullptr));
        lives_.back()->begin(flights_);
    }
}

bool Twin::down() const {
    const std::int64_t since_ns = true_ns_ - plan_.days.front().start_ns;
    return std::ranges::any_of(twin_.restarts, [=](const Outage& outage) {
        return since_ns >= outage.at_ns && since_ns - outage.at_ns < outage.for_ns;
    });
}

/// Keeps one copy of each block, some with a wrong number, line or length if the plan says so.
void Twin::keep(const Flight& flight) {
    const Block& block = *flight.block;
    if (!kept_.insert(&block).second) {
        return;
    }
    feed::KeptBlock kept;
    kept.line = block.line_number;
    kept.messages = static_cast<std::uint16_t>(block.messages.size());
    kept.first = block.header.sequence;
    kept.ts_exchange_ns = block.ts_ns;
    kept.ts_arrival_ns = flight.ts_ns;
    kept.bytes = block.bytes;
    if (random_.chance(twin_.lies)) {
        switch (random_.below(3)) {
            case 0:
                kept.first = number_after(feed::serial_of(kept.first), 1 + random_.below(50));
                break;
            case 1:
                kept.line = numbers_[random_.below(numbers_.size())];
                break;
            default:
                kept.bytes = std::span{block.bytes}.first(block.bytes.size() / 2);
                break;
        }
    }
    traffic_.kept_bytes += kept.bytes.size();
    static_cast<void>(history_->keep(kept));
}

void Twin::pass_to(std::int64_t true_ns) {
    true_ns_ = true_ns;
    if (host() != nullptr && history_) {
        host()->run_until(true_ns);
        host()->exchange()->step();
    }
    const bool is_down = down();
    if (is_down && history_ && !cut_) {
        cut_ = connection_ != nullptr;
        if (!cut_) {
            history_.reset();
        }
    }
    for (; arrived_ < flights_.size() && flights_[arrived_].ts_ns <= true_ns; ++arrived_) {
        const Flight& flight = flights_[arrived_];
        if (!is_down && history_ && flight.whole && flight.block->numbered()) {
            keep(flight);
        }
    }
    if (!is_down && !history_) {
        start();
    }
}

void Twin::connect(std::int64_t now_ns) {
    actors::peer::SessionLimits limits;
    limits.requests_per_second = twin_.requests_per_second;
    connection_ = std::make_unique<Connection>(*this, limits, now_ns);
    ++traffic_.connections;
    if (host() != nullptr) {
        connection_->server.set_state_giver(host()->exchange());
    }
}

std::optional<feed::Refusal> Twin::request(const feed::RepairRequest& request,
                                           std::int64_t now_ns) {
    const auto refusal = connection_ ? connection_->client.request(request, now_ns)
                                     : std::optional{feed::Refusal::not_connected};
    if (refusal) {
        ++traffic_.refused_at_once[static_cast<std::size_t>(*refusal)];
    } else {
        ++traffic_.requests;
        traffic_.requested += request.messages;
    }
    return refusal;
}

bool Twin::request_state(const std::vector<std::uint16_t>& lines) {
    const bool requested = connection_ && connection_->client.request_state(lines, *state_log_);
    traffic_.state_requests += requested ? 1 : 0;
    return requested;
}

/// Adds how the sessions of the connection ended, if they did.
void Twin::add_ends(TwinTraffic& traffic) const {
    const auto add = [](const actors::peer::PeerSession& session, auto& ends, auto& why) {
        if (session.end()) {
            ends.push_back(*session.end());
        }
        if (session.why()) {
            why.push_back(*session.why());
        }
    };
    add(connection_->client, traffic.client_ends, traffic.client_why);
    add(connection_->server, traffic.server_ends, traffic.server_why);
}

TwinTraffic Twin::traffic() const {
    TwinTraffic traffic = traffic_;
    if (connection_) {
        add_ends(traffic);
    }
    return traffic;
}

bool Twin::all_arrived() const {
    return !traffic_.cut && (!connection_ || connection_->all_arrived());
}

void Twin::set_taker(actors::peer::StateTransfer& taker) {
    state_log_ = std::make_unique<StateLog>(taker, traffic_);
}

std::span<const Twin::SentState> Twin::states_sent(const feed::SeriesKey& series) const {
    return state_log_ ? state_log_->of(series) : std::span<const SentState>{};
}

const Twin::SentState* Twin::latest_state(std::uint16_t line) const {
    return state_log_ ? state_log_->latest_state(line) : nullptr;
}

void Twin::keep_awake(bool awake) {
    if (host() != nullptr) {
        host()->keep_awake(awake);
    }
}

void Twin::cancel(std::uint64_t id) {
    if (connection_) {
        connection_->client.cancel(id);
    }
}

/// Sends a session's output over the connection, in pieces of random size.
template <class Side>
void Twin::send(Side& from, std::int64_t its_ns, Wire& over) {
    while (!from.output().empty()) {
        const std::size_t bytes = 1 + random_.below(from.output().size());
        const auto piece = from.output().first(bytes);
        over.latest_ns = std::max(over.latest_ns,
                                  true_ns_ + twin_.delay_ns + random_.between(0, twin_.delay_ns));
        over.pieces.emplace_back(over.latest_ns,
                                 std::vector<std::byte>(piece.begin(), piece.end()));
        from.sent(bytes, its_ns);
    }
}

std::size_t Twin::step(std::int64_t now_ns, feed::RepairAnswers& answers) {
    RepairLog log{*this, answers};
    if (connection_ && (cut_ || connection_->client.ended() || connection_->server.ended())) {
        connection_->client.close(actors::peer::SessionEnd::closed, log);
        traffic_.cut = traffic_.cut || !connection_->all_arrived();
        add_ends(traffic_);
        connection_.reset();
        connect_ns_ = true_ns_ + reconnect_ns;
        if (std::exchange(cut_, false)) {
            history_.reset();
        }
    }
    if (!connection_) {
        if (history_ && !down() && true_ns_ >= connect_ns_) {
            connect(now_ns);
        }
        return 0;
    }
    std::size_t done = 0;
    Connection& connection = *connection_;
    for (auto* wire : {&connection.up, &connection.down}) {
        while (!wire->pieces.empty() && wire->pieces.front().first <= true_ns_) {
            const auto piece = std::move(wire->pieces.front().second);
            wire->pieces.pop_front();
            ++done;
            if (wire == &connection.up) {
                connection.server.receive(piece, true_ns_);
            } else {
                connection.client.receive(piece, now_ns, log);
            }
        }
    }
    connection.server.step(true_ns_);
    connection.client.step(now_ns, log);
    send(connection.client, now_ns, connection.up);
    send(connection.server, true_ns_, connection.down);
    return done;
}

}  // namespace pinstrike::sim
