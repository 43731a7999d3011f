// path: cold
//
// The line on a terminal that shows how far a command is.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::command {

/// The share of its input that a command has read, from 0 to 1. 0: unknown.
using ShareRead = std::function<double()>;

/// The share of the bytes of captures and folders of them.
[[nodiscard]] ShareRead share_of_files(std::vector<std::string> files);

/// "45 %, 12,345,678 records, 10.30 M/s, 0:01:07 left". `counted`: "records".
[[nodiscard]] std::string progress_text(std::string_view counted, std::uint64_t count,
                                        double seconds, double share);

class Progress {
  public:
    /// `shown`: false if the output of the command goes to the terminal.
    Progress(std::string_view counted, ShareRead share, bool shown = true);

    ~Progress() { clear(); }

    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Draws the line again, a few times a second, if standard error is a terminal.
    void step(std::uint64_t count) {
        if (shown_) {
            step([count] { return count; });
        }
    }

    /// The same with a count that takes time to find.
    void step(const std::function<std::uint64_t()>& count);

    /// Removes the line, before other text is printed.
    void clear();

  private:
    using Clock = std::chrono::steady_clock;

    std::string_view counted_;
    ShareRead share_;
    bool shown_;
    bool drawn_ = false;
    Clock::time_point begin_ = Clock::now();
    Clock::time_point due_ = begin_;
};

}  // namespace pinstrike::command
