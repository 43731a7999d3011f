// path: cold
#include "actors/peer/peers.h"

#include "actors/peer/block_reader.h"
#include "actors/peer/secret_file.h"
#include "nic/packet/address.h"

#include <utility>

namespace pinstrike::actors::peer {

namespace {

/// Reads the files of a config.
void read_files(const PeerConfig& config, Secret& secret, TlsCertificates& tls,
                Problems& problems) {
    if (auto read = read_secret("peer.secret_file", config.secret_file, problems)) {
        secret = std::move(*read);
    }
    if (config.tls != TlsConfig{}) {
        tls = open_tls(config.tls, "peer.tls", problems);
    }
}

}  // namespace

std::unique_ptr<Peers> Peers::open(const PeerConfig& config, const std::string& feed,
                                   const std::string& venue, feed::History* history,
                                   StateEnds state, PeerListener listener, Problems& problems) {
    const std::size_t before = problems.size();
    std::unique_ptr<Peers> peers(new Peers);
    peers->config_ = config;
    peers->venue_ = venue;
    peers->listener_ = listener;
    peers->state_ = state;
    peers->identity_.feed = feed;
    read_files(config, peers->identity_.secret, peers->tls_, problems);
    if (!draw(peers->identity_.instance)) {
        add_problem(problems, Place{}, "peer: the system provides no random numbers");
    }
    if (problems.size() != before) {
        return nullptr;
    }
    for (const nic::Group& at : config.connect) {
        peers->clients_.emplace_back().peer = nic::text_of(at);
    }
    if (history != nullptr && config.listen != nic::Group{}) {
        peers->server_ = Server::open(config, peers->identity_, peers->tls_.get(), *history,
                                      state.giver, std::move(listener), problems);
    }
    return problems.size() == before ? std::move(peers) : nullptr;
}

std::vector<std::unique_ptr<feed::RepairSource>> Peers::sources() {
    std::vector<std::unique_ptr<feed::RepairSource>> sources;
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        auto client = std::make_unique<Client>(config_.connect[i], identity_, tls_.get(),
                                               venue_block_reader(venue_), listener_, clients_[i]);
        client->set_state_taker(state_.taker);
        asked_.push_back(client.get());
        sources.push_back(std::move(client));
    }
    return sources;
}

std::size_t Peers::step(std::int64_t now_ns) {
    return server_ ? server_->step(now_ns) : 0;
}

void check_files(const PeerConfig& config, Problems& problems) {
    Secret secret;
    TlsCertificates tls;
    read_files(config, secret, tls, problems);
}

}  // namespace pinstrike::actors::peer
