// path: hot
//
// Periodic work: removes entries and publishes figures for other threads.
#include "actors/book/book.h"

namespace pinstrike::actors {

void Book::on_timer(std::int64_t now_ns) {
    // The scan takes about 15 us per millisecond, so a pass over 4 M slots takes about two seconds.
    constexpr std::size_t slots_per_timer = 2048;
    constexpr std::int64_t publish_every_ns = 250'000'000;
    // Relaxed, because no other data depends on it.
    std::atomic_ref<std::int64_t>{entries_.store.memory.core().alive_ns}.store(
        now_ns, std::memory_order_relaxed);
    if (transfer_ != nullptr) {
        transfer_->on_timer();
    }
    entries_.sweep(slots_per_timer);
    const bool set_back = now_ns < publish_due_ns_ - publish_every_ns;  // the clock was set back
    if (now_ns >= publish_due_ns_ || set_back) {
        publish_due_ns_ = now_ns + publish_every_ns;
        publish();
    }
}

std::size_t Book::on_idle() {
    return transfer_ == nullptr ? 0 : transfer_->step();
}

void Book::on_stop() {
    publish();
}

void Book::publish() {
    entries_count_.set(entries_.store.table.used());
    announced_count_.set(entries_.announced());
    publish_busiest();
}

void Book::publish_busiest() {
    candidates_.refresh([this](const feed::SeriesKey& key) -> std::uint64_t {
        const BookEntry* const entry = entries_.store.table.find(key);
        return entry == nullptr || !entries_.known(*entry) || !lists(key) ? 0 : entry->quotes;
    });
    const auto price_e8 = [](const BookSide& side) {
        return is(side, side_present) ? price_of(side).e8() : BusySeries::no_price;
    };
    BusiestBoard::Ranking ranking;
    std::size_t place = 0;
    for (const BusiestCandidates::Candidate& candidate : candidates_.all()) {
        BusySeries& row = ranking[place++];
        const BookEntry* const found =
            candidate.quotes == 0 ? nullptr : entries_.store.table.find(candidate.key);
        if (found != nullptr) {
            BookEntry entry = *found;
            entries_.clear_flushed_sides(entry);
            row = {.key = candidate.key,
                   .quotes = candidate.quotes,
                   .bid_e8 = price_e8(entry.bid),
                   .offer_e8 = price_e8(entry.offer)};
        }
    }
    board_.publish(ranking);
}

}  // namespace pinstrike::actors
