// path: cold
//
// One session, and the market that it is served from.
#pragma once

#include "tests/actors/gateway/session_scene.h"
#include "tests/actors/market/market_scene.h"

#include <gtest/gtest.h>

#include <string>

namespace pinstrike::actors::gateway::test {

class SessionTest : public testing::Test {
  protected:
    void apply(const pinstrike_record& record) { ASSERT_TRUE(host.the_market.apply(record)); }

    void quote(InstrumentId id, const std::string& root = "AAPL") {
        apply(events.quote(key_of(id, root), best_of(110, 30, 'C'), best_of(125, 40, 'Z')));
    }

    void trade(InstrumentId id, const std::string& root = "AAPL") {
        apply(events.trade(key_of(id, root), 117, 5));
    }

    FakeHost host;
    SessionScene scene{host};
    FeedScene events;
};

}  // namespace pinstrike::actors::gateway::test
