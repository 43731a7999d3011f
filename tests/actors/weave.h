// Walks every interleaving of a few threads, at the weave points that the code under test names.
//
// The "threads" are fibers in one thread. At each weave point the fiber pauses, and the weaver
// selects the fiber that continues. It makes other choices in each run, depth first, until it has
// run every order. So a failing order is found in every run of the test, and its list of weave
// points is reported.
//
// It does not show reorderings by the processor, because each fiber's memory operations execute in
// program order. is_fenced() therefore checks that there is a fence where the proof at the head of
// a file needs one. The thread sanitizer and the stress tests cover the rest.
#pragma once

#include "config/hooks.h"

#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::weave {

/// The point that every fence passes.
constexpr std::string_view fence_point = "fence";

/// The point that a thread passes between two tries of the same step. It goes on only if another
/// thread has made a step, or if no other one can.
constexpr std::string_view spin_point = "spin";

/// The points that this thread passes during `body`, in their order.
inline std::vector<std::string_view> points_of(const std::function<void()>& body) {
    static thread_local std::vector<std::string_view> points;
    points.clear();
    weave_point = [](const char* where) { points.emplace_back(where); };
    body();
    weave_point = nullptr;
    return points;
}

/// True if each `store` that is followed by a `load` has a fence between the two points, and there
/// is at least one such pair.
inline bool is_fenced(const std::vector<std::string_view>& points, std::string_view store,
                      std::string_view load) {
    bool found = false;
    for (auto from = std::ranges::find(points, store); from != points.end();
         from = std::find(from + 1, points.end(), store)) {
        const auto to = std::find(from, points.end(), load);
        found = found || to != points.end();
        if (to != points.end() && std::find(from, to, fence_point) == to) {
            return false;
        }
    }
    return found;
}

class Weaver {
  public:
    using Body = std::function<void()>;

    /// Calls `make` once for every order of the fibers that it returns, and `check` after each run.
    /// Returns the number of orders. A fiber that waits for ever is reported to `on_stuck`. An
    /// order has at most `preemptions_max` switches away from a fiber that could continue: nearly
    /// all races need two or three, and without a bound there are too many orders.
    std::size_t walk(const std::function<std::vector<Body>()>& make,
                     const std::function<void()>& check,
                     const std::function<void(const std::string&)>& on_stuck,
                     std::size_t preemptions_max = 1000) {
        std::size_t orders = 0;
        decisions_.clear();
        preemptions_max_ = preemptions_max;
        do {
            run_once(make(), on_stuck);
            check();
            ++orders;
        } while (next_order());
        return orders;
    }

    /// Inside a fiber: waits until `ready` is true, letting others run.
    static void block_until(std::function<bool()> ready) {
        Fiber& fiber = *active_->running_;
        fiber.ready = std::move(ready);
        active_->pause("blocked");
        fiber.ready = nullptr;
    }

    [[nodiscard]] std::string trace() const { return trace_; }

  private:
    struct Fiber {
        static constexpr std::size_t stack_bytes = 64 * 1024;
        ucontext_t context{};
        std::vector<char> stack = std::vector<char>(stack_bytes);
        Body body;
        std::function<bool()> ready;
        bool done = false;
        bool spins = false;
        std::size_t index = 0;
    };

    struct Decision {
        std::size_t taken;
        std::size_t options;
    };

    static void enter() {
        Fiber& fiber = *active_->running_;
        fiber.body();
        fiber.done = true;
        swapcontext(&fiber.context, &active_->main_);
    }

    void pause(const char* where) {
        trace_ += std::to_string(running_->index) + ":" + where + " ";
        swapcontext(&running_->context, &main_);
    }

    static void at_point(const char* where) {
        if (where != fence_point) {  // one thread runs here, so a fence has no effect
            active_->running_->spins = where == spin_point;
            active_->pause(where);
        }
    }

    void run_once(std::vector<Body> bodies,
                  const std::function<void(const std::string&)>& on_stuck) {
        active_ = this;
        depth_ = 0;
        preemptions_ = 0;
        running_ = nullptr;
        trace_.clear();
        fibers_.clear();
        for (Body& body : bodies) {
            auto fiber = std::make_unique<Fiber>();
            fiber->body = std::move(body);
            fiber->index = fibers_.size();
            getcontext(&fiber->context);
            fiber->context.uc_stack.ss_sp = fiber->stack.data();
            fiber->context.uc_stack.ss_size = fiber->stack.size();
            fiber->context.uc_link = nullptr;
            makecontext(&fiber->context, &Weaver::enter, 0);
            fibers_.push_back(std::move(fiber));
        }
        weave_point = &Weaver::at_point;
        while (run_one(on_stuck)) {
        }
        weave_point = nullptr;
    }

    bool run_one(const std::function<void(const std::string&)>& on_stuck) {
        std::vector<Fiber*> able;
        bool all_done = true;
        for (auto& fiber : fibers_) {
            all_done = all_done && fiber->done;
            if (!fiber->done && (!fiber->ready || fiber->ready())) {
                able.push_back(fiber.get());
            }
        }
        if (able.empty()) {
            if (!all_done) {
                on_stuck(trace_);
            }
            return false;
        }
        if (able.size() > 1 && running_ != nullptr && std::exchange(running_->spins, false)) {
            std::erase(able, running_);
        }
        choose(able);
        swapcontext(&main_, &running_->context);
        return true;
    }

    /// The fiber that ran last is the first choice, so the order without preemption is the first.
    void choose(std::vector<Fiber*>& able) {
        const auto last = std::find(able.begin(), able.end(), running_);
        const bool could_go_on = last != able.end();
        if (could_go_on) {
            std::rotate(able.begin(), last, last + 1);
        }
        if (could_go_on && preemptions_ == preemptions_max_) {
            return;
        }
        const std::size_t taken = able.size() == 1 ? 0 : decide(able.size());
        preemptions_ += could_go_on && taken != 0 ? 1 : 0;
        running_ = able[taken];
    }

    std::size_t decide(std::size_t options) {
        if (depth_ == decisions_.size()) {
            decisions_.push_back({0, options});
        }
        return decisions_[depth_++].taken;
    }

    bool next_order() {
        while (!decisions_.empty() && decisions_.back().taken + 1 == decisions_.back().options) {
            decisions_.pop_back();
        }
        if (decisions_.empty()) {
            return false;
        }
        ++decisions_.back().taken;
        return true;
    }

    inline static Weaver* active_ = nullptr;
    ucontext_t main_{};
    std::vector<std::unique_ptr<Fiber>> fibers_;
    Fiber* running_ = nullptr;
    std::vector<Decision> decisions_;
    std::size_t depth_ = 0;
    std::size_t preemptions_ = 0;
    std::size_t preemptions_max_ = 0;
    std::string trace_;
};

}  // namespace pinstrike::weave
