// path: cold
//
// Describes a line's traffic and the events of an arbiter as text, so that a test is one row.
//
// Input, one word each:
//   A1+3      stream A: data block of numbers 1, 2, 3      A1+3/2  only the first 2 decodable
//   BN7       line integrity, the last number is 7         AC0 AK5 start of day, reset
//   V4+2      retransmitted block                          VK1     retransmitted control
//   +500      500 ns pass, and timers run                  wait    the window passes
//   flush7    the caller decoded number 7, a flush         end     the end of the input
//   due       an inferred reset is a start of day from now on
// Each block is stamped one step later than the block before it, with two exceptions. A block whose
// words behind the stream's letter occurred before has the stamp of the first occurrence. A block
// with a lower number than a block sent earlier is stamped just before the block with the next
// higher number, because OPRA sent it then. `@42` behind the word sets the stamp. `~7` before that
// sets an id, which distinguishes the copies of this block from other blocks.
//
// Output: "5" delivered; "5L" delivered late, with D (from before the day) or F (from before a
// flush); R retransmitted; "gap4-6", "bad4-6" (undecodable), "found4-6"; "resetK5:quotes",
// "inferredK5:quotes".
#pragma once

#include "feed/arbitration/arbiter.h"
#include "tests/feed/numbering.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace pinstrike::feed::test {

/// The bytes behind the number of a block of one message, by which its copies are recognised: its
/// time, and an id that stands for all its other content.
struct CopyMark {
    std::int64_t ts_ns = 0;
    std::uint64_t id = 0;  ///< 0: the block has no mark

    static constexpr std::size_t at = sizeof(BlockStart) - 16;

    static CopyMark of(std::span<const std::byte, sizeof(BlockStart)> start) {
        CopyMark mark;
        std::memcpy(&mark.ts_ns, start.data() + at, 8);
        std::memcpy(&mark.id, start.data() + at + 8, 8);
        return mark;
    }

    /// Writes the mark behind the block's number. Returns the new bytes, which the block refers to.
    [[nodiscard]] std::vector<std::byte> put_into(Block& block) const {
        std::vector<std::byte> bytes(block.bytes.begin(), block.bytes.end());
        bytes.resize(sizeof(BlockStart));
        std::memcpy(bytes.data() + at, &ts_ns, 8);
        std::memcpy(bytes.data() + at + 8, &id, 8);
        block.bytes = bytes;
        return bytes;
    }
};

/// Records each event as a word. Checks that the bytes of each message are those that were sent
/// under its number.
class WordSink : public ArbiterSink {
  public:
    std::string words;
    std::string wrong;

    void deliver(const Block& block, unsigned first, unsigned count, DeliveryFlags flags) override {
        for (unsigned i = first; i < first + count; ++i) {
            const Position position = numbering.last + block.sequence + i;
            if (i >= block.decodable || (i + 1) * 4 > block.bytes.size()) {
                wrong += " delivered beyond what is decodable: " + std::to_string(i);
                return;
            }
            std::uint32_t number = 0;
            std::memcpy(&number, block.bytes.data() + std::size_t{i} * 4, 4);
            if (number != numbering.number_at(position)) {
                wrong += " bytes of " + std::to_string(number);
            }
            say(std::to_string(numbering.number_at(position)) + letters(flags));
        }
    }

    std::optional<std::int64_t> ts_of_copy(std::span<const BlockStart> starts,
                                           const Block& block) const override {
        for (const BlockStart& start : starts) {
            const CopyMark first = CopyMark::of(start);
            if (block.bytes.size() >= sizeof start && first.id != 0 &&
                first.id == CopyMark::of(block.bytes.first<sizeof start>()).id &&
                std::memcmp(start.data(), block.bytes.data(), 4) == 0) {
                return first.ts_ns;
            }
        }
        return std::nullopt;
    }

    void gap(std::uint64_t first, std::uint64_t last, std::uint64_t messages, GapCause cause,
             std::int64_t /*ts_exchange_ns*/, DeliveryFlags flags) override {
        const std::string what = cause == GapCause::repaired      ? "found"
                                 : cause == GapCause::undecodable ? "bad"
                                                                  : "gap";
        if (numbering.nearest(numbering.last + first, last) - (numbering.last + first) + 1 !=
                messages &&
            messages < numbering.last / 2) {
            wrong += " gap of " + std::to_string(messages);
        }
        say(what + std::to_string(first) + "-" + std::to_string(last) +
            letters(static_cast<DeliveryFlags>(flags & (flag_before_day | flag_before_flush))));
    }

    void reset(const Block& block, Forget forget, bool inferred) override {
        static const char* const names[] = {"nothing", "quotes", "day"};
        say((inferred ? "inferred" : "reset") +
            std::string(block.role == BlockRole::start_of_day ? "C" : "K") +
            std::to_string(block.sequence) + ":" + names[static_cast<std::size_t>(forget)]);
    }

    [[nodiscard]] bool start_is_due() const override { return start_due; }

    bool start_due = false;

    void say(const std::string& word) { words.append(words.empty() ? "" : " ").append(word); }

  private:
    static std::string letters(DeliveryFlags flags) {
        std::string out;
        out += (flags & flag_late) != 0 ? "L" : "";
        out += (flags & flag_before_day) != 0 ? "D" : "";
        out += (flags & flag_before_flush) != 0 ? "F" : "";
        out += (flags & flag_retransmitted) != 0 ? "R" : "";
        return out;
    }
};

/// The identities of the account that do not hold for an arbiter that has finished; empty: all
/// hold.
inline std::string imbalance(Arbiter& arbiter) {
    std::string out;
    const auto line = [&arbiter](LineCount count) { return arbiter.counters().read(count); };
    std::uint64_t accepted = 0;
    for (const Stream stream : {Stream::a, Stream::b}) {
        const StreamCounters& counts = arbiter.counters(stream);
        accepted += counts.read(StreamCount::accepted);
        if (counts.read(StreamCount::messages) != counts.read(StreamCount::accepted) +
                                                      counts.read(StreamCount::duplicate) +
                                                      counts.read(StreamCount::rejected)) {
            out += " stream: messages != accepted + duplicate + rejected;";
        }
    }
    std::uint64_t listed = 0;
    for (const Arbiter::NumberRange& gap : arbiter.gaps()) {
        listed += std::uint64_t{gap.last} - gap.first + 1;
    }
    if (line(LineCount::delivered) != accepted + line(LineCount::repaired)) {
        out += " delivered != accepted + repaired;";
    }
    if (line(LineCount::delivered) + line(LineCount::lost) != line(LineCount::highest)) {
        out += " delivered " + std::to_string(line(LineCount::delivered)) + " + lost " +
               std::to_string(line(LineCount::lost)) + " != highest " +
               std::to_string(line(LineCount::highest)) + ";";
    }
    if (listed + line(LineCount::gaps_unlisted) != line(LineCount::lost)) {
        out += " listed gaps != lost;";
    }
    return out;
}

class Script {
  public:
    /// The distance between two stamps of a script, which leaves stamps for blocks sent in between.
    static constexpr std::int64_t step_ts = 1000;

    explicit Script(const ArbitrationConfig& config = {.window_ns = 1000,
                                                       .hold_bytes = 65536,
                                                       .gap_ranges = 64})
        : window_ns_(config.window_ns), arbiter(config, numbering) {}

    /// Reports to this sink instead of its own.
    Script(const ArbitrationConfig& config, WordSink& reported)
        : window_ns_(config.window_ns), arbiter(config, numbering), told_(&reported) {}

    /// Plays the words and returns the events of the arbiter since the beginning.
    std::string play(const std::string& words) {
        std::istringstream in(words);
        for (std::string word; in >> word;) {
            play_word(word);
        }
        return sink.words;
    }

    [[nodiscard]] std::string gaps() const {
        std::string out;
        for (const Arbiter::NumberRange& gap : arbiter.gaps()) {
            out.append(out.empty() ? "" : " ").append(std::to_string(gap.first));
            out.append("-").append(std::to_string(gap.last));
        }
        return out;
    }

  private:
    std::int64_t window_ns_;

  public:
    Arbiter arbiter;
    WordSink sink;
    std::int64_t now_ns = 1'000'000;

  private:
    void play_word(const std::string& word) {
        if (word == "end") {
            arbiter.finish(now_ns, *told_);
        } else if (word == "wait") {
            step(window_ns_);
        } else if (word[0] == '+') {
            step(std::stoll(word.substr(1)));
        } else if (word == "due") {
            sink.start_due = true;
        } else if (word.rfind("flush", 0) == 0) {
            arbiter.flush_at(static_cast<std::uint64_t>(std::stoul(word.substr(5))));
        } else {
            play_block(word);
        }
    }

    void step(std::int64_t ns) {
        now_ns += ns;
        arbiter.step(now_ns, *told_);
    }

    void play_block(const std::string& word) {
        const std::size_t at = word.find('@');
        const std::size_t tilde = word.find('~');
        const std::string what = word.substr(1, std::min({at, tilde, word.size()}) - 1);
        ts_ += step_ts;
        if (at != std::string::npos) {
            stamps_[what] = ts_ = step_ts * std::stoll(word.substr(at + 1));
        }
        const bool numbered = std::isdigit(static_cast<unsigned char>(what[0])) != 0;
        const auto number = numbered ? static_cast<std::uint64_t>(std::stoul(what)) : 0;
        const std::int64_t ts =
            stamps_.emplace(what, numbered && at == std::string::npos ? stamp_of(number) : ts_)
                .first->second;
        if (numbered) {
            numbers_[number] = ts;
        } else if (what[0] != 'N') {
            numbers_.clear();
        }
        Block block;
        block.ts_exchange_ns = ts;
        block.ts_receive_ns = now_ns;
        block.retransmitted = word[0] == 'V';
        std::vector<std::uint32_t> numbers;
        fill(block, what, numbers);
        const CopyMark mark{ts,
                            tilde == std::string::npos ? 0 : std::stoull(word.substr(tilde + 1))};
        std::vector<std::byte> bytes;
        if (mark.id != 0) {
            bytes = mark.put_into(block);
        }
        const Stream stream = word[0] == 'B' ? Stream::b : Stream::a;
        if (arbiter.next_deadline_ns() <= now_ns) {
            arbiter.step(now_ns, *told_);
        }
        admit(block, stream);
    }

    /// The stamp just before that of the next higher number sent since the last reset; if there is
    /// none, the current stamp.
    std::int64_t stamp_of(std::uint64_t number) const {
        constexpr std::uint64_t near = 1 << 20;
        std::uint64_t nearest = near;
        std::int64_t ts = ts_;
        for (const auto& [other, stamp] : numbers_) {
            if (other - number - 1 < nearest) {
                nearest = other - number - 1;
                ts = stamp - 1;
            }
        }
        return ts;
    }

    static void fill(Block& block, const std::string& what, std::vector<std::uint32_t>& numbers) {
        block.messages = block.decodable = 1;
        if (std::isdigit(static_cast<unsigned char>(what[0])) == 0) {
            block.sequence = static_cast<std::uint64_t>(std::stoul(what.substr(1)));
            block.role = what[0] == 'C'   ? BlockRole::start_of_day
                         : what[0] == 'K' ? BlockRole::reset
                                          : BlockRole::line_integrity;
            return;
        }
        block.sequence = static_cast<std::uint64_t>(std::stoul(what));
        const std::size_t plus = what.find('+');
        if (plus != std::string::npos) {
            block.messages = block.decodable =
                static_cast<std::uint16_t>(std::stoul(what.substr(plus + 1)));
        }
        const std::size_t slash = what.find('/');
        if (slash != std::string::npos) {
            block.decodable = static_cast<std::uint16_t>(std::stoul(what.substr(slash + 1)));
        }
        for (unsigned i = 0; i < block.messages; ++i) {
            numbers.push_back(serial_of(numbering.number_at(numbering.last + block.sequence + i)));
        }
        block.bytes = std::as_bytes(std::span(numbers));
    }

    void admit(const Block& block, Stream stream) {
        arbiter.count_packet(stream);
        switch (arbiter.commit(block, stream)) {
            case Verdict::deliver_all:
                told_->deliver(block, 0, block.messages, 0);
                break;
            case Verdict::duplicate_all:
                break;
            case Verdict::slow:
                arbiter.commit_slow(block, stream, now_ns, *told_);
                break;
        }
    }

    WordSink* told_ = &sink;
    std::int64_t ts_ = 100 * step_ts;
    std::map<std::string, std::int64_t> stamps_;
    std::map<std::uint64_t, std::int64_t> numbers_;  ///< stamps of data since the last reset
};

}  // namespace pinstrike::feed::test
