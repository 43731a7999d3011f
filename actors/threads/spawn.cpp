// path: cold
#include "actors/threads/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace pinstrike::actors {

bool Pipe::open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return false;
    }
    read_end = nic::FileDescriptor{ends[0]};
    write_end = nic::FileDescriptor{ends[1]};
    return true;
}

int spawn(pid_t& pid, const std::string& program, std::vector<std::string> words,
          const StandardFiles& files) {
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    const std::array given{files.input, files.output, files.errors};
    for (int standard = STDIN_FILENO; standard <= STDERR_FILENO; ++standard) {
        const int from = given[static_cast<std::size_t>(standard)];
        if (from >= 0) {
            ::posix_spawn_file_actions_adddup2(&actions, from, standard);
        } else {
            ::posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0);
        }
    }
    ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    sigset_t all;
    ::sigfillset(&all);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const int error =
        ::posix_spawn(&pid, program.c_str(), &actions, &attributes, arguments.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    return error;
}

}  // namespace pinstrike::actors
