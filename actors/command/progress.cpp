// path: cold
#include "actors/command/progress.h"

#include "config/units.h"
#include "nic/capture/capture_files.h"
#include "nic/capture/capture_input.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace pinstrike::command {
namespace {

/// 0: one of them is no regular file.
std::uint64_t bytes_of(const std::vector<std::string>& files) {
    Problems ignored;  // the replay reports them
    std::uint64_t sum = 0;
    for (const std::string& file : nic::capture_files(files, ignored)) {
        std::error_code error;
        const std::uintmax_t bytes = std::filesystem::is_regular_file(file, error)
                                         ? std::filesystem::file_size(file, error)
                                         : 0;
        if (error || bytes == 0) {
            return 0;
        }
        sum += bytes;
    }
    return sum;
}

void write_to_terminal(const std::string& text) {
    static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()));
}

}  // namespace

ShareRead share_of_files(std::vector<std::string> files) {
    return [files = std::move(files), before = nic::capture_bytes_read(),
            all = std::optional<std::uint64_t>{}]() mutable {
        if (!all) {  // only when a line is drawn
            all = bytes_of(files);
        }
        return *all == 0 ? 0
                         : static_cast<double>(nic::capture_bytes_read() - before) /
                               static_cast<double>(*all);
    };
}

std::string progress_text(std::string_view counted, std::uint64_t count, double seconds,
                          double share) {
    const double rate = seconds > 0 ? static_cast<double>(count) / seconds / 1e6 : 0;
    std::string text = fmt::format("{} {}, {:.2f} M/s", grouped(count), counted, rate);
    if (share <= 0) {
        return text;
    }
    share = std::min(share, 1.0);
    const auto left = std::lround(seconds / share - seconds);
    return fmt::format("{:.0f} %, {}, {}:{:02}:{:02} left", 100 * share, text, left / 3600,
                       left / 60 % 60, left % 60);
}

Progress::Progress(std::string_view counted, ShareRead share, bool shown)
    : counted_(counted), share_(std::move(share)), shown_(shown && ::isatty(STDERR_FILENO) == 1) {}

void Progress::step(const std::function<std::uint64_t()>& count) {
    const Clock::time_point now = Clock::now();
    if (!shown_ || now < due_) {
        return;
    }
    due_ = now + std::chrono::milliseconds{250};
    drawn_ = true;
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    write_to_terminal(
        fmt::format("\r{}\x1b[K", progress_text(counted_, count(), seconds, share_())));
}

void Progress::clear() {
    if (drawn_) {
        drawn_ = false;
        write_to_terminal("\r\x1b[K");
    }
}

}  // namespace pinstrike::command
