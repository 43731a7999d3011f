// path: cold
//
// The log of a running appliance on standard error, joined: who watches it, who else may speak, and
// where the lines go. Used by the control thread.
#pragma once

#include "actors/appliance/appliance.h"
#include "actors/telemetry/log/line_writer.h"
#include "actors/telemetry/log/log.h"
#include "actors/telemetry/log/mailbox.h"
#include "actors/telemetry/log/watch.h"
#include "nic/dpdk/log.h"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::command {

class DriveLog {
  public:
    explicit DriveLog(actors::LogLevel level);

    DriveLog(const DriveLog&) = delete;
    DriveLog& operator=(const DriveLog&) = delete;

    void tell(actors::LogCode code, std::string subject, std::string text);

    /// Text that is no entry: a summary, a picture of the topology. Waits a second for a standard
    /// error that takes nothing, then gives it up.
    void say(std::string_view text);

    /// For Appliance::build; any thread may call it, also after this object's end.
    [[nodiscard]] nic::dpdk::LogSink device_sink() const;

    /// Likewise.
    [[nodiscard]] actors::peer::PeerListener peer_sink() const;

    /// Remarks that were not told yet.
    void tell_remarks(const actors::Appliance& appliance);

    /// About once a second: what changed since the look before.
    void look(const actors::CounterSnapshot& counters);

    /// Call often.
    void step();

    /// What others left in the mailbox.
    void fetch_mail();

    /// After the appliance's stop: the last look, and all that was held back.
    void finish(actors::Appliance& appliance);

    void set_level(actors::LogLevel level) { log_.set_level(level); }

    /// While they are kept, lines go to last_lines() alone; else to standard error as well.
    void keep_off_screen(bool kept) { kept_ = kept; }

    /// Without their ends.
    [[nodiscard]] const std::deque<std::string>& last_lines() const { return last_lines_; }

    [[nodiscard]] const actors::LogCounters& counters() const { return log_.counters(); }

  private:
    static constexpr std::size_t last_lines_max = 6;

    const actors::JournalWriter* journal();
    bool write(std::string_view line);

    actors::LineWriter writer_;
    std::optional<actors::JournalWriter> journal_;  ///< where the journal reads standard error
    std::deque<std::string> last_lines_;
    bool kept_ = false;
    actors::Log log_;
    std::shared_ptr<actors::Mailbox> mailbox_ = std::make_shared<actors::Mailbox>();
    actors::Watch watch_;
    std::vector<std::string> remarks_told_;
};

}  // namespace pinstrike::command
