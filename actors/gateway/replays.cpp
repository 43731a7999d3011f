// path: cold
#include "actors/gateway/replays.h"

#include <fmt/format.h>

namespace pinstrike::actors::gateway {

/// Processes that nobody wants any more count until they have ended.
ReplayHost::Started Replays::start(const ClientKey& key, const std::vector<ReplayWanted>& wanted) {
    std::shared_ptr<void>& counted = of_users_[key.user];
    if (counted == nullptr) {
        counted = std::make_shared<bool>();
    }
    if (counted.use_count() > key.replays) {
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
    return {processes_.start(to_text({config_.record, config_.record_config, wanted}), counted),
            ""};
}

}  // namespace pinstrike::actors::gateway
