// path: cold
#include "actors/gateway/state_jobs.h"

#include <algorithm>
#include <utility>

namespace pinstrike::actors::gateway {

using feed::dbn::Schema;

void StateJobs::add(Schema schema, InstrumentId id) {
    Job& to = job(schema);
    if (id >= to.wanted.size()) {
        to.wanted.resize(id + std::size_t{1});
    }
    if (!to.wanted[id]) {
        to.wanted[id] = true;
        ++to.left;
        ++waiting_;
    }
}

void StateJobs::add(Schema schema, const Selection& selection, InstrumentId end, bool replays) {
    if (selection.everything) {
        add_all(schema, end);
    }
    for (const InstrumentId id : selection.ids) {
        add(schema, id);
    }
    job(schema).replays += replays ? 1U : 0U;
    waiting_ += replays ? 1U : 0U;
}

/// Sets whole words of bits, because the serving thread does it for each client.
void StateJobs::add_all(Schema schema, InstrumentId end) {
    Job& to = job(schema);
    if (end <= 1) {
        return;
    }
    to.wanted.resize(std::max<std::size_t>(to.wanted.size(), end));
    const auto first = to.wanted.begin() + 1;
    const auto last = to.wanted.begin() + end;
    const auto before = static_cast<std::size_t>(std::count(first, last, true));
    std::fill(first, last, true);
    to.left += end - 1 - before;
    waiting_ += end - 1 - before;
}

void StateJobs::remove(Schema schema, const Selection& selection) {
    Job& from = job(schema);
    if (selection.everything) {
        waiting_ -= std::exchange(from.left, 0);
        from.wanted = {};
    }
    for (const InstrumentId id : selection.ids) {
        static_cast<void>(take_early(schema, id));
    }
}

/// The memory of the last one is freed: it is one bit for each series of the day.
void StateJobs::drop(Job& job, InstrumentId id) {
    job.wanted[id] = false;
    --job.left;
    --waiting_;
    if (job.left == 0) {
        job.wanted = {};
        job.next = 0;
    }
}

bool StateJobs::take_early(Schema schema, InstrumentId id) {
    Job& from = job(schema);
    const bool is_to_come = id < from.wanted.size() && from.wanted[id];
    if (is_to_come) {
        drop(from, id);
    }
    return is_to_come;
}

std::optional<Schema> StateJobs::work(std::size_t series_max, const Send& send) {
    if (empty()) {
        return std::nullopt;
    }
    while (jobs_[turn_].left == 0 && jobs_[turn_].replays == 0) {
        turn_ = (turn_ + 1) % jobs_.size();
    }
    Job& job = jobs_[turn_];
    const auto schema = static_cast<Schema>(turn_);
    for (std::size_t sent = 0; sent < series_max && job.left != 0; ++sent) {
        const auto from =
            job.wanted.begin() + static_cast<std::ptrdiff_t>(std::min(job.next, job.wanted.size()));
        auto at = std::find(from, job.wanted.end(), true);
        at = at == job.wanted.end() ? std::find(job.wanted.begin(), from, true) : at;
        const auto id = static_cast<InstrumentId>(at - job.wanted.begin());
        job.next = id + std::size_t{1};
        drop(job, id);
        send(schema, id);
    }
    const bool completed = job.left == 0 && job.replays != 0;
    job.replays -= completed ? 1U : 0U;
    waiting_ -= completed ? 1U : 0U;
    turn_ = (turn_ + 1) % jobs_.size();
    return completed ? std::optional{schema} : std::nullopt;
}

void StateJobs::clear() {
    jobs_ = {};
    waiting_ = 0;
}

}  // namespace pinstrike::actors::gateway
