// path: cold
#include "nic/dpdk/log.h"

#include "nic/dpdk/library.h"

#include <rte_lcore.h>

#include <utility>

namespace pinstrike::nic::dpdk {
namespace {

/// The level "notice" counts as info.
LogLevel level_of(int rte_level) {
    if (rte_level > 0 && rte_level <= static_cast<int>(RTE_LOG_ERR)) {
        return LogLevel::error;
    }
    if (rte_level == static_cast<int>(RTE_LOG_WARNING)) {
        return LogLevel::warning;
    }
    return rte_level == static_cast<int>(RTE_LOG_DEBUG) ? LogLevel::debug : LogLevel::info;
}

/// True on poll threads, because they are registered with DPDK. DPDK's own threads are not, and the
/// main lcore is the thread that started EAL.
bool on_poll_thread() {
    const unsigned lcore = rte_lcore_id();
    return lcore != LCORE_ID_ANY && lcore != rte_get_main_lcore();
}

std::string_view without_end(std::string_view text) {
    while (text.ends_with('\n')) {
        text.remove_suffix(1);
    }
    return text;
}

void to_standard_error(LogLevel level, std::string_view line) {
    if (level == LogLevel::error) {
        std::fprintf(stderr, "dpdk: %.*s\n", static_cast<int>(line.size()), line.data());
    }
}

}  // namespace

Log::Log(LogSink sink) : sink_(sink ? std::move(sink) : to_standard_error) {
    const cookie_io_functions_t functions{nullptr, &Log::write, nullptr, nullptr};
    stream_ = fopencookie(this, "w", functions);
    if (stream_ != nullptr) {
        std::setvbuf(stream_, buffer_.data(), _IOFBF, buffer_.size());
        rte_openlog_stream(stream_);
    }
}

Log::~Log() {
    if (stream_ != nullptr) {
        rte_openlog_stream(nullptr);
        std::fclose(stream_);
    }
    fetch();
}

ssize_t Log::write(void* log, const char* text, std::size_t bytes) {
    const LogLevel level = level_of(rte_log_cur_msg_loglevel());
    if (on_poll_thread()) {
        static_cast<Log*>(log)->hot_lines_.put(level, without_end({text, bytes}));
    } else {
        static_cast<Log*>(log)->append(level, {text, bytes});
    }
    return static_cast<ssize_t>(bytes);
}

void Log::append(LogLevel level, std::string_view text) {
    const std::lock_guard lock(mutex_);
    partial_ += text;
    for (std::size_t end = partial_.find('\n'); end != std::string::npos;
         end = partial_.find('\n')) {
        const std::string line = partial_.substr(0, end);
        partial_.erase(0, end + 1);
        report(level, line);
    }
}

/// The caller holds the mutex.
void Log::report(LogLevel level, std::string_view line) {
    if (level > LogLevel::info && complaints_.size() < complaints_bytes_max) {
        complaints_ += complaints_.empty() ? "" : "; ";
        complaints_ += line;
    }
    if (!line.empty() && !limited(level)) {
        sink_(level, line);
    }
}

void Log::fetch() {
    const std::lock_guard lock(mutex_);
    const std::uint64_t left_out =
        hot_lines_.drain([this](LogLevel level, std::string_view line) { report(level, line); });
    if (left_out != 0) {
        sink_(LogLevel::warning,
              std::to_string(left_out) + " lines of DPDK on poll threads left out");
    }
}

bool Log::limited(LogLevel level) {
    const auto now = std::chrono::steady_clock::now();
    if (now - second_ >= std::chrono::seconds(1)) {
        if (suppressed_ != 0) {
            sink_(level, std::to_string(suppressed_) + " lines of DPDK left out");
        }
        second_ = now;
        lines_ = 0;
        suppressed_ = 0;
    }
    if (lines_ == lines_a_second_max) {
        ++suppressed_;
        return true;
    }
    ++lines_;
    return false;
}

void Log::say(LogLevel level, std::string_view line) {
    const std::lock_guard lock(mutex_);
    sink_(level, line);
}

void Log::hear(LogLevel level, std::string_view line) {
    append(level, line.ends_with('\n') ? std::string(line) : std::string(line) + '\n');
}

void Log::begin() {
    const std::lock_guard lock(mutex_);
    complaints_.clear();
}

std::string Log::complaints() {
    const std::lock_guard lock(mutex_);
    return complaints_;
}

}  // namespace pinstrike::nic::dpdk
