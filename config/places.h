// path: cold
#pragma once

#include "config/problem.h"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace pinstrike {

/// The place of each key in the config file, by its path ("ports[0].pci", "lines#220"), so that
/// rules over the parsed structs can refer to the file. Structs made by tests have no places; their
/// problems contain only the path.
class Places {
  public:
    Places() = default;

    explicit Places(std::string file) : file_(std::move(file)) {}

    void put(const std::string& path, unsigned line, unsigned column) {
        places_[path] = Place{file_, line, column};
    }

    /// True if the config contains this key, so its value is not a default.
    [[nodiscard]] bool has(const std::string& path) const { return places_.contains(path); }

    /// The place of the key, or of the innermost enclosing section that has a place.
    [[nodiscard]] Place at(std::string_view path) const {
        while (!path.empty()) {
            const auto found = places_.find(std::string{path});
            if (found != places_.end()) {
                return found->second;
            }
            path = outer(path);
        }
        return Place{file_, 0, 0};
    }

    /// Notes that the value at `path` could not be parsed.
    void mark_bad(const std::string& path) { bad_.insert(path); }

    /// True if neither the value at the path nor a section that encloses it failed to parse. Values
    /// inside it may have failed, so a list is reached although one of its elements is malformed.
    [[nodiscard]] bool reached(std::string_view path) const {
        while (!path.empty()) {
            if (bad_.contains(std::string{path})) {
                return false;
            }
            path = outer(path);
        }
        return true;
    }

    /// True if the value at the path, the sections that enclose it and all values inside it were
    /// parsed. Rules check only such values, because the parser has already reported the others.
    [[nodiscard]] bool sound(const std::string& path) const {
        for (const char* inside : {".", "[", "#"}) {
            const auto below = bad_.lower_bound(path + inside);
            if (below != bad_.end() && below->starts_with(path + inside)) {
                return false;
            }
        }
        return reached(path);
    }

    [[nodiscard]] const std::string& file() const { return file_; }

  private:
    /// The path of the enclosing section; empty if there is none.
    static std::string_view outer(std::string_view path) {
        const std::size_t cut = path.find_last_of(".[#");
        return path.substr(0, cut == std::string_view::npos ? 0 : cut);
    }

    std::string file_;
    std::map<std::string, Place> places_;
    std::set<std::string> bad_;
};

}  // namespace pinstrike
