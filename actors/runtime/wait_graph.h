// path: cold
//
// Why back-pressure cannot deadlock.
//
// An actor waits if it has sent to a mailbox that waits when full and that has no room. Actors
// could only wait for ever if they waited for each other in a cycle: A for room at B, and B for
// room at A. So each actor's sender to such a mailbox adds an edge to this graph, and an edge that
// would close a cycle is refused (std::invalid_argument, which names the cycle). The graph has no
// cycle, so the chain from an actor that waits, to the actor that it waits for, and so on, ends at
// an actor that does not wait. The executor calls that actor, which frees slots, so the actor
// before it continues, and so on back along the chain.
//
// This requires that every executor is stepped and that handlers return. If messages go in a cycle
// (pings one way, "more" the other way), at least one mailbox must therefore refuse when full, and
// the sender must handle the refusal. Threads that are not actors really block, but no actor waits
// for them. A thread may not block inside a step (checked).
//
// The cost: an edge stays until one of its actors is destroyed, even if the sender is destroyed
// earlier.
#pragma once

namespace pinstrike::actors::runtime {

class MailboxActor;

/// Adds an edge. May be called by any thread. Throws std::invalid_argument if `from` could then
/// wait for itself.
void add_wait(const MailboxActor& from, const MailboxActor& to);

/// Removes all edges of an actor that is destroyed.
void forget_waits(const MailboxActor& actor) noexcept;

}  // namespace pinstrike::actors::runtime
