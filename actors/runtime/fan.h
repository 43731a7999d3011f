// path: hot
//
// One message to all who subscribed, or to one of several who compete for the work.
#pragma once

#include "actors/runtime/mailbox.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace pinstrike::actors::runtime {

/// What became of a message that went to several.
struct SentToAll {
    std::size_t sent = 0;
    std::size_t full = 0;
    std::size_t stopped = 0;
    std::size_t unwanted = 0;
};

/// Each message goes to every subscriber; each has its own lane and its own bound, so a slow one
/// loses its own messages alone (or makes the sender wait, if its mailbox says so).
template <class T>
class FanOut {
  public:
    SentToAll send(const T& message) noexcept {
        SentToAll result;
        for (Sender<T>& subscriber : subscribers_) {
            switch (subscriber.send(message)) {
                case Sent::sent:
                    ++result.sent;
                    break;
                case Sent::full:
                    ++result.full;
                    break;
                case Sent::stopped:
                    ++result.stopped;
                    break;
                case Sent::unwanted:
                    ++result.unwanted;
                    break;
            }
        }
        return result;
    }

    void flush() noexcept {
        for (Sender<T>& subscriber : subscribers_) {
            subscriber.flush();
        }
    }

    /// At set-up.
    void subscribe(Sender<T> subscriber) {
        subscribers_.push_back(std::move(subscriber));  // tidy: allowed: cold
    }

  private:
    std::vector<Sender<T>> subscribers_;
};

/// Each message goes to exactly one worker: to the one that has fewest of ours before it. Workers
/// that have ended, and those that do not want it, are passed over.
template <class T>
class Workers {
  public:
    /// `full`: no worker that would take it has room. With workers that wait when full a thread
    /// waits, and an actor is not called again, until the least loaded one has room.
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

    /// At set-up.
    void add(Sender<T> worker) {
        workers_.push_back(std::move(worker));  // tidy: allowed: cold
    }

  private:
    std::vector<Sender<T>> workers_;
    std::size_t next_ = 0;  ///< of equals, each has its turn
};

}  // namespace pinstrike::actors::runtime
