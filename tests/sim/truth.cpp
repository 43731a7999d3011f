// path: cold
#include "tests/sim/truth.h"

#include "config/check.h"
#include "feed/opra/encode.h"
#include "feed/opra/layout.h"
#include "feed/opra/traffic/reserved_symbols.h"
#include "tests/sim/plan.h"

#include <algorithm>
#include <string>
#include <variant>

namespace pinstrike::sim {

namespace {

constexpr std::uint64_t numbers = 0xFFFF'FFFFULL;

}  // namespace

std::uint32_t number_after(std::uint32_t number, std::uint64_t steps) {
    return static_cast<std::uint32_t>((std::uint64_t{number} - 1 + steps) % numbers + 1);
}

std::uint64_t steps_between(std::uint32_t from, std::uint32_t to) {
    return (std::uint64_t{to} + numbers - from) % numbers;
}

bool is_test(const feed::opra::wire::Message& message) {
    const auto reserved = [](const auto& symbol) {
        std::string text{symbol.data(), symbol.size()};
        text.erase(text.find_last_not_of(' ') + 1);
        return feed::opra::traffic::is_reserved_symbol(text);
    };
    return std::visit(
        [&](const auto& body) {
            if constexpr (requires { body.series; }) {
                return reserved(body.series.symbol);
            } else if constexpr (requires { body.symbol; }) {
                return reserved(body.symbol);
            } else {
                return false;
            }
        },
        message.body);
}

std::uint32_t LineTruth::number_at(Place place) const {
    const auto& [block, index] = messages[place];
    return number_after(block->header.sequence, index);
}

Truth::Truth(const Plan& plan)
    : plan_(plan), random_(feed::opra::traffic::scramble(plan.seed ^ 0x5350'4F49'4CULL)) {
    for (const feed::LineConfig& line : plan.lines) {
        lines_.emplace_back().number = line.number;
        lines_.back().epochs.emplace_back();
    }
}

/// Gives one message an unknown category: it and those behind it cannot be decoded.
void Truth::make_undecodable(Block& block) {
    using namespace feed::opra;
    block.decodable = static_cast<unsigned>(random_.below(block.messages.size()));
    std::size_t at = block::header_bytes;
    for (unsigned i = 0; i < block.decodable; ++i) {
        at += encoded_bytes(block.messages[i]);
    }
    block.bytes[at + message::category.at] = std::byte{'!'};
    fix_checksum(block.bytes);
}

void Truth::block(const feed::opra::traffic::SentBlock& sent) {
    LineTruth& line = lines_[sent.line];
    Block& block = blocks_.emplace_back();
    block.line = sent.line;
    block.line_number = sent.line_number;
    block.header = sent.header;
    block.ts_ns = sent.ts_ns;
    block.role = sent.role;
    block.lowers = sent.lowers;
    block.disaster_site = sent.disaster_site;
    block.messages.assign(sent.messages.begin(), sent.messages.end());
    block.decodable = static_cast<unsigned>(block.messages.size());
    block.test = plan_.calendar && is_weekend(block.ts_ns);
    block.bytes.assign(sent.bytes.begin(), sent.bytes.end());
    if (block.numbered() && random_.chance(plan_.undecodable)) {
        make_undecodable(block);
    }
    const Epoch& current = line.epochs.back();
    if (block.numbered() && current.begin != current.end &&
        sent.header.sequence != number_after(current.first_number, current.end - current.begin)) {
        line.unannounced = true;
        line.epochs.push_back({sent.header.sequence, line.messages.size(), line.messages.size()});
    }
    block.index = line.blocks.size();
    block.begin = line.messages.size();
    if (block.renumbers()) {
        line.epochs.push_back({sent.header.sequence + 1, block.begin, block.begin});
    } else if (block.numbered()) {
        Epoch& epoch = line.epochs.back();
        if (epoch.begin == epoch.end) {
            epoch.first_number = sent.header.sequence;
        }
        for (unsigned i = 0; i < block.messages.size(); ++i) {
            line.messages.emplace_back(&block, i);
        }
        epoch.end = line.messages.size();
        messages_count_ += block.messages.size();
    }
    block.epoch = line.epochs.size() - 1;
    line.blocks.push_back(&block);
    PINSTRIKE_CHECK(by_ts_.emplace(block.ts_ns, &block).second);
}

std::size_t Truth::line_index(std::uint16_t number) const {
    const auto at = std::ranges::find(lines_, number, &LineTruth::number);
    return static_cast<std::size_t>(at - lines_.begin());
}

const Block* Truth::stamped(std::int64_t ts_ns) const {
    const auto at = by_ts_.find(ts_ns);
    return at == by_ts_.end() ? nullptr : at->second;
}

}  // namespace pinstrike::sim
