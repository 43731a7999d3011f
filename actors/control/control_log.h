// path: cold
//
// Combines the log of a running appliance: the checks that create entries, the entries of other
// threads, and the outputs. Used by the control thread.
#pragma once

#include "actors/appliance/appliance.h"
#include "actors/telemetry/log/line_writer.h"
#include "actors/telemetry/log/log.h"
#include "actors/telemetry/log/log_queue.h"
#include "actors/telemetry/log/watch.h"
#include "nic/dpdk/log.h"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors {

class ControlLog {
  public:
    explicit ControlLog(LogLevel level);

    ControlLog(const ControlLog&) = delete;
    ControlLog& operator=(const ControlLog&) = delete;

    void add(LogCode code, std::string subject, std::string text);

    /// Writes text that is not a log entry, such as a summary or a picture of the topology. If
    /// standard error does not accept it within a second, the rest is dropped.
    void say(std::string_view text);

    /// A log sink for Appliance::build. Any thread may call it, even after this object's end.
    [[nodiscard]] nic::dpdk::LogSink device_sink() const;

    /// The same for events of peers.
    [[nodiscard]] peer::PeerListener peer_sink() const;

    /// The same for segments of the recording.
    [[nodiscard]] RecorderListener recorder_sink() const;

    /// Whether the books took recorded state.
    [[nodiscard]] RecoveredListener recovered_sink() const;

    /// Logs the appliance's remarks that were not logged before.
    void log_remarks(const Appliance& appliance);

    /// Logs what changed since the last call. To be called about once a second.
    void look(const CounterSnapshot& counters);

    /// Must be called often.
    void step();

    /// Logs the entries that other threads left in the queue.
    void fetch_mail();

    /// To be called after the appliance's stop: logs the last changes and the entries that were
    /// held back.
    void finish(Appliance& appliance);

    void set_level(LogLevel level) { log_.set_level(level); }

    /// True: lines go to last_lines() only. False: they go to standard error too.
    void keep_off_screen(bool kept) { kept_ = kept; }

    /// The latest lines, without line ends.
    [[nodiscard]] const std::deque<std::string>& last_lines() const { return last_lines_; }

    [[nodiscard]] const LogCounters& counters() const { return log_.counters(); }

  private:
    static constexpr std::size_t last_lines_max = 6;

    const JournalWriter* journal();
    bool write(std::string_view line);

    LineWriter writer_;
    std::optional<JournalWriter> journal_;  ///< set if standard error goes to the journal
    std::deque<std::string> last_lines_;
    bool kept_ = false;
    Log log_;
    std::shared_ptr<LogQueue> queue_ = std::make_shared<LogQueue>();
    Watch watch_;
    std::vector<std::string> remarks_logged_;
};

}  // namespace pinstrike::actors
