// path: hot
#include "actors/runtime/mailbox.h"

namespace pinstrike::actors::runtime {

Inbox::Inbox(MailboxActor* owner) : owner_(*owner), next_(owner->inboxes_) {
    owner->inboxes_ = this;
}

Inbox::~Inbox() {
    close();
    while (lanes_ != nullptr) {
        LaneBase* lane = lanes_;
        lanes_ = lane->below;
        LaneBase::let_go(lane);
    }
}

void Inbox::join(LaneBase& lane) noexcept {
    new_lanes_.push(lane);
    fence_seq_cst();  // either close() sees the lane on the stack, or this thread sees closed_
    RING_HOOK("inbox:joined");
    if (closed_.load(std::memory_order_relaxed)) {
        lane.close();
    }
}

void Inbox::add_new_lanes() noexcept {
    LaneBase* lane = new_lanes_.pop_all();
    while (lane != nullptr) {
        LaneBase* next = lane->below;
        lane->below = lanes_;
        lanes_ = lane;
        lane = next;
    }
}

void Inbox::drop_old_lanes() noexcept {
    LaneBase** at = &lanes_;
    while (*at != nullptr) {
        LaneBase* lane = *at;
        if (lane->is_over()) {
            *at = lane->below;
            LaneBase::let_go(lane);
        } else {
            at = &lane->below;
        }
    }
}

/// A new lane counts as mail, because its sender may have rung before the lane was in the list.
bool Inbox::has_mail() const noexcept {
    if (!new_lanes_.empty()) {
        return true;
    }
    for (const LaneBase* lane = lanes_; lane != nullptr; lane = lane->below) {
        if (lane->has_mail()) {
            return true;
        }
    }
    return false;
}

void Inbox::close() noexcept {
    closed_.store(true, std::memory_order_relaxed);
    RING_HOOK("inbox:closed");
    fence_seq_cst();  // pairs with that in join()
    RING_HOOK("inbox:before_add");
    add_new_lanes();
    for (LaneBase* lane = lanes_; lane != nullptr; lane = lane->below) {
        lane->close();
    }
}

std::uint64_t Inbox::waiting() const noexcept {
    std::uint64_t waiting = 0;
    for (const LaneBase* lane = lanes_; lane != nullptr; lane = lane->below) {
        waiting += lane->waiting();
    }
    return waiting;
}

}  // namespace pinstrike::actors::runtime
