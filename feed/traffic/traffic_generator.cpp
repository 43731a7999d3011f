// path: cold
#include "feed/traffic/traffic_generator.h"

#include "config/check.h"

#include <optional>
#include <utility>

namespace pinstrike::feed {
namespace {

std::optional<TrafficGenerator>& registered() {
    static std::optional<TrafficGenerator> generator;
    return generator;
}

}  // namespace

void register_traffic_generator(TrafficGenerator generator) {
    PINSTRIKE_CHECK(!registered());
    registered() = std::move(generator);
}

const TrafficGenerator* traffic_generator() {
    return registered() ? &*registered() : nullptr;
}

}  // namespace pinstrike::feed
