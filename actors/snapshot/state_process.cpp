// path: cold
#include "actors/snapshot/state_process.h"

#include "actors/threads/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <utility>

namespace pinstrike::actors {

namespace {

/// A large pipe whose reader does not wait.
bool open_to_read(Pipe& pipe) {
    constexpr int pipe_bytes = 1 << 20;  // less if the system's limit is lower
    if (!pipe.open()) {
        return false;
    }
    static_cast<void>(::fcntl(pipe.read_end.get(), F_SETPIPE_SZ, pipe_bytes));
    return ::fcntl(pipe.read_end.get(), F_SETFL, O_NONBLOCK) == 0;
}

}  // namespace

std::unique_ptr<StateProcess> StateProcess::start(const std::string& program,
                                                  std::vector<std::string> arguments) {
    Pipe output;
    Pipe errors;
    if (!open_to_read(output) || !open_to_read(errors)) {
        return nullptr;
    }
    arguments.insert(arguments.begin(), "pinstrike");
    pid_t pid = 0;
    errno = spawn(pid, program, std::move(arguments),
                  {.output = output.write_end.get(), .errors = errors.write_end.get()});
    if (errno != 0) {
        return nullptr;
    }
    return std::unique_ptr<StateProcess>{
        new StateProcess{pid, std::move(output.read_end), std::move(errors.read_end)}};
}

StateProcess::~StateProcess() {
    if (!has_ended()) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
}

std::span<const std::byte> StateProcess::read() {
    const ssize_t bytes = ::read(output_.get(), buffer_.data(), buffer_.size());
    return {buffer_.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))};
}

bool StateProcess::has_ended() {
    if (pid_ != 0 && ::waitpid(pid_, &status_, WNOHANG) != 0) {
        pid_ = 0;
    }
    return pid_ == 0;
}

std::string StateProcess::last_line() {
    constexpr std::size_t said_bytes_max = 4096;
    std::array<char, 512> part{};
    ssize_t bytes = 0;
    while ((bytes = ::read(errors_.get(), part.data(), part.size())) > 0) {
        said_.append(part.data(), static_cast<std::size_t>(bytes));
        if (said_.size() > said_bytes_max) {
            said_.erase(0, said_.size() - said_bytes_max);
        }
    }
    std::string_view text = said_;
    text = text.substr(0, text.find_last_not_of('\n') + 1);
    text = text.substr(text.find_last_of('\n') + 1);
    constexpr std::string_view program = "pinstrike: ";
    return std::string{text.starts_with(program) ? text.substr(program.size()) : text};
}

}  // namespace pinstrike::actors
