// path: cold
//
// A source that the test controls and that records its requests.
#pragma once

#include "feed/recovery/recovery.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::feed::test {

/// The requests of a source, and which of them are still open. Outlives the source.
struct Asked {
    std::vector<RepairRequest> requests;
    std::map<std::uint64_t, RepairRequest> in_flight;
    std::optional<Refusal> refuses;  ///< refuses every request, if set
    std::function<void(const RepairRequest&, std::int64_t now_ns)> watch;
    std::vector<std::function<void(RepairAnswers&)>> next_answers;  ///< runs in its next step
};

class FakeSource final : public RepairSource {
  public:
    FakeSource(std::string name, Asked& asked, bool passive = false)
        : name_(std::move(name)), asked_(asked), passive_(passive) {}

    [[nodiscard]] std::string_view name() const override { return name_; }

    [[nodiscard]] bool passive() const override { return passive_; }

    [[nodiscard]] std::optional<Refusal> request(const RepairRequest& request,
                                                 std::int64_t now_ns) override {
        if (asked_.refuses) {
            return asked_.refuses;
        }
        asked_.requests.push_back(request);
        asked_.in_flight[request.id] = request;
        if (asked_.watch) {
            asked_.watch(request, now_ns);
        }
        return std::nullopt;
    }

    void cancel(std::uint64_t id) override { asked_.in_flight.erase(id); }

    std::size_t step(std::int64_t /*now_ns*/, RepairAnswers& answers) override {
        const auto actions = std::exchange(asked_.next_answers, {});
        for (const auto& action : actions) {
            action(answers);
        }
        return actions.size();
    }

  private:
    std::string name_;
    Asked& asked_;
    bool passive_;
};

class FakeSink final : public RepairSink {
  public:
    bool full = false;
    std::vector<std::pair<std::uint16_t, std::size_t>> carried;  ///< line, bytes

    [[nodiscard]] bool carry(std::uint16_t line, std::span<const std::byte> bytes) override {
        if (!full) {
            carried.emplace_back(line, bytes.size());
        }
        return !full;
    }
};

/// Checks that every number noted missing is counted under one outcome, or is open.
inline std::string imbalance(const Recovery& recovery) {
    const auto count = [&](RecoveryCount which) { return recovery.counters().read(which); };
    const std::uint64_t ended = count(RecoveryCount::filled) + count(RecoveryCount::repaired) +
                                count(RecoveryCount::abandoned) +
                                count(RecoveryCount::never_asked) +
                                count(RecoveryCount::untracked) + count(RecoveryCount::open);
    return ended == count(RecoveryCount::missing)
               ? ""
               : "missing " + std::to_string(count(RecoveryCount::missing)) + " != ended or open " +
                     std::to_string(ended);
}

}  // namespace pinstrike::feed::test
