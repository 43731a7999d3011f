// path: cold
//
// `pinstrike bench actor NAME`: measures the time per message of an actor that runs alone, or
// beside copies of itself. Actors of every kind that a config may name get generated traffic or the
// traffic of a capture. Other actors have a known amount of work and run on actors/runtime.
#include "actors/bench/isolated_feed_actor.h"
#include "actors/bench/sample_work.h"
#include "actors/command/command.h"
#include "actors/command/opra/generated_events.h"
#include "actors/topology/actor_kinds.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::command {
namespace {

using actors::runtime::Isolation;
using actors::runtime::IsolationOptions;

struct BenchActorArguments {
    std::string name;
    IsolationOptions isolation;
    feed::opra::TrafficConfig traffic;
    std::string capture;  ///< empty: traffic is generated
};

/// An actor of actors/runtime that does this work for each message.
template <class Work>
class Worker final : public actors::runtime::MailboxActor {
  public:
    explicit Worker(std::size_t batch) : messages(this, {.most = batch}) {}

    actors::runtime::Mailbox<std::uint64_t> messages;

    void on(std::uint64_t& message) { work_.run(message); }

    void on_stop() override { actors::forget_contents(work_); }

  private:
    Work work_;
};

template <class Work>
Isolation measure_work(const BenchActorArguments& given) {
    constexpr std::size_t recorded_count = 4096;
    std::vector<std::uint64_t> recorded(recorded_count);
    std::iota(recorded.begin(), recorded.end(), 1U);
    const std::size_t batch = given.isolation.batch;
    return actors::runtime::measure_actor(
        given.isolation, std::span<const std::uint64_t>{recorded}, &Worker<Work>::messages,
        [batch](auto& core) -> Worker<Work>& { return core.template add<Worker<Work>>(batch); });
}

struct Sample {
    std::string_view name;
    std::string_view sentence;
    Isolation (*measure)(const BenchActorArguments& given);
};

constexpr std::array samples{
    Sample{"empty", "an empty handler: the cost of the runtime itself",
           measure_work<actors::NoWork>},
    Sample{"sum100", "the sum of 100 ints", measure_work<actors::SumOf<100>>},
    Sample{"sum1000", "the sum of 1000 ints", measure_work<actors::SumOf<1000>>},
    Sample{"sha512", "SHA-512 of 100 bytes", measure_work<actors::Sha512>},
};

/// Returns no events if there was an error, which was then printed. Sets `whole` to false if a
/// capture was not read to its end.
actors::RecordedEvents recorded(const BenchActorArguments& given, bool& whole) {
    if (given.capture.empty()) {
        auto traffic = given.traffic;
        traffic.messages_count = given.isolation.messages;
        return record_events(traffic);
    }
    Problems problems;
    actors::RecordedEvents events =
        actors::record_capture(given.capture, given.isolation.messages, problems);
    print_problems(problems);
    whole = problems.empty();
    return events;
}

Isolation measure_kind(const BenchActorArguments& given, const actors::RecordedEvents& events) {
    if (events.messages == 0) {
        throw Ended{};
    }
    actors::FeedConfig config;
    config.cores.resize(1);
    return actors::runtime::measure_isolated(given.isolation, [&](unsigned) {
        return std::make_unique<actors::IsolatedFeedActor>(
            events, actors::make_actor(given.name, config), given.isolation.batch);
    });
}

std::string names() {
    std::string names = actors::actor_kind_names();
    for (const Sample& sample : samples) {
        names += fmt::format(", {}", sample.name);
    }
    return names;
}

const Sample* find_sample(std::string_view name) {
    const auto* const found = std::find_if(samples.begin(), samples.end(),
                                           [&](const Sample& each) { return each.name == name; });
    return found == samples.end() ? nullptr : found;
}

/// Measures the actor, which must exist. `events` are for an actor that takes market data. Ends the
/// command if such an actor has no events; the reason was printed before.
Isolation measure(const BenchActorArguments& given, const actors::RecordedEvents& events) {
    const Sample* const sample = find_sample(given.name);
    return sample != nullptr ? sample->measure(given) : measure_kind(given, events);
}

/// Ends the command if the arguments are wrong.
void check_arguments(const BenchActorArguments& given) {
    const bool kind = actors::find_actor_kind(given.name) != nullptr;
    if (!kind && find_sample(given.name) == nullptr) {
        complain("bench actor: found no actor {}; expected one of {}", given.name, names());
        throw Ended{Exit::usage};
    }
    if (!kind && !given.capture.empty()) {
        complain("bench actor: {} takes no market data, so no --capture; expected one of {}",
                 given.name, actors::actor_kind_names());
        throw Ended{Exit::usage};
    }
}

void print_remarks(const Isolation& measured, const IsolationOptions& options) {
    fmt::print(
        "\nService time of a message in ns, in batches of {}; a clock read takes {:.1f} ns, which "
        "is subtracted.\n",
        options.batch, measured.clock_ns);
    if (measured.median_ns() * static_cast<double>(options.batch) < 4 * measured.clock_ns) {
        fmt::print(
            "A batch takes less than four clock reads: larger ones (--batch) are more accurate.\n");
    }
    if (options.copies > measured.processors) {
        fmt::print(
            "{} copies share {} processors: an interrupted batch includes the time of others.\n",
            options.copies, measured.processors);
    }
}

Exit bench_actor(const BenchActorArguments& given) {
    check_arguments(given);
    BenchActorArguments alone = given;
    alone.isolation.copies = 1;
    bool whole = true;
    const actors::RecordedEvents events =
        find_sample(given.name) == nullptr ? recorded(given, whole) : actors::RecordedEvents{};
    const Isolation one = measure(alone, events);
    fmt::print("{}", isolation_text(given.name, one));
    if (given.isolation.copies == 1) {
        print_remarks(one, given.isolation);
        return whole ? Exit::ok : Exit::failed;
    }
    const Isolation several = measure(given, events);
    const std::string text = isolation_text(given.name, several);
    fmt::print("{}", text.substr(text.find('\n') + 1));  // without the header, printed above
    print_remarks(several, given.isolation);
    fmt::print(
        "With {} more running, a message takes {:.2f} times as long (medians), and all together do "
        "{:.2f} times the work of one.\n",
        given.isolation.copies - 1, several.median_ns() / one.median_ns(),
        several.millions_per_second() / one.millions_per_second());
    return whole ? Exit::ok : Exit::failed;
}

std::string sentences() {
    std::string text;
    for (const ChoiceDoc& kind : actors::actor_kind_words()) {
        text += fmt::format("  {:<10}{}\n", kind.word, kind.sentence);
    }
    for (const Sample& sample : samples) {
        text += fmt::format("  {:<10}{}\n", sample.name, sample.sentence);
    }
    return text;
}

}  // namespace

void add_bench_actor(CLI::App& bench, Outcome& outcome) {
    const auto [command, given] =
        add_command(bench, outcome, "actor", "Service time of an actor alone, or with copies of it",
                    bench_actor);
    command->footer(
        "Passes recorded messages to an actor in one thread, in batches, and measures how long\n"
        "its core takes for each; the cost of the clock is measured and subtracted. A first pass\n"
        "over the recording, start and stop are not counted. Actors:\n" +
        sentences() +
        "Kinds that a config may name get generated OPRA traffic, or the first messages of\n"
        "--capture, with both streams arbitrated; if there are fewer than --messages, they are\n"
        "repeated. An actor that no config can name is measured from code:\n"
        "actors/runtime/isolation.h.\n"
        "Exit status: 0 success, 1 it failed or the capture was not read to its end, 2 wrong "
        "use.\n\n"
        "Examples:\n"
        "  pinstrike bench actor book --messages 200000 --series 100000\n"
        "  pinstrike bench actor book --capture yesterday.pcap\n"
        "  pinstrike bench actor sum1000 --copies 2");
    command->add_option("NAME", given->name, names())->required();
    add_number(*command, "--messages", given->isolation.messages, std::size_t{1},
               std::size_t{1'000'000'000}, "Messages measured, for each copy");
    add_number(*command, "--batch", given->isolation.batch, std::size_t{1}, std::size_t{65'536},
               "Messages between clock reads");
    add_number(*command, "--copies", given->isolation.copies, 1U, 64U,
               "Measure this many copies at once as well");
    auto* const capture =
        command
            ->add_option("--capture", given->capture,
                         "Recorded OPRA traffic (pcap, pcapng) instead of generated")
            ->type_name("FILE");
    add_number(*command, "--series", given->traffic.series_count, std::size_t{1},
               std::size_t{10'000'000}, "Series of generated traffic")
        ->excludes(capture);
    add_number(*command, "--mix", given->traffic.mix, 0.0, 1.0,
               "Mix of generated traffic: 0 plain short quotes, 1 the realistic mix")
        ->excludes(capture);
}

}  // namespace pinstrike::command
