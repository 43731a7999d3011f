// path: cold
#include "actors/gateway/replays.h"

#include <fmt/format.h>

#include <utility>

namespace pinstrike::actors::gateway {

class Replays::CountedSource final : public ReplaySource {
  public:
    CountedSource(std::unique_ptr<ReplaySource> source, unsigned& count)
        : source_(std::move(source)), count_(count) {
        ++count_;
    }

    ~CountedSource() override { --count_; }

    [[nodiscard]] bool take(std::vector<std::byte>& block) override { return source_->take(block); }

    [[nodiscard]] std::string ended() override { return source_->ended(); }

  private:
    std::unique_ptr<ReplaySource> source_;
    unsigned& count_;
};

/// Processes that nobody wants any more count until they have ended.
ReplayHost::Started Replays::start(const ClientKey& key, const std::vector<ReplayWanted>& wanted) {
    unsigned& count = of_users_[key.user];
    if (count >= key.replays) {
        return {nullptr,
                fmt::format("start: User has reached their limit of replays: replays {} of {}",
                            key.replays, key.user)};
    }
    if (processes_.running() >= config_.replays_max) {
        return {nullptr,
                fmt::format("start: the gateway runs {} replays, its limit replays_max; try again "
                            "later",
                            config_.replays_max)};
    }
    auto source = processes_.start(to_text({config_.record, config_.record_config, wanted}));
    return {std::make_unique<CountedSource>(std::move(source), count), ""};
}

}  // namespace pinstrike::actors::gateway
