// path: cold
#include "actors/gateway/state_jobs.h"

#include <algorithm>

namespace pinstrike::actors::gateway {

void StateJobs::add(feed::dbn::Schema schema, Selection selection, bool replays) {
    jobs_.push_back({schema, std::move(selection), replays, 0, {}});
}

bool StateJobs::Job::is_to_come(InstrumentId id) const {
    if (early.contains(id)) {
        return false;
    }
    if (selection.everything) {
        return id >= next;
    }
    const auto begin = selection.ids.begin() + static_cast<std::ptrdiff_t>(next);
    return std::binary_search(begin, selection.ids.end(), id);
}

bool StateJobs::take_early(feed::dbn::Schema schema, InstrumentId id) {
    for (Job& job : jobs_) {
        if (job.schema == schema && job.is_to_come(id)) {
            job.early.insert(id);
            return true;
        }
    }
    return false;
}

std::optional<feed::dbn::Schema> StateJobs::work(std::size_t series_max, InstrumentId end,
                                                 const Send& send) {
    if (jobs_.empty()) {
        return std::nullopt;
    }
    Job& job = jobs_.front();
    const std::size_t last = job.selection.everything ? end : job.selection.ids.size();
    for (std::size_t i = 0; i < series_max && job.next < last; ++i, ++job.next) {
        const InstrumentId id = job.selection.everything ? static_cast<InstrumentId>(job.next)
                                                         : job.selection.ids[job.next];
        if (!job.early.contains(id)) {
            send(job.schema, id);
        }
    }
    if (job.next < last) {
        return std::nullopt;
    }
    const auto completed = job.replays ? std::optional{job.schema} : std::nullopt;
    jobs_.pop_front();
    return completed;
}

}  // namespace pinstrike::actors::gateway
