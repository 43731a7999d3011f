// path: cold
#pragma once

#include "config/problem.h"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace pinstrike {

/// Where each key of a config stood, by its path ("ports[0].pci", "lines#220"), so that rules over
/// the finished structs can still point at the file. Structs made by hand have no places: their
/// problems then carry the path alone.
class Places {
  public:
    Places() = default;

    explicit Places(std::string file) : file_(std::move(file)) {}

    void put(const std::string& path, unsigned line, unsigned column) {
        places_[path] = Place{file_, line, column};
    }

    /// True if the config itself says this key (and it is not a default).
    [[nodiscard]] bool has(const std::string& path) const { return places_.contains(path); }

    /// The key's place, or that of the nearest section around it.
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

    /// Notes that what stands there was not understood.
    void spoil(const std::string& path) { spoiled_.insert(path); }

    /// True if the path itself was understood, whatever is wrong below it: a list is one, though
    /// one of its elements may not be what it should.
    [[nodiscard]] bool reached(std::string_view path) const {
        while (!path.empty()) {
            if (spoiled_.contains(std::string{path})) {
                return false;
            }
            path = outer(path);
        }
        return true;
    }

    /// True if all of what stands at and below the path was understood, so that a rule over it
    /// says something the reader does not know already.
    [[nodiscard]] bool sound(const std::string& path) const {
        for (const char* inside : {".", "[", "#"}) {
            const auto below = spoiled_.lower_bound(path + inside);
            if (below != spoiled_.end() && below->starts_with(path + inside)) {
                return false;
            }
        }
        return reached(path);
    }

    [[nodiscard]] const std::string& file() const { return file_; }

  private:
    /// The section around; empty: none.
    static std::string_view outer(std::string_view path) {
        const std::size_t cut = path.find_last_of(".[#");
        return path.substr(0, cut == std::string_view::npos ? 0 : cut);
    }

    std::string file_;
    std::map<std::string, Place> places_;
    std::set<std::string> spoiled_;
};

}  // namespace pinstrike
