// path: cold
#include "actors/runtime/wait_graph.h"

#include "actors/runtime/actor.h"

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
    std::map<const Actor*, std::set<const Actor*>> waits;
};

/// Made at the first use and never destroyed, because static actors may be destroyed late.
Graph& graph() {
    static auto* const one = new Graph;
    return *one;
}

using Path = std::vector<const Actor*>;

/// Extends `path` to `wanted`. False if no path leads there; then `path` is unchanged. `seen`:
/// actors from which no path leads there.
bool find_path(const Graph& edges, const Actor* wanted, Path& path, std::set<const Actor*>& seen) {
    if (path.back() == wanted) {
        return true;
    }
    const auto found = edges.waits.find(path.back());
    if (found == edges.waits.end() || !seen.insert(path.back()).second) {
        return false;
    }
    for (const Actor* next : found->second) {
        path.push_back(next);
        if (find_path(edges, wanted, path, seen)) {
            return true;
        }
        path.pop_back();
    }
    return false;
}

}  // namespace

void add_wait(const Actor& from, const Actor& to) {
    Graph& edges = graph();
    const std::lock_guard guard{edges.lock};
    Path path{&to};
    std::set<const Actor*> seen;
    if (find_path(edges, &from, path, seen)) {
        std::string circle{from.name()};
        for (const Actor* actor : path) {
            circle += " waits for " + std::string{actor->name()};
        }
        throw std::invalid_argument(circle + ": one of these mailboxes must refuse when full");
    }
    edges.waits[&from].insert(&to);
}

void forget_waits(const Actor& actor) noexcept {
    Graph& edges = graph();
    const std::lock_guard guard{edges.lock};
    edges.waits.erase(&actor);
    for (auto& [from, to] : edges.waits) {
        to.erase(&actor);
    }
}

}  // namespace pinstrike::actors::runtime
