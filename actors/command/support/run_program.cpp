// path: cold
#include "actors/command/support/run_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>

namespace pinstrike::actors::support {

namespace {

using Clock = std::chrono::steady_clock;

/// Reads a descriptor to its end, and keeps at least the last `bytes_max` bytes. Returns false if
/// the time is over before the end, or if the descriptor cannot be read.
bool read_tail(int descriptor, std::size_t bytes_max, Clock::time_point until, std::string& text) {
    std::array<char, 65536> piece{};
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
        pollfd waiting{descriptor, POLLIN, 0};
        if (left <= 0 || ::poll(&waiting, 1, static_cast<int>(left)) == 0) {
            return false;
        }
        const ssize_t count = ::read(descriptor, piece.data(), piece.size());
        if (count <= 0) {
            return count == 0;
        }
        text.append(piece.data(), static_cast<std::size_t>(count));
        if (text.size() > 2 * bytes_max) {
            text.erase(0, text.size() - bytes_max);
        }
    }
}

/// Starts a program. Returns its process, or 0 and sets `error`.
pid_t start(const std::vector<std::string>& words, int output, int& error) {
    std::vector<char*> arguments;
    for (const std::string& word : words) {
        arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t process = 0;
    error = ::posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    return error == 0 ? process : 0;
}

}  // namespace

ProgramOutput run_program(const std::vector<std::string>& words, std::size_t bytes_max,
                          std::chrono::seconds time) {
    ProgramOutput out;
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        out.complaint = std::strerror(errno);
        return out;
    }
    int error = 0;
    const pid_t process = start(words, ends[1], error);
    ::close(ends[1]);
    if (process == 0) {
        ::close(ends[0]);
        out.complaint = fmt::format("{}: {}", words[0], std::strerror(error));
        return out;
    }
    const bool in_time = read_tail(ends[0], bytes_max, Clock::now() + time, out.text);
    ::close(ends[0]);
    if (!in_time) {
        ::kill(process, SIGKILL);
    }
    int status = 0;
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    if (out.text.size() > bytes_max) {
        out.text.erase(0, out.text.size() - bytes_max);
    }
    if (!in_time) {
        out.complaint = fmt::format("{} did not end within {} s", words[0], time.count());
    } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        out.complaint = fmt::format("{} ended with status {}", words[0],
                                    WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    }
    return out;
}

}  // namespace pinstrike::actors::support
