// path: cold
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::sim {

/// The differences that the checks found, as text. Keeps the first few and counts the rest.
class Findings {
  public:
    void add(std::string what) {
        if (++count_ <= kept_max) {
            kept_.push_back(std::move(what));
        }
    }

    [[nodiscard]] std::size_t count() const { return count_; }

    [[nodiscard]] const std::vector<std::string>& kept() const { return kept_; }

  private:
    static constexpr std::size_t kept_max = 12;
    std::vector<std::string> kept_;
    std::size_t count_ = 0;
};

}  // namespace pinstrike::sim
