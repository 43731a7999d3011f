// path: cold
//
// The processes that replay recordings for clients: one for each replay, of idle priority. A thread
// for each starts it, passes its frames on, and waits for its end, so the gateway's thread does
// neither.
//
// Both threads take a mutex for each block of frames. The queue holds a few blocks; while it is
// full, the thread does not read the pipe, and the process waits. SIGPIPE must be ignored, because
// a process may end before it has read its input.
#pragma once

#include "actors/gateway/replay_source.h"

#include <sched.h>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace pinstrike::actors::gateway {

class ReplayProcesses {
  public:
    /// `command`: the program and its arguments. The threads may use all processors that the
    /// calling thread may use now.
    explicit ReplayProcesses(std::vector<std::string> command);

    /// Waits until all processes and threads have ended. Their sources must be gone.
    ~ReplayProcesses();

    ReplayProcesses(const ReplayProcesses&) = delete;
    ReplayProcesses& operator=(const ReplayProcesses&) = delete;

    /// Starts a process with this text on its standard input. It ends when the source is destroyed,
    /// which keeps `kept` until then.
    [[nodiscard]] std::unique_ptr<ReplaySource> start(std::string input,
                                                      std::shared_ptr<void> kept = nullptr);

    /// Processes that have not ended, whether or not their source is gone.
    [[nodiscard]] std::size_t running() const;

  private:
    class Source;
    struct Process;

    /// Counts the threads, which are detached and may outlive what started them.
    struct Running {
        std::mutex mutex;
        std::condition_variable changed;
        std::size_t count = 0;
    };

    static void run(const std::shared_ptr<Process>& process,
                    const std::shared_ptr<Running>& running,
                    const std::vector<std::string>& command, const std::string& input,
                    const cpu_set_t& processors);

    std::vector<std::string> command_;
    cpu_set_t processors_{};
    std::shared_ptr<Running> running_ = std::make_shared<Running>();
};

}  // namespace pinstrike::actors::gateway
