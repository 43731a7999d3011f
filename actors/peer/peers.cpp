// path: cold
#include "actors/peer/peers.h"

#include "actors/peer/block_reader.h"
#include "actors/peer/secret_file.h"
#include "actors/peer/tls.h"
#include "nic/packet/address.h"

#include <utility>

namespace pinstrike::actors::peer {

struct Peers::Parts {
    PeerConfig config;
    std::string venue;
    Identity identity;
    std::unique_ptr<asio::ssl::context> tls;
    PeerListener listener;
    StateEnds state;
};

namespace {

bool wants_tls(const PeerConfig& config) {
    return config.tls != TlsConfig{};
}

}  // namespace

Peers::Peers(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {
    for (const nic::Group& at : parts_->config.connect) {
        clients_.emplace_back().peer = nic::text_of(at);
    }
}

Peers::~Peers() = default;

std::unique_ptr<Peers> Peers::open(const PeerConfig& config, const std::string& feed,
                                   const std::string& venue, feed::History* history,
                                   StateEnds state, PeerListener listener, Problems& problems) {
    const std::size_t before = problems.size();
    auto parts = std::make_unique<Parts>();
    parts->config = config;
    parts->venue = venue;
    parts->listener = listener;
    parts->state = state;
    parts->identity.feed = feed;
    if (auto secret = read_secret("peer.secret_file", config.secret_file, problems)) {
        parts->identity.secret = std::move(*secret);
    }
    if (!draw(parts->identity.instance)) {
        pinstrike::add_problem(problems, Place{}, "peer: the system provides no random numbers");
    }
    if (wants_tls(config)) {
        parts->tls = open_tls(config.tls, "peer.tls", problems);
    }
    if (problems.size() != before) {
        return nullptr;
    }
    std::unique_ptr<Peers> peers(new Peers(std::move(parts)));
    if (history != nullptr && config.listen != nic::Group{}) {
        peers->server_ = Server::open(config, peers->parts_->identity, peers->parts_->tls.get(),
                                      *history, state.giver, std::move(listener), problems);
    }
    return problems.size() == before ? std::move(peers) : nullptr;
}

std::vector<std::unique_ptr<feed::RepairSource>> Peers::sources() {
    std::vector<std::unique_ptr<feed::RepairSource>> sources;
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        auto client = std::make_unique<Client>(parts_->config.connect[i], parts_->identity,
                                               parts_->tls.get(), venue_block_reader(parts_->venue),
                                               parts_->listener, clients_[i]);
        client->set_state_taker(parts_->state.taker);
        asked_.push_back(client.get());
        sources.push_back(std::move(client));
    }
    return sources;
}

std::size_t Peers::step(std::int64_t now_ns) {
    return server_ ? server_->step(now_ns) : 0;
}

void check_files(const PeerConfig& config, Problems& problems) {
    static_cast<void>(read_secret("peer.secret_file", config.secret_file, problems));
    if (wants_tls(config)) {
        static_cast<void>(open_tls(config.tls, "peer.tls", problems));
    }
}

}  // namespace pinstrike::actors::peer
