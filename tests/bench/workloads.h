// The classic workload: one sender, T actors, so many messages to each, in turn; every message is a
// piece of work. What each contender is told and what it answers.
#pragma once

#include "actors/bench/sample_work.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace pinstrike::bench {

using Sum100 = command::SumOf<100>;
using Sum1000 = command::SumOf<1000>;
using Sha512 = command::Sha512;

struct Cell {
    std::size_t actors = 1;
    std::uint64_t each = 100'000;   ///< messages to each actor: 1, 2, 3 ... each
    std::size_t bound = 0;          ///< messages that may wait for an actor; 0: any number
    std::size_t beside_sender = 0;  ///< actors on the sender's core, where the placement is ours
};

/// `total` of each actor's work must be that of the work alone: nothing lost, nothing twice.
struct Outcome {
    double seconds = 0;
    std::uint64_t refusals = 0;
};

inline void must(bool right, const char* what) {
    if (!right) {
        std::fprintf(stderr, "%s\n", what);
        std::exit(1);
    }
}

/// What one actor's work comes to.
template <class Work>
std::uint64_t total_of(std::uint64_t each) {
    static std::uint64_t counted = 0;
    static std::uint64_t total = 0;
    if (counted != each) {
        Work work;
        for (std::uint64_t i = 1; i <= each; ++i) {
            work.run(i);
        }
        counted = each;
        total = work.total();
    }
    return total;
}

template <class Work>
void must_be_whole(const Work& work, const Cell& cell) {
    must(work.total() == total_of<Work>(cell.each), "messages were lost, or came twice");
}

// Each is instantiated for the three works, in a file of its own.

/// No messages: the work of all actors on as many threads as there are processors, 2 at most.
template <class Work>
Outcome work_alone(const Cell& cell);

/// The runtime's sender, and nobody who takes while it is measured.
Outcome sender_alone(const Cell& cell);

/// The runtime. One actor is sent to by a thread; several by an actor that shares its core with
/// some of them.
template <class Work>
Outcome pinstrike_actors(const Cell& cell);

/// CAF's own scheduler, of two threads. Bounded by credit: an actor says "more" every half bound.
template <class Work>
Outcome caf_actors(const Cell& cell);

/// CAF with a thread for each actor; bounded likewise.
template <class Work>
Outcome caf_detached(const Cell& cell);

/// moodycamel's blocking queue and a thread for each actor; bounded by its semaphore.
template <class Work>
Outcome moodycamel_queues(const Cell& cell);

/// A deque under a mutex with condition variables, and a thread for each actor.
template <class Work>
Outcome locked_queues(const Cell& cell);

}  // namespace pinstrike::bench
