// path: hot
//
// Settings of a poller that can change while it runs: thresholds, filters and more lines. A change
// loses no message.
//
// Memory orders: the control thread fills the settings and offers them (release). The poller adopts
// them at its next housekeeping (acquire) and clears the offer (release). The control thread sees
// this (acquire) and frees what the poller left in the settings. So only one thread at a time
// accesses them. The poller neither allocates nor frees memory: it swaps its own data with the
// offered data.
#pragma once

#include "feed/lines/line_watch.h"
#include "nic/packet/address.h"
#include "nic/port.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace pinstrike::actors {

/// Additional lines for a poller. The poller's own codec type builds them.
struct MoreLines {
    virtual ~MoreLines() = default;

    std::vector<std::unique_ptr<nic::MoreGroups>> groups;  ///< one for each port; null: no groups
};

struct PollerSettings {
    std::int64_t window_ns = 0;
    feed::SilenceConfig silence;
    bool block_checksum = true;
    bool test_symbols = false;
    std::vector<std::vector<nic::Subnet>> sources;  ///< allowed senders, for each port
    std::unique_ptr<MoreLines> lines;               ///< null: no additional lines
};

class SettingsOffer {
  public:
    /// Control thread. The settings must not change until adopted() returns true. One offer at a
    /// time.
    void offer(PollerSettings& settings) noexcept {
        offered_.store(&settings, std::memory_order_release);
    }

    /// Control thread: whether the poller has adopted the last offer.
    [[nodiscard]] bool adopted() const noexcept {
        return offered_.load(std::memory_order_acquire) == nullptr;
    }

    /// Poll thread. Calls adopt_settings(PollerSettings&) if there is an offer, and returns true
    /// then.
    template <class Adopt>
    bool adopt(Adopt adopt_settings) {
        PollerSettings* const settings = offered_.load(std::memory_order_acquire);
        if (settings == nullptr) {
            return false;
        }
        adopt_settings(*settings);
        offered_.store(nullptr, std::memory_order_release);
        return true;
    }

  private:
    std::atomic<PollerSettings*> offered_{nullptr};
};

}  // namespace pinstrike::actors
