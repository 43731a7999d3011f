// path: cold
//
// Replays captures. What is read from a file is copied once more, so that a burst may hold frames
// of several files and outlive a reader's one frame.
//
// There may be many more captures than descriptors or memory for readers: a feed is often kept as
// one file a group and minute. So beyond the first few a file is opened for its first record, which
// says when it is due, closed, and opened again then. Files that follow each other in time are not
// open at once.
#pragma once

#include "nic/capture/capture_reader.h"
#include "nic/capture/replay_start.h"
#include "nic/capture/tunnel.h"
#include "nic/port.h"
#include "nic/port_config.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::nic {

/// Which frames of a capture one of several pollers takes: those of its own groups, and one of them
/// all that is not another's. So every frame is handed out by exactly one queue, and the account of
/// the port adds up.
struct GroupFilter {
    std::vector<Group> own;     ///< sorted
    std::vector<Group> others;  ///< sorted
    bool takes_rest = true;     ///< what is neither

    [[nodiscard]] bool takes(const CapturedFrame& frame) const;

    /// Is it a group of any queue?
    [[nodiscard]] bool knows(const Group& group) const;
};

/// One or several captures, merged by time (a tie goes to the file named first), each frame once.
class PcapPort final : public Port {
  public:
    /// Of `files` and of the captures in the folders among them. Null, with every problem told,
    /// where one cannot be opened.
    [[nodiscard]] static std::unique_ptr<PcapPort> open(
        std::string name, std::span<const std::string> files, Pace pace, std::size_t burst_packets,
        Problems& problems, GroupFilter filter = {},
        std::shared_ptr<ReplayStart> start = std::make_shared<ReplayStart>());

    std::size_t receive(std::span<Packet> burst, std::int64_t now_ns) override;

    [[nodiscard]] bool exhausted() const override { return due_.empty(); }

    /// `errors` counts the files that were not read to their end.
    [[nodiscard]] DeviceStatistics statistics() const override;

    [[nodiscard]] std::vector<std::string> remarks() const override;

    [[nodiscard]] std::vector<std::string> unread() const override;

    [[nodiscard]] bool replays() const override { return true; }

  private:
    /// A file. Without a reader it waits to be opened again, or has come to its end.
    struct Source {
        std::string path;
        std::unique_ptr<CaptureReader> reader;
        CapturedFrame head;        ///< what comes next; of a file with a reader
        std::uint64_t record = 0;  ///< its number in the file, from 1
        TunnelExit tunnel;
        std::uint64_t cut_packets = 0;  ///< of known groups, by the snapshot length
        std::string complaint;          ///< why it was not read to its end
    };

    /// When the next frame of a file comes, or the file is to be opened again; and which file.
    using Due = std::pair<std::int64_t, std::size_t>;

    /// A leap in the times of a capture, which was not waited for.
    struct Leap {
        std::size_t source = 0;
        std::uint64_t record = 0;
        std::int64_t size_ns = 0;
    };

    /// Of so many leaps record and size are reported; a poll thread allocates no memory for more.
    static constexpr std::size_t leaps_told_max = 8;

    PcapPort(std::string name, Pace pace, std::size_t burst_packets, GroupFilter filter,
             std::shared_ptr<ReplayStart> start);

    void add(CaptureReader reader);
    void open_again(std::size_t index);
    [[nodiscard]] bool takes_head(Source& source);
    void advance(std::size_t index);
    void end(Source& source);
    [[nodiscard]] bool is_due(const Due& next, std::int64_t now_ns);
    [[nodiscard]] Packet copy(const CapturedFrame& frame, std::size_t& used_bytes);

    std::vector<Source> sources_;
    /// The earliest on top.
    std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
    Pace pace_;
    std::shared_ptr<ReplayStart> start_;
    std::optional<std::size_t> start_number_;  ///< by which the port asks it; none: has no frame
    std::array<Leap, leaps_told_max> leaps_;
    std::uint64_t leaps_count_ = 0;
    GroupFilter filter_;
    std::size_t burst_packets_;
    std::unique_ptr<std::byte[]> buffer_;  ///< the frames of the last burst
    Counter unread_files_;
};

}  // namespace pinstrike::nic
