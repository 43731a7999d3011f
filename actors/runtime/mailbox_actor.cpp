// path: mixed, hot: activate() and what it calls
#include "actors/runtime/mailbox_actor.h"

#include "actors/runtime/executor.h"
#include "actors/runtime/mailbox.h"
#include "actors/runtime/timer.h"
#include "actors/runtime/wait_graph.h"

#include <cstring>
#include <exception>
#include <mutex>
#include <utility>

namespace pinstrike::actors::runtime {

/// The monitors that get a message when the actor ends. The lock is only taken when a monitor is
/// added and when the actor ends.
struct MailboxActor::Monitors {
    std::mutex lock;
    bool notified = false;
    std::vector<Sender<Down>> senders;
};

MailboxActor::MailboxActor() : monitors_(std::make_unique<Monitors>()) {
    down_.which = this;
}

MailboxActor::~MailboxActor() {
    forget_waits(*this);
}

void MailboxActor::monitor(Mailbox<Down>& downs) {
    Sender<Down> sender = downs.make_sender(nullptr, {.most = 1});
    const std::lock_guard guard{monitors_->lock};
    if (monitors_->notified) {
        static_cast<void>(sender.try_send(Down{down_}));  // refused: the monitor has ended
    } else {
        monitors_->senders.push_back(std::move(sender));
    }
}

void MailboxActor::notify_monitors() noexcept {
    const std::lock_guard guard{monitors_->lock};
    monitors_->notified = true;
    for (Sender<Down>& sender : monitors_->senders) {
        static_cast<void>(sender.try_send(Down{down_}));  // refused: it has ended; never full
        sender.flush();
    }
    monitors_->senders.clear();
}

void MailboxActor::stop() noexcept {
    stop_asked_.store(true, std::memory_order_relaxed);
    RING_HOOK("actor:stop_asked");
    fence_seq_cst();  // B2 of bell.h
    ring();
}

void MailboxActor::make_ready() noexcept {
    executor_->make_ready(*this);
}

void MailboxActor::fail(const char* what) noexcept {
    down_.failed = true;
    std::strncpy(down_.text.data(), what, down_.text.size() - 1);
    finishing_ = true;
}

/// Ends the actor, which then handles no more messages. Wakes senders that wait for room in its
/// mailboxes; they get Sent::stopped.
void MailboxActor::end() noexcept {
    if (started_ && !down_.failed) {
        try {
            on_stop();
        } catch (const std::exception& error) {
            fail(error.what());
        } catch (...) {
            fail("an exception that is no std::exception");
        }
    }
    flush();
    static_cast<void>(bell_.disarm());  // so that no thread puts it on the ready list any more
    for (Inbox* box = inboxes_; box != nullptr; box = box->next_) {
        box->close();
    }
    ended_.store(true, std::memory_order_release);
    notify_monitors();
}

void MailboxActor::untouch(LaneBase& lane) noexcept {
    for (LaneBase** at = &touched_; *at != nullptr; at = &(*at)->next_touched_) {
        if (*at == &lane) {
            *at = lane.next_touched_;
            lane.touched_ = false;
            return;
        }
    }
}

// --- hot ---

void MailboxActor::activate(std::size_t budget, std::size_t& handled) noexcept {
    finishing_ = finishing_ || stop_asked_.load(std::memory_order_relaxed);
    if (finishing_ || waits_for_room()) {
        return;
    }
    halted_ = false;
    try {  // tidy: allowed: costs nothing until a handler throws
        work(budget, handled);
    } catch (const std::exception& error) {
        fail(error.what());
    } catch (...) {
        fail("an exception that is no std::exception");
    }
    flush();
}

void MailboxActor::work(std::size_t budget, std::size_t& handled) {
    if (!started_) {
        started_ = true;
        on_start();
    }
    while (due_ != nullptr && !halted_) {
        TimerBase& timer = *due_;
        due_ = timer.next_due_;
        timer.in_due_ = false;
        if (!std::exchange(timer.handled_, true)) {
            ++handled;
            timer.notify();
        }
    }
    for (Inbox* box = inboxes_; box != nullptr && !halted_; box = box->next_) {
        box->serve(budget, handled);
    }
}

/// Publishes what the activation sent, with one fence for all lanes. Lanes that are too full stay
/// in the list.
void MailboxActor::flush() noexcept {
    if (touched_ == nullptr) {
        return;
    }
    for (LaneBase* lane = touched_; lane != nullptr; lane = lane->next_touched_) {
        lane->publish();
    }
    fence_seq_cst();  // B2 of bell.h, for all of them
    LaneBase** at = &touched_;
    while (*at != nullptr) {
        LaneBase& lane = **at;
        lane.ring_receiver();
        if (!lane.closed() && lane.is_too_full()) {
            at = &lane.next_touched_;
        } else {
            lane.touched_ = false;
            *at = lane.next_touched_;
        }
    }
}

/// Whether some lanes still have too little room. Removes the other lanes from the list.
bool MailboxActor::waits_for_room() noexcept {
    LaneBase** at = &touched_;
    while (*at != nullptr) {
        LaneBase& lane = **at;
        if (lane.has_much_room()) {
            lane.touched_ = false;
            *at = lane.next_touched_;
        } else {
            at = &lane.next_touched_;
        }
    }
    return touched_ != nullptr;
}

void MailboxActor::want_room() noexcept {
    for (LaneBase* lane = touched_; lane != nullptr; lane = lane->next_touched_) {
        lane->want_room();
    }
}

/// Whether the actor has a reason to run. The executor asks after it has armed the bell of an actor
/// that is about to sleep. While the actor waits for room, messages in its mailboxes are no reason.
bool MailboxActor::could_run() noexcept {
    if (stop_asked_.load(std::memory_order_relaxed)) {
        return true;
    }
    if (touched_ != nullptr) {
        return !waits_for_room();
    }
    for (Inbox* box = inboxes_; box != nullptr; box = box->next_) {
        if (box->has_mail()) {
            return true;
        }
    }
    return due_ != nullptr;
}

/// Number of messages published to the actor and not taken.
std::uint64_t MailboxActor::backlog() noexcept {
    std::uint64_t waiting = 0;
    for (Inbox* box = inboxes_; box != nullptr; box = box->next_) {
        waiting += box->waiting();
    }
    return waiting;
}

}  // namespace pinstrike::actors::runtime
