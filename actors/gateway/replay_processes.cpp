// path: cold
#include "actors/gateway/replay_processes.h"

#include "actors/threads/spawn.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <span>
#include <thread>
#include <utility>

namespace pinstrike::actors::gateway {
namespace {

constexpr std::size_t block_bytes = std::size_t{256} << 10;
constexpr std::size_t blocks_max = 4;

bool write_all(int to, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(to, text.data(), text.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

std::string status_text(int status) {
    return WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                               : fmt::format("status {}", WEXITSTATUS(status));
}

}  // namespace

/// What the gateway's thread and the thread of a process share.
struct ReplayProcesses::Process {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::vector<std::byte>> blocks;
    bool is_unwanted = false;
    pid_t pid = 0;      ///< 0: not started, or its end was waited for
    std::string ended;  ///< why no block follows those that are there

    void stop() {
        const std::lock_guard lock{mutex};
        is_unwanted = true;
        if (pid != 0) {
            ::kill(pid, SIGKILL);
        }
        changed.notify_all();
    }

    /// False: nobody wants it any more.
    [[nodiscard]] bool set_started(pid_t started) {
        const std::lock_guard lock{mutex};
        pid = started;
        if (is_unwanted) {
            ::kill(pid, SIGKILL);
        }
        return !is_unwanted;
    }

    /// Waits while the queue is full. False: nobody wants it any more.
    [[nodiscard]] bool pass(std::vector<std::byte> block) {
        std::unique_lock lock{mutex};
        changed.wait(lock, [this] { return is_unwanted || blocks.size() < blocks_max; });
        blocks.push_back(std::move(block));
        return !is_unwanted;
    }

    void end(std::string why) {
        const std::lock_guard lock{mutex};
        ended = std::move(why);
    }

    /// Passes on what the process writes, until it ends.
    void read(int from) {
        std::vector<std::byte> bytes(block_bytes);
        std::size_t used = 0;
        for (;;) {
            const ssize_t got = ::read(from, bytes.data() + used, bytes.size() - used);
            if (got < 0 && errno == EINTR) {
                continue;
            }
            if (got <= 0) {
                return;
            }
            used += static_cast<std::size_t>(got);
            const std::size_t whole = whole_frames_bytes(std::span{bytes}.first(used));
            if (whole == 0) {
                continue;
            }
            std::vector<std::byte> next(block_bytes);
            std::memcpy(next.data(), bytes.data() + whole, used - whole);
            used -= whole;
            bytes.resize(whole);
            if (!pass(std::exchange(bytes, std::move(next)))) {
                return;
            }
        }
    }
};

class ReplayProcesses::Source final : public ReplaySource {
  public:
    Source(std::shared_ptr<Process> process, std::shared_ptr<void> kept)
        : process_(std::move(process)), kept_(std::move(kept)) {}

    ~Source() override { process_->stop(); }

    [[nodiscard]] bool take(std::vector<std::byte>& block) override {
        const std::lock_guard lock{process_->mutex};
        if (process_->blocks.empty()) {
            return false;
        }
        block = std::move(process_->blocks.front());
        process_->blocks.pop_front();
        process_->changed.notify_all();
        return true;
    }

    [[nodiscard]] std::string ended() override {
        const std::lock_guard lock{process_->mutex};
        return process_->blocks.empty() ? process_->ended : "";
    }

  private:
    std::shared_ptr<Process> process_;
    std::shared_ptr<void> kept_;
};

ReplayProcesses::ReplayProcesses(std::vector<std::string> command) : command_(std::move(command)) {
    static_cast<void>(::sched_getaffinity(0, sizeof processors_, &processors_));
}

ReplayProcesses::~ReplayProcesses() {
    std::unique_lock lock{running_->mutex};
    running_->changed.wait(lock, [this] { return running_->count == 0; });
}

std::unique_ptr<ReplaySource> ReplayProcesses::start(std::string input,
                                                     std::shared_ptr<void> kept) {
    {
        const std::lock_guard lock{running_->mutex};
        ++running_->count;
    }
    auto process = std::make_shared<Process>();
    std::thread{[process, running = running_, command = command_, text = std::move(input),
                 processors = processors_] {
        run(process, running, command, text, processors);
    }}.detach();
    return std::make_unique<Source>(std::move(process), std::move(kept));
}

std::size_t ReplayProcesses::running() const {
    const std::lock_guard lock{running_->mutex};
    return running_->count;
}

/// The gateway's thread may be pinned, and this one has inherited it.
void ReplayProcesses::run(const std::shared_ptr<Process>& process,
                          const std::shared_ptr<Running>& running,
                          const std::vector<std::string>& command, const std::string& input,
                          const cpu_set_t& processors) {
    ::pthread_setname_np(::pthread_self(), "replay");
    static_cast<void>(::sched_setaffinity(0, sizeof processors, &processors));
    Pipe in;
    Pipe out;
    pid_t pid = 0;
    int error = in.open() && out.open() ? 0 : errno;
    error = error == 0 ? spawn(pid, command.front(), command,
                               {.input = in.read_end.get(), .output = out.write_end.get()})
                       : error;
    if (error != 0) {
        process->end(fmt::format("the replay cannot be started: {}", std::strerror(error)));
    } else {
        in.read_end = nic::FileDescriptor{};
        out.write_end = nic::FileDescriptor{};
        if (process->set_started(pid) && write_all(in.write_end.get(), input)) {
            in.write_end = nic::FileDescriptor{};
            process->read(out.read_end.get());
        }
        in.write_end = nic::FileDescriptor{};
        out.read_end = nic::FileDescriptor{};  // so it cannot wait for a reader
        siginfo_t gone{};
        ::waitid(P_PID, static_cast<id_t>(pid), &gone, WEXITED | WNOWAIT);
        const std::lock_guard lock{process->mutex};
        process->pid = 0;  // nobody sends a signal to its number any more
        int status = 0;
        ::waitpid(pid, &status, 0);
        process->ended = fmt::format("the replay ended with {}", status_text(status));
    }
    const std::lock_guard lock{running->mutex};
    --running->count;
    running->changed.notify_all();
}

}  // namespace pinstrike::actors::gateway
