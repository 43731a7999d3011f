// path: cold
#include "actors/bench/stages/stage_figures.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace pinstrike::actors {
namespace {

StageCost spread_of(std::vector<double> figures_ns) {
    std::sort(figures_ns.begin(), figures_ns.end());
    return {figures_ns[figures_ns.size() / 2], figures_ns.front(), figures_ns.back()};
}

bool was_measured(const StageFigures& figures, Stage stage) {
    return !figures.path_ns[index_of(stage)].empty();
}

/// Returns the measured stage before `stage` on the same thread; `stage` itself: it is the first
/// one.
Stage stage_before(const StageFigures& figures, Stage stage) {
    if (stage == Stage::receive || stage == Stage::pop) {
        return stage;
    }
    const auto before = static_cast<Stage>(index_of(stage) - 1);
    return was_measured(figures, before) ? before : stage_before(figures, before);
}

void add_row(std::string& out, std::string_view name, const StageCost& cost, double messages,
             double tick_ns, std::string_view sentence) {
    out +=
        fmt::format("  {:<11} {:>9.1f} {:>9.1f} {:>9.1f} {:>9.0f} {:>10.2f} {:>9.1f}  {}\n", name,
                    cost.median_ns, cost.lowest_ns, cost.highest_ns, cost.median_ns / tick_ns,
                    cost.median_ns / messages, cost.median_ns / messages / tick_ns, sentence);
}

void add_table(std::string& out, const StageFigures& figures, double tick_ns) {
    const double messages = figures.messages_per_packet;
    out += fmt::format("{}: {:.2f} messages a packet, {} packets in a loop\n", figures.name,
                       messages, figures.loop_packets);
    out += fmt::format("  {:<11} {:>9} {:>9} {:>9} {:>9} {:>10} {:>9}\n", "stage", "ns/packet",
                       "lowest", "highest", "cycles", "ns/message", "cycles");
    for (std::size_t i = 0; i < stages_count; ++i) {
        const auto stage = static_cast<Stage>(i);
        if (!was_measured(figures, stage)) {
            continue;
        }
        add_row(out, stage_docs[i].name, cost_of(figures, stage), messages, tick_ns,
                stage_docs[i].sentence);
        if (stage == Stage::push) {
            add_row(out, "= poller", cost_up_to(figures, stage), messages, tick_ns, "");
        }
    }
    add_row(out, "= core", cost_up_to(figures, Stage::book), messages, tick_ns, "");
}

nlohmann::ordered_json json_of(const StageFigures& figures) {
    auto stages = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < stages_count; ++i) {
        const auto stage = static_cast<Stage>(i);
        if (was_measured(figures, stage)) {
            const StageCost cost = cost_of(figures, stage);
            stages.push_back({{"stage", stage_docs[i].name},
                              {"order", i},
                              {"measured_packets", figures.measured_packets[i]},
                              {"ns_per_packet",
                               {{"median", cost.median_ns},
                                {"lowest", cost.lowest_ns},
                                {"highest", cost.highest_ns}}},
                              {"ns_per_message", cost.median_ns / figures.messages_per_packet}});
        }
    }
    return {{"name", figures.name},
            {"packets", figures.loop_packets},
            {"messages_per_packet", figures.messages_per_packet},
            {"stages", stages}};
}

}  // namespace

StageCost cost_up_to(const StageFigures& figures, Stage stage) {
    return spread_of(figures.path_ns[index_of(stage)]);
}

StageCost cost_of(const StageFigures& figures, Stage stage) {
    std::vector<double> costs_ns = figures.path_ns[index_of(stage)];
    const Stage before = stage_before(figures, stage);
    for (std::size_t run = 0; before != stage && run < costs_ns.size(); ++run) {
        costs_ns[run] -= figures.path_ns[index_of(before)][run];
    }
    return spread_of(std::move(costs_ns));
}

std::string stages_text(std::span<const StageFigures> shapes, double tick_ns) {
    std::string out;
    for (const StageFigures& figures : shapes) {
        add_table(out, figures, tick_ns);
        out += '\n';
    }
    return out +
           fmt::format("cycles: of the time stamp counter, {:.2f} a nanosecond\n", 1 / tick_ns);
}

std::string stages_json(std::span<const StageFigures> shapes, double tick_ns) {
    auto all = nlohmann::ordered_json::array();
    for (const StageFigures& figures : shapes) {
        all.push_back(json_of(figures));
    }
    return nlohmann::ordered_json{{"tick_ns", tick_ns}, {"shapes", all}}.dump() + '\n';
}

}  // namespace pinstrike::actors
