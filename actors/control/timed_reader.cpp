// path: cold
#include "actors/control/timed_reader.h"

#include "config/units.h"
#include "config/yaml.h"

#include <fmt/format.h>

#include <system_error>
#include <thread>
#include <utility>

namespace pinstrike::actors {

std::optional<std::string> TimedReader::read(const std::string& path,
                                             std::chrono::nanoseconds timeout, Problems& problems) {
    const auto end = std::chrono::steady_clock::now() + timeout;
    if (reading_.valid() && reading_.wait_until(end) == std::future_status::ready) {
        reading_ = {};  // the text of a call that gave up: the file may have changed since
    }
    if (!reading_.valid()) {
        std::packaged_task<Outcome()> task{[path] {
            Outcome outcome;
            outcome.text = read_text(path, outcome.problems);
            return outcome;
        }};
        reading_ = task.get_future();
        try {
            std::thread{std::move(task)}.detach();
        } catch (const std::system_error& failure) {
            reading_ = {};
            add_problem(problems, path, fmt::format("cannot be read: {}", failure.what()),
                        Remedy::retry);
            return std::nullopt;
        }
    }
    if (reading_.wait_until(end) != std::future_status::ready) {
        add_problem(problems, path,
                    fmt::format("still not read after {}, expected a file that can be read at once",
                                duration_text(timeout.count())),
                    Remedy::retry);
        return std::nullopt;
    }
    Outcome outcome = std::exchange(reading_, {}).get();
    problems.insert(problems.end(), outcome.problems.begin(), outcome.problems.end());
    return std::move(outcome.text);
}

}  // namespace pinstrike::actors
