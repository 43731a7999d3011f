// Actors that the tests share.
#pragma once

#include "actors/runtime/executor.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::actors::runtime {

/// A message with its sender and its number.
struct Item {
    std::uint32_t from = 0;
    std::uint32_t number = 0;
};

/// Keeps its messages, and calls the test's function for each.
class Keeper : public MailboxActor {
  public:
    explicit Keeper(Bounds bounds = {}) : items(this, bounds) {}

    Mailbox<Item> items;

    void on(Item& item) {
        kept.push_back(item);
        if (then) {
            then(item);
        }
    }

    void on_start() override { started = true; }

    void on_stop() override { stopped = true; }

    [[nodiscard]] std::string_view name() const override { return "keeper"; }

    using MailboxActor::finish;

    std::vector<Item> kept;
    std::function<void(Item&)> then;
    bool started = false;
    bool stopped = false;
};

/// Keeps the `Down` messages of other actors.
class Mourner : public MailboxActor {
  public:
    Mailbox<Down> downs{this, {.most = 4}};

    void on(Down& down) { heard.push_back(down); }

    std::vector<Down> heard;
};

/// Actors in these tests fall asleep at once, so that the tests reach each way of waking them.
constexpr ExecutorOptions asleep_at_once{.budget = 4, .linger = 0};

}  // namespace pinstrike::actors::runtime
