// path: cold
#pragma once

#include "feed/recovery/repair.h"

#include <string>
#include <utility>

namespace pinstrike::feed {

/// The published retransmission groups. They carry the blocks that other subscribers requested, and
/// the poller receives them like all other packets. The source takes no requests; recovery only
/// waits.
class PassiveSource final : public RepairSource {
  public:
    explicit PassiveSource(std::string name) : name_(std::move(name)) {}

    [[nodiscard]] std::string_view name() const override { return name_; }

    [[nodiscard]] bool passive() const override { return true; }

    [[nodiscard]] std::optional<Refusal> request(const RepairRequest& /*request*/,
                                                 std::int64_t /*now_ns*/) override {
        return Refusal::not_connected;
    }

    void cancel(std::uint64_t /*id*/) override {}

    std::size_t step(std::int64_t /*now_ns*/, RepairAnswers& /*answers*/) override { return 0; }

  private:
    std::string name_;
};

}  // namespace pinstrike::feed
