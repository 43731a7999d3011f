// path: cold
//
// The frames of capture files, merged by time.
//
// A replay may have more files than descriptors or memory allow to open at once, because feeds are
// often stored as one file per group and minute. So all files except the first ones are opened only
// to read the time of their first record, closed, and opened again when that time is reached. Files
// that follow each other in time are therefore not open at the same time.
#pragma once

#include "config/problem.h"
#include "nic/capture/capture_reader.h"
#include "nic/capture/frame_stream.h"
#include "nic/capture/group_filter.h"
#include "nic/capture/tunnel.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::nic {

class MergedCaptures final : public FrameStream {
  public:
    /// Opens `files`, and for a folder the captures in it. Null, with every problem added, if a
    /// file that is named cannot be opened, or none in a folder. Of frames with equal times, the
    /// frame of the file that is listed first comes first.
    [[nodiscard]] static std::unique_ptr<MergedCaptures> open(std::span<const std::string> files,
                                                              GroupFilter filter,
                                                              Problems& problems);

    [[nodiscard]] bool next(CapturedFrame& out) override;

    [[nodiscard]] bool follows_writer() const override { return has_pipe_; }

    [[nodiscard]] std::string path_of(std::uint32_t file) const override {
        return sources_[file].path;
    }

    /// Files that were not read to their end.
    [[nodiscard]] std::uint64_t unread_count() const override { return unread_files_; }

    [[nodiscard]] std::vector<std::string> unread() const override;

  private:
    /// A file. It has no reader while it waits to be opened again, and after its end.
    struct Source {
        std::string path;
        std::unique_ptr<CaptureReader> reader;
        CapturedFrame head;  ///< the next frame, if the file has a reader
        TunnelExit tunnel;
        std::uint64_t cut_packets = 0;  ///< packets of known groups that the snapshot length cut
        std::string complaint;          ///< the reason for not reading the file to its end
    };

    /// The capture time at which a file's next frame comes or the file has to be opened again, and
    /// the index of the file.
    using Due = std::pair<std::int64_t, std::size_t>;

    explicit MergedCaptures(GroupFilter filter) : filter_(std::move(filter)) {}

    void add_path(const std::string& path, Problems& problems);
    void add(CaptureReader reader);
    void open_again(std::size_t index);
    [[nodiscard]] bool select_head(std::size_t index);
    void advance(std::size_t index);
    void end(Source& source);

    static constexpr std::size_t none = SIZE_MAX;

    std::vector<Source> sources_;
    /// The entry with the earliest time is on top.
    std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
    std::size_t latest_ = none;  ///< the file whose frame next() returned
    GroupFilter filter_;
    bool has_pipe_ = false;
    std::uint64_t unread_files_ = 0;
};

}  // namespace pinstrike::nic
