// path: hot
//
// Sends a message to all subscribers, or to one of several workers.
#pragma once

#include "actors/runtime/mailbox.h"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace pinstrike::actors::runtime {

/// The results of a message that was sent to several receivers: how many receivers had each result.
struct SentToAll {
    std::size_t sent = 0;
    std::size_t full = 0;
    std::size_t stopped = 0;
    std::size_t unwanted = 0;
};

/// Sends each message to every subscriber. Each subscriber has its own lane and bound, so a slow
/// one only loses its own messages (or makes the sender wait, if its mailbox waits when full).
template <class T>
class FanOut {
  public:
    SentToAll send(const T& message) noexcept {
        constexpr std::array counts{&SentToAll::sent, &SentToAll::full, &SentToAll::stopped,
                                    &SentToAll::unwanted};  // in the order of Sent
        SentToAll result;
        for (Sender<T>& subscriber : subscribers_) {
            ++(result.*counts[static_cast<std::size_t>(subscriber.send(message))]);
        }
        return result;
    }

    void flush() noexcept {
        for (Sender<T>& subscriber : subscribers_) {
            subscriber.flush();
        }
    }

    /// Called at set-up.
    void subscribe(Sender<T> subscriber) {
        subscribers_.push_back(std::move(subscriber));  // tidy: allowed: cold
    }

  private:
    std::vector<Sender<T>> subscribers_;
};

/// Sends each message to exactly one worker: the one with the fewest messages of this sender in its
/// lane. Skips workers that have ended or whose filter does not want the message.
template <class T>
class Workers {
  public:
    /// Returns `full` if no worker that accepts the message has room. If workers wait when full, a
    /// thread waits until the least loaded worker has room, and an actor is not called again until
    /// then.
    Sent send(T&& message) noexcept {
        Sender<T>* best = nullptr;
        std::uint64_t fewest = 0;
        Sent otherwise = Sent::stopped;
        for (std::size_t i = 0; i < workers_.size(); ++i) {
            Sender<T>& worker = workers_[(next_ + i) % workers_.size()];
            if (worker.stopped() || !worker.wants(message)) {
                otherwise = worker.stopped() ? otherwise : Sent::unwanted;
                continue;
            }
            const std::uint64_t in_flight = worker.in_flight();
            if (best == nullptr || in_flight < fewest) {
                best = &worker;
                fewest = in_flight;
            }
        }
        next_ = workers_.empty() ? 0 : (next_ + 1) % workers_.size();
        return best == nullptr ? otherwise : best->send(std::move(message));
    }

    void flush() noexcept {
        for (Sender<T>& worker : workers_) {
            worker.flush();
        }
    }

    /// Called at set-up.
    void add(Sender<T> worker) {
        workers_.push_back(std::move(worker));  // tidy: allowed: cold
    }

  private:
    std::vector<Sender<T>> workers_;
    std::size_t next_ = 0;  ///< first worker to consider, so that equal workers take turns
};

}  // namespace pinstrike::actors::runtime
