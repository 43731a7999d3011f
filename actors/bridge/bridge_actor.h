// path: cold
//
// The joining side as an actor of actors/runtime. It ends when its connection does, and its
// monitors get a Down with the reason, as of any other actor. SIGPIPE must be ignored.
#pragma once

#include "actors/bridge/bridge_client.h"
#include "actors/runtime/mailbox_actor.h"
#include "actors/runtime/timer.h"

#include <string_view>

namespace pinstrike::actors::bridge {

class BridgeActor final : public runtime::MailboxActor {
  public:
    /// `client` is open and outlives the actor. While the actor runs, only it steps the client.
    explicit BridgeActor(BridgeClient& client) : client_(client) {}

    [[nodiscard]] std::string_view name() const override { return "bridge"; }

    void on_start() override;
    void on_stop() override;

    struct Step {};

    /// Takes what has come. Throws if the connection was lost, which ends the actor.
    void on(Step&);

  private:
    BridgeClient& client_;
    runtime::Timer<Step> step_{this};
};

}  // namespace pinstrike::actors::bridge
