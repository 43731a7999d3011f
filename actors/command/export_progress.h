// path: cold
//
// The line on a terminal that shows how far an export is.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace pinstrike::command {

/// "45 %, 12,345,678 records, 10.3 M/s, 0:01:07 left". `read_bytes` of `all_bytes` were read; 0:
/// how much there is to read is unknown.
[[nodiscard]] std::string progress_text(std::uint64_t records, double seconds,
                                        std::uint64_t read_bytes, std::uint64_t all_bytes);

class ExportProgress {
  public:
    /// `files`: captures and folders of them.
    explicit ExportProgress(const std::vector<std::string>& files);

    /// Draws the line again, a few times a second, if standard error is a terminal.
    void step(std::uint64_t records);

    /// Removes the line.
    void clear();

  private:
    using Clock = std::chrono::steady_clock;

    bool shown_;
    bool drawn_ = false;
    std::uint64_t all_bytes_ = 0;  ///< of all files; 0: unknown
    std::uint64_t read_before_;
    Clock::time_point begin_ = Clock::now();
    Clock::time_point due_ = begin_;
};

}  // namespace pinstrike::command
