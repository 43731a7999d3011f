// path: hot
//
// What a poller can be given while it runs, and how: thresholds, filters and more lines, which lose
// no message by their change.
//
// Orders: the control thread fills the settings and offers them (release), the poller takes them at
// its next housekeeping (acquire) and says so (release), the control thread frees what was taken
// (acquire). So each side touches them only while the other does not. The poller neither allocates
// nor frees: it exchanges what it has for what it was given.
#pragma once

#include "feed/lines/line_watch.h"
#include "nic/packet/address.h"
#include "nic/port.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace pinstrike::actors {

/// Lines that a poller is to have as well: made ready for it, by its kind.
struct MoreLines {
    virtual ~MoreLines() = default;

    std::vector<std::unique_ptr<nic::MoreGroups>> groups;  ///< for each of its ports; null: none
};

struct PollerSettings {
    std::int64_t window_ns = 0;
    feed::SilenceConfig silence;
    bool block_checksum = true;
    bool test_symbols = false;
    std::vector<std::vector<nic::Subnet>> sources;  ///< allowed senders, of each of its ports
    std::unique_ptr<MoreLines> lines;               ///< null: no more
};

class SettingsOffer {
  public:
    /// Control thread. They stay as they are until taken() is true of them; one offer at a time.
    void make(PollerSettings& settings) noexcept {
        offered_.store(&settings, std::memory_order_release);
    }

    /// Control thread: has the poller taken the last offer?
    [[nodiscard]] bool taken() const noexcept {
        return offered_.load(std::memory_order_acquire) == nullptr;
    }

    /// Poller. Calls adopt(PollerSettings&) if there is an offer; true then.
    template <class Adopt>
    bool take(Adopt adopt) {
        PollerSettings* const settings = offered_.load(std::memory_order_acquire);
        if (settings == nullptr) {
            return false;
        }
        adopt(*settings);
        offered_.store(nullptr, std::memory_order_release);
        return true;
    }

  private:
    std::atomic<PollerSettings*> offered_{nullptr};
};

}  // namespace pinstrike::actors
