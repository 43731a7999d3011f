// path: cold
//
// Why back-pressure cannot deadlock.
//
// An actor waits where it sent into a mailbox that waits when full, and that has no room. Actors
// could only wait for ever if they waited for each other in a circle: A for B's room, B for A's. So
// whoever makes an actor's sender to such a mailbox adds an edge here, and the edge that would
// close a circle is refused (std::invalid_argument, naming the circle). What is left has no circle:
// from any actor that waits, the chain of those it waits for ends at one that does not wait. That
// one is called by its core and makes room; the one before it goes on; and so on back.
//
// What it needs: every core is stepped, and handlers return. In a circle of messages (pings one
// way, "more" the other) at least one mailbox must therefore refuse when full: that sender is told,
// and has to mean something by it. Threads that are no actors really block, but nobody waits for
// them; a thread may not do so inside a step (checked).
//
// Price: an edge stays until one of its actors is gone, though the sender may be gone earlier.
#pragma once

namespace pinstrike::actors::runtime {

class Actor;

/// Any thread. Throws std::invalid_argument where `from` would come to wait for itself.
void add_wait(const Actor& from, const Actor& to);

/// All edges of an actor that ends its life.
void forget_waits(const Actor& actor) noexcept;

}  // namespace pinstrike::actors::runtime
