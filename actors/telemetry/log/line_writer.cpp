// path: cold
#include "actors/telemetry/log/line_writer.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>

namespace pinstrike::actors {

bool LineWriter::write(std::string_view text, int patience_ms) {
    if (torn_ && put("\n", patience_ms)) {
        torn_ = false;
    }
    return !torn_ && put(text, patience_ms);
}

/// Writes pieces of at most PIPE_BUF bytes, which a pipe that poll() reports as writable accepts
/// without blocking. O_NONBLOCK would also change the descriptor for the other processes that share
/// it.
bool LineWriter::put(std::string_view text, int patience_ms) {
    const std::size_t whole = text.size();
    while (!text.empty()) {
        pollfd ready{descriptor_, POLLOUT, 0};
        const int count = ::poll(&ready, 1, patience_ms);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        const bool writable = count > 0 && (ready.revents & (POLLNVAL | POLLERR)) == 0;
        const ssize_t taken = writable ? ::write(descriptor_, text.data(),
                                                 std::min<std::size_t>(text.size(), PIPE_BUF))
                                       : -1;
        if (taken < 0 && writable && errno == EINTR) {
            continue;
        }
        if (taken <= 0) {
            torn_ = torn_ || text.size() != whole;
            return false;
        }
        text.remove_prefix(static_cast<std::size_t>(taken));
    }
    return true;
}

bool is_journal(int descriptor) {
    const char* named = std::getenv("JOURNAL_STREAM");

    struct stat file {};

    return named != nullptr && ::fstat(descriptor, &file) == 0 &&
           fmt::format("{}:{}", file.st_dev, file.st_ino) == named;
}

}  // namespace pinstrike::actors
