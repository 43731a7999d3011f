// path: cold
//
// Measures an actor in isolation: the time per message, alone and beside copies of the actor.
//
//     const auto make = [](Executor& executor) -> Summer& { return executor.add<Summer>(); };
//     const Isolation alone = measure_actor({}, std::span{recorded}, &Summer::numbers, make);
//     std::puts(isolation_text("summer", alone).c_str());
//
// The recorded messages are given to the actor in batches, on one thread: a batch is put into its
// mailbox, the clock is read, its executor steps, and the clock is read again. So a figure is the
// time of a batch divided by its number of messages. Two clock reads around each message would hide
// handlers that are faster than the reads. The cost of a clock read is measured and subtracted.
//
// on_start comes before the first message and on_stop after the last one; neither is measured. A
// first pass over the recording, which warms caches and tables, is not measured either.
//
// Copies run at the same time, each with its own executor and thread, and with its own processor if
// there are enough. A copy that is finished continues, unmeasured, until all are finished. So
// shared resources are contended for the whole measurement.
//
// The figures do not include the transfer of a message from another executor's cache.
#pragma once

#include "actors/runtime/executor.h"
#include "actors/runtime/mailbox.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::actors::runtime {

struct IsolationOptions {
    std::size_t messages = 1'000'000;  ///< measured, of each copy; the recording is repeated
    std::size_t batch = 256;           ///< messages between two clock reads
    unsigned copies = 1;
};

/// The service times of one copy, by batch.
class ServiceTimes {
  public:
    void add(std::size_t messages, double ns);

    /// Must be called before the figures are read.
    void sort();

    /// The time per message in the batch at this quantile (0 to 1) of the batches.
    [[nodiscard]] double ns(double quantile) const;

    [[nodiscard]] double mean_ns() const { return total_ns_ / static_cast<double>(messages_); }

    [[nodiscard]] std::uint64_t messages() const { return messages_; }

    [[nodiscard]] std::size_t batches() const { return ns_per_message_.size(); }

    [[nodiscard]] double millions_per_second() const { return 1e3 / mean_ns(); }

  private:
    std::vector<double> ns_per_message_;
    std::uint64_t messages_ = 0;
    double total_ns_ = 0;
};

struct Isolation {
    std::vector<ServiceTimes> copies;
    double clock_ns = 0;      ///< cost of a clock read; subtracted from each batch
    unsigned processors = 0;  ///< processors that this process may use

    /// The sum of all copies.
    [[nodiscard]] double millions_per_second() const;

    /// The median of the copies' medians.
    [[nodiscard]] double median_ns() const;
};

/// One copy of what is measured. One thread calls all functions except the constructor.
class Isolated {
  public:
    Isolated() = default;
    virtual ~Isolated() = default;
    Isolated(const Isolated&) = delete;
    Isolated& operator=(const Isolated&) = delete;

    [[nodiscard]] virtual std::size_t recorded_count() const = 0;

    virtual void start() = 0;

    /// Not measured: prepares at most `messages` messages.
    virtual void prepare(std::size_t messages) = 0;

    /// Measured: handles the messages and returns their number; 0 is an error that complaint()
    /// describes.
    virtual std::size_t handle() = 0;

    virtual void stop() = 0;

    [[nodiscard]] virtual std::string complaint() const { return "it takes no message"; }
};

/// Throws std::runtime_error if a copy takes no more messages, and passes on what a copy throws.
[[nodiscard]] Isolation measure_isolated(
    const IsolationOptions& options,
    const std::function<std::unique_ptr<Isolated>(unsigned copy)>& make);

/// A table with a row per copy and, if there are several, a row for their sum.
[[nodiscard]] std::string isolation_text(std::string_view name, const Isolation& measured);

/// An actor of this runtime. A bound of its mailbox that is below `batch` limits the batch.
template <class A, class T, class Owner>
class IsolatedActor final : public Isolated {
  public:
    template <class Make>
    IsolatedActor(std::span<const T> recorded, Mailbox<T> Owner::*mailbox, Make&& make,
                  std::size_t batch)
        : recorded_(recorded),
          executor_({.budget = batch}),
          actor_(make(executor_)),
          sender_((actor_.*mailbox).sender()) {}

    [[nodiscard]] std::size_t recorded_count() const override { return recorded_.size(); }

    void start() override { executor_.step(0); }

    void prepare(std::size_t messages) override {
        for (std::size_t i = 0; i < messages; ++i) {
            const Sent sent = sender_.try_send(T{recorded_[next_]});
            if (sent != Sent::sent && sent != Sent::unwanted) {
                break;
            }
            next_ = next_ + 1 == recorded_.size() ? 0 : next_ + 1;
        }
        sender_.flush();
    }

    std::size_t handle() override { return executor_.step(0); }

    void stop() override {
        actor_.stop();
        executor_.step(0);
    }

    [[nodiscard]] std::string complaint() const override {
        return actor_.failed()  ? "its handler threw an exception"
               : actor_.ended() ? "it has ended"
                                : "it accepts none of the messages, or waits for another actor";
    }

  private:
    std::span<const T> recorded_;
    std::size_t next_ = 0;
    Executor executor_;
    A& actor_;
    Sender<T> sender_;
};

/// `make(Executor&)` adds the actor, and the actors that it needs, to an executor and returns the
/// actor. It is called once per copy.
template <class T, class Owner, class Make>
[[nodiscard]] Isolation measure_actor(const IsolationOptions& options, std::span<const T> recorded,
                                      Mailbox<T> Owner::*mailbox, Make&& make) {
    using A = std::remove_reference_t<decltype(make(std::declval<Executor&>()))>;
    return measure_isolated(options, [&](unsigned) {
        return std::make_unique<IsolatedActor<A, T, Owner>>(recorded, mailbox, make, options.batch);
    });
}

}  // namespace pinstrike::actors::runtime
