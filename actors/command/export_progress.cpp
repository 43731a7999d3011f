// path: cold
#include "actors/command/export_progress.h"

#include "config/units.h"
#include "nic/capture/capture_files.h"
#include "nic/capture/capture_input.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

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

std::string progress_text(std::uint64_t records, double seconds, std::uint64_t read_bytes,
                          std::uint64_t all_bytes) {
    const double rate = seconds > 0 ? static_cast<double>(records) / seconds / 1e6 : 0;
    std::string text = fmt::format("{} records, {:.2f} M/s", grouped(records), rate);
    if (all_bytes == 0 || read_bytes == 0) {
        return text;
    }
    const double share =
        std::min(static_cast<double>(read_bytes) / static_cast<double>(all_bytes), 1.0);
    const auto left = std::lround(seconds / share - seconds);
    return fmt::format("{:.0f} %, {}, {}:{:02}:{:02} left", 100 * share, text, left / 3600,
                       left / 60 % 60, left % 60);
}

ExportProgress::ExportProgress(const std::vector<std::string>& files)
    : shown_(::isatty(STDERR_FILENO) == 1),
      all_bytes_(shown_ ? bytes_of(files) : 0),
      read_before_(nic::capture_bytes_read()) {}

void ExportProgress::step(std::uint64_t records) {
    const Clock::time_point now = Clock::now();
    if (!shown_ || now < due_) {
        return;
    }
    due_ = now + std::chrono::milliseconds{250};
    drawn_ = true;
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    write_to_terminal(fmt::format(
        "\r{}\x1b[K",
        progress_text(records, seconds, nic::capture_bytes_read() - read_before_, all_bytes_)));
}

void ExportProgress::clear() {
    if (drawn_) {
        drawn_ = false;
        write_to_terminal("\r\x1b[K");
    }
}

}  // namespace pinstrike::command
