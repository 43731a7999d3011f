// Random programs: actors on several executors send to each other along a random graph of mailboxes
// of all kinds. Executors are stepped in random order at random times; actors are stopped and fail.
// In every program, the messages of a sender arrive in order and none twice, a message that was
// `sent` is handled or counted as dropped by an actor that has ended, and no actor waits for ever.
#include "tests/actors/runtime/cast.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <stdexcept>

namespace pinstrike::actors::runtime {
namespace {

class Random {
  public:
    explicit Random(unsigned seed) : engine_(seed) {}

    unsigned below(std::size_t limit) { return static_cast<unsigned>(engine_() % limit); }

  private:
    std::minstd_rand engine_;
};

/// Counts its messages and passes random ones on.
class Node : public MailboxActor {
  public:
    Node(Bounds bounds, unsigned seed) : items(this, bounds), random_(seed) {}

    struct Out {
        Sender<Item> sender;
        std::uint32_t id;
        std::uint32_t sent = 0;
    };

    Mailbox<Item> items;
    Timer<int> tick{this};

    void on(Item& item) {
        ++handled;
        if (last.size() <= item.from) {
            last.resize(item.from + 1);
        }
        // Refused messages take no number, so the numbers of each sender have no hole.
        in_order = in_order && item.number == last[item.from]++;
        for (Out& out : outs) {
            send_some(out);
        }
        if (random_.below(4000) == 0) {
            throw std::runtime_error{"by chance"};
        }
    }

    void on(int&) {
        for (Out& out : outs) {
            send_some(out);
        }
    }

    void send_some(Out& out) {
        const auto wanted = budget == 0 ? 0 : random_.below(3);
        for (unsigned i = 0; i < wanted; ++i) {
            --budget;
            const Sent answer = out.sender.send({out.id, out.sent});
            out.sent += answer == Sent::sent ? 1 : 0;
            if (budget == 0) {
                return;
            }
        }
    }

    std::vector<Out> outs;
    std::vector<std::uint32_t> last;
    std::uint64_t handled = 0;
    unsigned budget = 2000;  ///< so that the program ends
    bool in_order = true;

  private:
    Random random_;
};

class Program {
  public:
    explicit Program(unsigned seed) : random_(seed) {
        for (int i = 0; i < 3; ++i) {
            executors_.push_back(std::make_unique<Executor>(
                ExecutorOptions{.budget = 1 + random_.below(8), .linger = random_.below(3)}));
        }
        const std::size_t count = 2 + random_.below(8);
        for (std::size_t i = 0; i < count; ++i) {
            nodes_.push_back(&executors_[random_.below(executors_.size())]->add<Node>(
                some_bounds(), random_.below(1U << 30U)));
        }
        for (Node* from : nodes_) {
            for (std::size_t edges = random_.below(4); edges != 0; --edges) {
                connect(*from, *nodes_[random_.below(nodes_.size())]);
            }
        }
        for (Node* to : nodes_) {
            feeds_.push_back({to->items.sender(), next_id_++});
        }
    }

    void run() {
        for (std::int64_t now = 0; now < 3000; ++now) {
            executors_[random_.below(executors_.size())]->step(now);
            Node& any = *nodes_[random_.below(nodes_.size())];
            auto& feed = feeds_[random_.below(feeds_.size())];
            switch (random_.below(4000)) {
                case 0:
                    any.stop();
                    break;
                case 1:
                    feed.sender.flush();
                    break;
                default:
                    feed.sent += feed.sender.try_send({feed.id, feed.sent}) == Sent::sent ? 1 : 0;
            }
        }
        for (auto& feed : feeds_) {
            feed.sender.flush();
        }
        for (int rounds = 0; has_work(); ++rounds) {
            ASSERT_LT(rounds, 1'000'000) << "it does not come to an end";
            executors_[random_.below(executors_.size())]->step(3000);
        }
    }

    void check() const {
        std::uint64_t sent = 0;
        std::uint64_t reported = 0;
        for (const auto& feed : feeds_) {
            sent += feed.sent;
        }
        for (const Node* node : nodes_) {
            for (const auto& out : node->outs) {
                sent += out.sent;
            }
            EXPECT_TRUE(node->in_order);
            EXPECT_TRUE(node->ended() || node->items.dropped() == 0) << "left lying: it is stuck";
            reported += node->handled + node->items.dropped();
        }
        EXPECT_EQ(sent, reported);
    }

  private:
    Bounds some_bounds() {
        const std::size_t most = 1 + random_.below(20);
        switch (random_.below(3)) {
            case 0:
                return {.most = most};
            case 1:
                return {.most = most, .when_full = WhenFull::wait, .overflow = random_.below(4)};
            default:
                return Bounds::of_memory(most * 400);
        }
    }

    /// Connects two actors unless actors could then wait for each other in a cycle.
    void connect(Node& from, Node& to) {
        try {
            from.outs.push_back({to.items.sender(from), next_id_});
            ++next_id_;
        } catch (const std::invalid_argument&) {
        }
    }

    [[nodiscard]] bool has_work() const {
        for (const auto& executor : executors_) {
            if (executor->has_work()) {
                return true;
            }
        }
        return false;
    }

    Random random_;
    std::vector<std::unique_ptr<Executor>> executors_;
    std::vector<Node*> nodes_;
    std::vector<Node::Out> feeds_;
    std::uint32_t next_id_ = 0;
};

TEST(RuntimeProperty, nothing_is_lost_nor_stuck) {
    for (unsigned seed = 1; seed <= 300 && !HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        Program program{seed};
        program.run();
        program.check();
    }
}

/// So large that a chunk holds only a few, so that messages often reach its end.
struct Large {
    std::uint32_t number = 0;
    std::array<std::uint32_t, 511> rest{};
};

class LargeKeeper : public MailboxActor {
  public:
    explicit LargeKeeper(Bounds bounds) : items(this, bounds) {}

    Mailbox<Large> items;

    void on(Large& item) { in_order = in_order && item.number == reported++; }

    std::uint32_t reported = 0;
    bool in_order = true;
};

/// Bounds of all kinds that have several chunks. Messages that are received at once end at the end
/// of a chunk, or near it.
TEST(RuntimeProperty, order_is_kept_over_the_ends_of_chunks) {
    constexpr unsigned chunk = 8;
    for (unsigned seed = 1; seed <= 2000; ++seed) {
        Random random{seed};
        const std::size_t most = 2 * chunk + random.below(6 * chunk);
        Executor executor{{.budget = chunk - 1 + random.below(3), .linger = 0}};
        auto& keeper = executor.add<LargeKeeper>(
            random.below(2) == 0 ? Bounds{.most = most} : Bounds::of_memory(most * sizeof(Large)));
        auto to = keeper.items.sender();
        std::uint32_t sent = 0;
        for (int turn = 0; turn < 40; ++turn) {
            for (unsigned left = random.below(3 * chunk); left != 0; --left) {
                sent += to.send({.number = sent}) == Sent::sent ? 1 : 0;
            }
            to.flush();
            for (unsigned left = random.below(4); left != 0; --left) {
                executor.step(0);
            }
        }
        executor.drain(0);
        ASSERT_TRUE(keeper.in_order) << "seed " << seed;
        ASSERT_EQ(keeper.reported, sent) << "seed " << seed;
    }
}

}  // namespace
}  // namespace pinstrike::actors::runtime
