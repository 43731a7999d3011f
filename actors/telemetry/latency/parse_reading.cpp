// path: cold
//
// Parses the part of the Prometheus text format that pinstrike's endpoint uses:
// "name{label="value",...} 1.5", one sample a line; comments begin with #. The text comes from
// another host, so it is validated.
#include "actors/telemetry/latency/parse_reading.h"

#include "config/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace pinstrike::actors {
namespace {

struct Sample {
    std::string name;
    std::map<std::string, std::string> labels;
    double value = 0;

    [[nodiscard]] std::string label(const std::string& which) const {
        const auto found = labels.find(which);
        return found == labels.end() ? std::string{} : found->second;
    }
};

constexpr std::string_view prefix = "pinstrike_";

/// Removes and returns the text before `end`; nullopt if `end` does not occur.
std::optional<std::string_view> take_until(std::string_view& text, char end) {
    const std::size_t at = text.find(end);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view taken = text.substr(0, at);
    text.remove_prefix(at + 1);
    return taken;
}

/// Returns the text up to the closing quote, and removes the quote too. The opening quote has been
/// read.
std::optional<std::string> take_quoted(std::string_view& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') {
            text.remove_prefix(i + 1);
            return out;
        }
        if (text[i] == '\\' && i + 1 < text.size()) {
            ++i;
            out += text[i] == 'n' ? '\n' : text[i];
        } else {
            out += text[i];
        }
    }
    return std::nullopt;
}

bool take_labels(std::string_view& text, Sample& sample) {
    while (!text.empty() && text.front() != '}') {
        const auto name = take_until(text, '=');
        if (!name || text.empty() || text.front() != '"') {
            return false;
        }
        text.remove_prefix(1);
        auto value = take_quoted(text);
        if (!value) {
            return false;
        }
        sample.labels[std::string{*name}] = std::move(*value);
        if (!text.empty() && text.front() == ',') {
            text.remove_prefix(1);
        }
    }
    return take_until(text, '}').has_value();
}

std::optional<Sample> parse_sample(std::string_view line) {
    Sample sample;
    const std::size_t name_end = line.find_first_of("{ ");
    if (name_end == std::string_view::npos) {
        return std::nullopt;
    }
    sample.name = line.substr(0, name_end);
    const bool labelled = line[name_end] == '{';
    line.remove_prefix(name_end + (labelled ? 1 : 0));
    if (labelled && !take_labels(line, sample)) {
        return std::nullopt;
    }
    while (!line.empty() && line.front() == ' ') {
        line.remove_prefix(1);
    }
    const auto value = parse_number(line);
    if (!value) {
        return std::nullopt;
    }
    sample.value = *value;
    return sample;
}

std::uint64_t count_of(double value) {
    constexpr double most = 9e15;  // doubles represent whole numbers exactly up to about 9e15
    return value > 0 ? static_cast<std::uint64_t>(std::llround(std::min(value, most))) : 0;
}

std::uint64_t ns_of(double seconds) {
    return count_of(seconds * 1e9);
}

class Parser {
  public:
    void take(const Sample& sample) {
        std::string_view name = sample.name;
        name.remove_prefix(prefix.size());
        if (name == "build_info") {
            reading_.version = sample.label("version");
            reading_.feed = sample.label("feed");
        } else if (name == "running_seconds") {
            reading_.running_s = reading_.seconds = sample.value;
            ran_ = true;
        } else if (name == "clock_error_seconds") {
            reading_.clock_error_s = sample.value;
        } else if (name == "clock_steps_total") {
            reading_.clock_steps = count_of(sample.value);
        } else if (name == "latency_from_due") {
            reading_.from_due = sample.value == 1;
        } else if (name == "loop_steps_total") {
            loop(sample).turns = count_of(sample.value);
        } else if (name == "loop_seconds_total") {
            loop(sample).looked_ns = ns_of(sample.value);
        } else if (cut_front(name, "fine_latency_disturbed")) {
            part(stage(sample).preempted, name, sample);
        } else if (cut_front(name, "fine_latency")) {
            part(stage(sample).all, name, sample);
        } else if (cut_front(name, "fine_loop_away")) {
            part(loop(sample).away, name, sample);
        } else if (cut_front(name, "fine_loop_stop")) {
            part(loop(sample).stops, name, sample);
        }
    }

    [[nodiscard]] bool complete() const {
        return ran_ && !reading_.version.empty() && !reading_.loops.empty();
    }

    [[nodiscard]] LatencyReading reading() { return std::move(reading_); }

  private:
    static bool cut_front(std::string_view& name, std::string_view front) {
        const bool there = name.starts_with(front);
        name.remove_prefix(there ? front.size() : 0);
        return there;
    }

    StageReading& stage(const Sample& sample) {
        const std::string name = sample.label("stage");
        const std::string thread = sample.label("thread");
        const std::string actor = sample.label("actor");
        for (StageReading& known : reading_.stages) {
            if (known.stage == name && known.thread == thread && known.actor == actor) {
                return known;
            }
        }
        StageReading& added = reading_.stages.emplace_back();
        added.stage = name;
        added.thread = thread;
        added.actor = actor;
        return added;
    }

    LoopReading& loop(const Sample& sample) {
        const std::string thread = sample.label("thread");
        for (LoopReading& known : reading_.loops) {
            if (known.thread == thread) {
                return known;
            }
        }
        LoopReading& added = reading_.loops.emplace_back();
        added.thread = thread;
        added.polls = sample.label("polls") == "1";
        return added;
    }

    /// Buckets come in ascending order, each with the count of all samples up to it.
    static void part(Histogram::Snapshot& taken, std::string_view what, const Sample& sample) {
        if (what == "_seconds_sum") {
            taken.sum_ns = ns_of(sample.value);
        } else if (what == "_highest_seconds") {
            taken.highest_ns = ns_of(sample.value);
        } else if (what == "_seconds_bucket" && sample.label("le") != "+Inf") {
            const std::uint64_t bound_ns = ns_of(parse_number(sample.label("le")).value_or(0));
            const std::uint64_t up_to = count_of(sample.value);
            if (bound_ns != 0 && up_to > taken.count) {
                taken.buckets[Histogram::bucket_of(bound_ns - 1)] += up_to - taken.count;
                taken.count = up_to;
            }
        }
    }

    LatencyReading reading_;
    bool ran_ = false;
};

}  // namespace

std::optional<LatencyReading> parse_reading(std::string_view text, std::string& complaint) {
    Parser parser;
    std::size_t number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        if (!line.starts_with(prefix)) {
            continue;  // comments, and the server's metrics about itself
        }
        const auto sample = parse_sample(line);
        if (!sample) {
            complaint =
                fmt::format("line {} of the answer is no sample: {}", number, line.substr(0, 80));
            return std::nullopt;
        }
        parser.take(*sample);
    }
    if (!parser.complete()) {
        complaint = "the answer is not a pinstrike's: it names no version, no time, or no thread";
        return std::nullopt;
    }
    return parser.reading();
}

}  // namespace pinstrike::actors
