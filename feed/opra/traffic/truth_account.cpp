// path: cold
#include "feed/opra/traffic/truth_account.h"

#include "feed/opra/traffic/reserved_symbols.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <ostream>
#include <variant>

namespace pinstrike::feed::opra::traffic {

namespace {

std::uint32_t after(std::uint32_t number) {
    return number == 0xFFFF'FFFFU ? 1 : number + 1;
}

bool is_test(const wire::Message& message) {
    return std::visit(
        [](const auto& body) {
            if constexpr (requires { body.series; }) {
                return is_reserved_symbol(wire::trimmed(body.series.symbol));
            } else if constexpr (requires { body.symbol; }) {
                return is_reserved_symbol(wire::trimmed(body.symbol));
            } else {
                return false;
            }
        },
        message.body);
}

}  // namespace

/// Called when a block was received after the missing ones, so that these are known to have
/// existed. Blocks before the first one received of a line are not lost, because they are from
/// before the start.
void AccountTruth::prove(Line& line) {
    for (const Range& range : line.unproved) {
        if (!line.joined) {
            break;
        }
        if (range.repaired) {
            deliver(line, range);
            continue;
        }
        line.lost += range.count;
        if (!line.gaps.empty() && after(line.gaps.back().last) == range.first) {
            line.gaps.back().last = range.last;
            line.gaps.back().count += range.count;
        } else {
            line.gaps.push_back(range);
        }
    }
    line.unproved.clear();
    line.joined = true;
}

void AccountTruth::deliver(Line& line, const Range& range) {
    line.delivered += range.count;
    line.filtered += range.filtered;
    line.controls += range.controls;
}

void AccountTruth::came_again(std::uint16_t line_number, std::uint64_t messages, unsigned copies,
                              bool filled) {
    Line& line = lines_[line_number];
    line.repaired += filled ? messages : 0;
    line.unasked += messages * (copies - (filled ? 1 : 0));
}

void AccountTruth::block(const SentBlock& block, const std::array<StreamFate, streams_count>& fates,
                         bool repaired) {
    Line& line = lines_[block.line_number];
    const bool data = block.role == BlockRole::data;
    const std::uint64_t count = data ? block.messages.size() : 0;
    bool heard = false;
    for (std::size_t i = 0; i < streams_count; ++i) {
        StreamTotals& totals = line.streams[i];
        totals.packets += fates[i].sound;
        totals.messages += fates[i].sound * count;
        totals.lost_packets += fates[i].lost ? 1 : 0;
        totals.corrupt_packets += fates[i].corrupt;
        heard = heard || fates[i].sound != 0;
    }
    nothing_lost_ = nothing_lost_ && heard;
    Range range{block.header.sequence, 0, count, 0, 0, repaired};
    for (const wire::Message& message : block.messages) {
        range.filtered += data && is_test(message) ? 1 : 0;
        range.controls += data && message.category() == 'H' ? 1 : 0;
    }
    if (!heard) {
        if (data) {
            range.last = sequence_of(block.header.sequence, static_cast<unsigned>(count - 1));
            line.unproved.push_back(range);
        }
        return;
    }
    if (block.role == BlockRole::start_of_day || block.role == BlockRole::reset) {
        line.unproved.clear();  // nothing shows how many more numbers the old numbering had
        line.joined = true;
        return;
    }
    prove(line);
    deliver(line, range);
}

void AccountTruth::write(std::ostream& out) const {
    using Json = nlohmann::ordered_json;
    Json all = Json::array();
    for (const auto& [number, line] : lines_) {
        Json gaps = Json::array();
        for (const Range& range : line.gaps) {
            gaps.push_back({range.first, range.last});
        }
        Json streams;
        for (std::size_t i = 0; i < streams_count; ++i) {
            const StreamTotals& totals = line.streams[i];
            streams[i == 0 ? "A" : "B"] = {{"packets", totals.packets},
                                           {"messages", totals.messages},
                                           {"lost_packets", totals.lost_packets},
                                           {"corrupt_packets", totals.corrupt_packets}};
        }
        all.push_back({{"line", number},
                       {"highest", line.delivered + line.lost},
                       {"delivered", line.delivered},
                       {"lost", line.lost},
                       {"repaired", line.repaired},
                       {"unasked", line.unasked},
                       {"gaps", std::move(gaps)},
                       {"filtered", line.filtered},
                       {"controls", line.controls},
                       {"streams", std::move(streams)}});
    }
    const Json whole{{"lossless", nothing_lost_}, {"lines", std::move(all)}};
    out << whole.dump(1) << '\n';
}

}  // namespace pinstrike::feed::opra::traffic
