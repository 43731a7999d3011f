// path: cold
#include "actors/snapshot/state_process.h"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <utility>

namespace pinstrike::actors {

namespace {

/// Both ends close by themselves when a program is executed. Reading does not wait.
struct Pipe {
    nic::FileDescriptor read_end;
    nic::FileDescriptor write_end;

    bool open() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) {
            return false;
        }
        read_end = nic::FileDescriptor{ends[0]};
        write_end = nic::FileDescriptor{ends[1]};
        constexpr int pipe_bytes = 1 << 20;  // less if the system's limit is lower
        static_cast<void>(::fcntl(ends[0], F_SETPIPE_SZ, pipe_bytes));
        return ::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
    }
};

/// The process has no descriptor of this one but the two pipes, and handles signals as usual,
/// although the control thread blocks and ignores some.
int spawn(pid_t& pid, const std::string& program, char* const* arguments, int output, int errors) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    sigset_t all;
    ::sigfillset(&all);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const int error =
        ::posix_spawn(&pid, program.c_str(), &actions, &attributes, arguments, environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    return error;
}

}  // namespace

std::unique_ptr<StateProcess> StateProcess::start(const std::string& program,
                                                  std::vector<std::string> arguments) {
    Pipe output;
    Pipe errors;
    if (!output.open() || !errors.open()) {
        return nullptr;
    }
    std::string name = "pinstrike";
    std::vector<char*> words{name.data()};
    for (std::string& argument : arguments) {
        words.push_back(argument.data());
    }
    words.push_back(nullptr);
    pid_t pid = 0;
    errno = spawn(pid, program, words.data(), output.write_end.get(), errors.write_end.get());
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
