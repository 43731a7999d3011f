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
        for (InstrumentId id = 1; id < end; ++id) {
            add(schema, id);
        }
    }
    for (const InstrumentId id : selection.ids) {
        add(schema, id);
    }
    job(schema).replays += replays ? 1U : 0U;
    waiting_ += replays ? 1U : 0U;
}

void StateJobs::keep(Schema schema, const Selection& selection) {
    if (selection.everything) {
        return;
    }
    const std::vector<bool> before = std::move(job(schema).wanted);
    waiting_ -= std::exchange(job(schema).left, 0);
    job(schema).wanted.clear();
    for (const InstrumentId id : selection.ids) {
        if (id < before.size() && before[id]) {
            add(schema, id);
        }
    }
}

void StateJobs::drop(Job& job, InstrumentId id) {
    job.wanted[id] = false;
    --job.left;
    --waiting_;
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
