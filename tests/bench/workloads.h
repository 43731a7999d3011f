// The classic workload: one sender sends the same number of messages to each of T actors, in turn,
// and every message is a piece of work. This header declares the parameters and the result of a
// contender.
#pragma once

#include "actors/bench/sample_work.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace pinstrike::bench {

using Sum100 = actors::SumOf<100>;
using Sum1000 = actors::SumOf<1000>;
using Sha512 = actors::Sha512;

struct Cell {
    std::size_t actors = 1;
    std::uint64_t each = 100'000;   ///< messages to each actor: 1, 2, 3 ... each
    std::size_t bound = 0;          ///< messages that may wait for an actor; 0: any number
    std::size_t beside_sender = 0;  ///< actors on the sender's core, if the caller places actors
};

/// Afterwards, the `total` of each actor's work must equal that of the work alone, which shows that
/// no message was lost or repeated.
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

/// The total of one actor's work.
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

// Each template is instantiated for the three kinds of work, in a file of its own.

/// Does the work of all actors without messages, on as many threads as there are processors, but at
/// most 2.
template <class Work>
Outcome work_alone(const Cell& cell);

/// The runtime's sender. Nothing receives while it is measured.
Outcome sender_alone(const Cell& cell);

/// The runtime. A thread sends to a single actor. An actor sends to several, and shares its core
/// with some of them.
template <class Work>
Outcome pinstrike_actors(const Cell& cell);

/// CAF's own scheduler with two threads. Credit bounds the messages that wait: an actor says "more"
/// after every half bound.
template <class Work>
Outcome caf_actors(const Cell& cell);

/// CAF with a thread for each actor, bounded in the same way.
template <class Work>
Outcome caf_detached(const Cell& cell);

/// moodycamel's blocking queue and a thread for each actor. The queue's semaphore bounds it.
template <class Work>
Outcome moodycamel_queues(const Cell& cell);

/// A deque under a mutex with condition variables, and a thread for each actor.
template <class Work>
Outcome locked_queues(const Cell& cell);

}  // namespace pinstrike::bench
