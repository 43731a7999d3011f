#include "tests/bench/workloads.h"

#include <concurrentqueue/blockingconcurrentqueue.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace pinstrike::bench {
namespace {

class MoodyQueue {
  public:
    explicit MoodyQueue(std::size_t bound)
        : bounded_(bound != 0),
          room_(static_cast<moodycamel::LightweightSemaphore::ssize_t>(bound)) {}

    void push(std::uint64_t number) {
        if (bounded_) {
            room_.wait();
        }
        must(queue_.enqueue(token_, number), "there is no memory");
    }

    std::uint64_t pop() {
        std::uint64_t number = 0;
        queue_.wait_dequeue(number);
        if (bounded_) {
            room_.signal();
        }
        return number;
    }

  private:
    moodycamel::BlockingConcurrentQueue<std::uint64_t> queue_;
    moodycamel::ProducerToken token_{queue_};
    bool bounded_;
    moodycamel::LightweightSemaphore room_;
};

class LockedQueue {
  public:
    explicit LockedQueue(std::size_t bound) : bound_(bound) {}

    void push(std::uint64_t number) {
        std::unique_lock lock{mutex_};
        room_.wait(lock, [this] { return bound_ == 0 || numbers_.size() < bound_; });
        numbers_.push_back(number);
        lock.unlock();
        mail_.notify_one();
    }

    std::uint64_t pop() {
        std::unique_lock lock{mutex_};
        mail_.wait(lock, [this] { return !numbers_.empty(); });
        const std::uint64_t number = numbers_.front();
        numbers_.pop_front();
        lock.unlock();
        if (bound_ != 0) {
            room_.notify_one();
        }
        return number;
    }

  private:
    std::size_t bound_;
    std::mutex mutex_;
    std::condition_variable mail_;
    std::condition_variable room_;
    std::deque<std::uint64_t> numbers_;
};

template <class Queue, class Work>
Outcome with_threads(const Cell& cell) {
    std::vector<std::unique_ptr<Queue>> queues;
    std::vector<std::unique_ptr<Work>> works;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < cell.actors; ++i) {
        queues.push_back(std::make_unique<Queue>(cell.bound));
        works.push_back(std::make_unique<Work>());
    }
    const auto begun = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < cell.actors; ++i) {
        threads.emplace_back([&cell, &queue = *queues[i], &work = *works[i]] {
            for (std::uint64_t number = 0; number != cell.each;) {
                number = queue.pop();
                work.run(number);
            }
        });
    }
    for (std::uint64_t number = 1; number <= cell.each; ++number) {
        for (auto& queue : queues) {
            queue->push(number);
        }
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    for (const auto& work : works) {
        must_be_whole(*work, cell);
    }
    return {seconds, 0};
}

}  // namespace

template <class Work>
Outcome moodycamel_queues(const Cell& cell) {
    return with_threads<MoodyQueue, Work>(cell);
}

template <class Work>
Outcome locked_queues(const Cell& cell) {
    return with_threads<LockedQueue, Work>(cell);
}

template Outcome moodycamel_queues<Sum100>(const Cell&);
template Outcome moodycamel_queues<Sum1000>(const Cell&);
template Outcome moodycamel_queues<Sha512>(const Cell&);
template Outcome locked_queues<Sum100>(const Cell&);
template Outcome locked_queues<Sum1000>(const Cell&);
template Outcome locked_queues<Sha512>(const Cell&);

}  // namespace pinstrike::bench
