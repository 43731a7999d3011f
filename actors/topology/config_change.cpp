// path: cold
#include "actors/topology/config_change.h"

#include "actors/topology/feed_keys.h"
#include "config/explain.h"
#include "config/limits.h"

#include <algorithm>
#include <set>
#include <utility>

namespace pinstrike::actors {
namespace {

bool has_keys(const Node& node) {
    return node.kind == Node::Kind::mapping ||
           (node.kind == Node::Kind::sequence && !node.children.empty() &&
            std::ranges::all_of(node.children, [](const Node& child) {
                return child.kind == Node::Kind::mapping;
            }));
}

/// A section, or a list of sections, does not fit on a line, so the text is the number of elements.
std::string on_one_line(const Node& node) {
    if (has_keys(node)) {
        return node.kind == Node::Kind::mapping ? "a section"
                                                : fmt::format("a list of {}", node.children.size());
    }
    std::string text = to_yaml(node);
    text.erase(text.find_last_not_of('\n') + 1);
    std::ranges::replace(text, '\n', ' ');
    return text.size() <= shown_bytes_max ? text : text.substr(0, shown_bytes_max) + "...";
}

/// True if every existing line is unchanged and stays at its poller.
bool only_more_lines(const FeedConfig& before, const FeedConfig& after) {
    if (before.pollers.size() != after.pollers.size()) {
        return false;
    }
    const auto has_all = [](const auto& more, const auto& less) {
        return std::ranges::all_of(
            less, [&](const auto& item) { return std::ranges::count(more, item) != 0; });
    };
    for (std::size_t i = 0; i < before.pollers.size(); ++i) {
        if (!has_all(after.pollers[i].lines, before.pollers[i].lines)) {
            return false;
        }
    }
    return has_all(after.lines, before.lines);
}

class Comparison {
  public:
    explicit Comparison(std::set<std::string> reloading) : reloading_(std::move(reloading)) {}

    void compare(const std::string& path, const Node& before, const Node& after) {
        if (to_json(before) == to_json(after)) {
            return;
        }
        const bool alike = before.kind == after.kind && has_keys(before) && has_keys(after);
        if (alike && before.kind == Node::Kind::mapping) {
            return compare_keys(path, before, after);
        }
        if (alike && before.children.size() == after.children.size()) {
            for (std::size_t i = 0; i < before.children.size(); ++i) {
                compare(fmt::format("{}[{}]", path, i), before.children[i], after.children[i]);
            }
            return;
        }
        changes.push_back({path, reloading_.contains(without_indices(path)), on_one_line(before),
                           on_one_line(after)});
    }

    std::vector<ConfigChange> changes;

  private:
    void compare_keys(const std::string& path, const Node& before, const Node& after) {
        const Node nothing = Node::plain("nothing");
        for (const Node& child : before.children) {
            const Node* other = after.find(child.key);
            compare(path_of(path, child.key), child, other == nullptr ? nothing : *other);
        }
        for (const Node& child : after.children) {
            if (before.find(child.key) == nullptr) {
                compare(path_of(path, child.key), nothing, child);
            }
        }
    }

    std::set<std::string> reloading_;
};

}  // namespace

std::vector<ConfigChange> changes_between(const FeedConfig& before, const FeedConfig& after) {
    std::vector<KeyDoc> docs;
    document_section(feed_section(), "", docs);
    const bool more = only_more_lines(before, after);
    std::set<std::string> reloading;
    for (const KeyDoc& doc : docs) {
        if (doc.reload == Reload::any || (doc.reload == Reload::more && more)) {
            reloading.insert(doc.path);
        }
    }
    Comparison comparison{std::move(reloading)};
    comparison.compare("", write_section(feed_section(), before),
                       write_section(feed_section(), after));
    return std::move(comparison.changes);
}

}  // namespace pinstrike::actors
