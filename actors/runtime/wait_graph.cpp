// path: cold
#include "actors/runtime/wait_graph.h"

#include "actors/runtime/mailbox_actor.h"

#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace pinstrike::actors::runtime {

namespace {

struct Graph {
    std::mutex lock;
    std::map<const MailboxActor*, std::set<const MailboxActor*>> waits;
};

/// Made at the first use and never destroyed, because static actors may be destroyed late.
Graph& graph() {
    static auto* const one = new Graph;
    return *one;
}

using Path = std::vector<const MailboxActor*>;

/// Extends `path` to `wanted`. False if no path leads there; then `path` is unchanged. `seen`:
/// actors from which no path leads there.
bool find_path(const Graph& edges, const MailboxActor* wanted, Path& path,
               std::set<const MailboxActor*>& seen) {
    if (path.back() == wanted) {
        return true;
    }
    const auto found = edges.waits.find(path.back());
    if (found == edges.waits.end() || !seen.insert(path.back()).second) {
        return false;
    }
    for (const MailboxActor* next : found->second) {
        path.push_back(next);
        if (find_path(edges, wanted, path, seen)) {
            return true;
        }
        path.pop_back();
    }
    return false;
}

}  // namespace

void add_wait(const MailboxActor& from, const MailboxActor& to) {
    Graph& edges = graph();
    const std::lock_guard guard{edges.lock};
    Path path{&to};
    std::set<const MailboxActor*> seen;
    if (find_path(edges, &from, path, seen)) {
        std::string circle{from.name()};
        for (const MailboxActor* actor : path) {
            circle += " waits for " + std::string{actor->name()};
        }
        throw std::invalid_argument(circle + ": one of these mailboxes must refuse when full");
    }
    edges.waits[&from].insert(&to);
}

void forget_waits(const MailboxActor& actor) noexcept {
    Graph& edges = graph();
    const std::lock_guard guard{edges.lock};
    edges.waits.erase(&actor);
    for (auto& [from, to] : edges.waits) {
        to.erase(&actor);
    }
}

}  // namespace pinstrike::actors::runtime
