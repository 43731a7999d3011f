// path: cold
#include "feed/recording/left_out.h"

#include "nic/capture/capture_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

namespace pinstrike::feed {

namespace {

constexpr std::string_view before_line = "left out before this packet of line ";
constexpr std::string_view before_ranges = ": messages ";
constexpr std::string_view between_numbers = "-";
constexpr std::string_view before_times = " stamped ";
constexpr std::string_view between_ranges = ", ";

/// A comment has at most 65535 bytes, and a range at most 90.
constexpr std::size_t ranges_of_comment_max = 700;
constexpr std::size_t ranges_max = std::size_t{4} << 20;

/// Reads numbers between known texts.
class TextReader {
  public:
    explicit TextReader(std::string_view text) : rest_(text) {}

    [[nodiscard]] bool skip(std::string_view expected) {
        const bool there = rest_.starts_with(expected);
        rest_.remove_prefix(there ? expected.size() : 0);
        return there;
    }

    template <class Number>
    [[nodiscard]] bool read(Number& into) {
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), into);
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return error == std::errc{};
    }

    [[nodiscard]] bool at_end() const { return rest_.empty(); }

  private:
    std::string_view rest_;
};

bool read_range(TextReader& text, LeftOutRange& range) {
    return text.read(range.first) && text.skip(between_numbers) && text.read(range.last) &&
           text.skip(before_times) && text.read(range.first_ts_ns) && text.skip(between_numbers) &&
           text.read(range.last_ts_ns) && range.first <= range.last;
}

/// Whether the numbers are in the range, or were appended to it.
bool extend(LeftOutRange& range, const BlockNumbers& numbers) {
    if (numbers.first >= range.first && numbers.last <= range.last) {
        return true;  // the copy of the other stream
    }
    if (numbers.first != range.last + 1) {
        return false;
    }
    range.last = numbers.last;
    range.first_ts_ns = std::min(range.first_ts_ns, numbers.ts_exchange_ns);
    range.last_ts_ns = std::max(range.last_ts_ns, numbers.ts_exchange_ns);
    return true;
}

}  // namespace

void LeftOut::add(std::uint16_t line, const BlockNumbers& numbers) {
    if (numbers.restarts) {
        return;
    }
    std::vector<LeftOutRange>& ranges = pending_[line];
    // The streams take turns, so it is one of the latest ranges that goes on.
    constexpr std::ptrdiff_t latest = 8;
    const auto begin = ranges.end() - std::min(latest, std::ssize(ranges));
    if (std::none_of(begin, ranges.end(),
                     [&](LeftOutRange& range) { return extend(range, numbers); })) {
        ranges.push_back(
            {numbers.first, numbers.last, numbers.ts_exchange_ns, numbers.ts_exchange_ns});
    }
}

std::string LeftOut::take_comment(std::uint16_t line) {
    const auto found = pending_.find(line);
    if (found == pending_.end() || found->second.empty()) {
        return {};
    }
    std::vector<LeftOutRange>& ranges = found->second;
    const auto end =
        ranges.begin() + std::min<std::ptrdiff_t>(std::ssize(ranges), ranges_of_comment_max);
    std::string text = fmt::format("{}{}", before_line, line);
    std::string_view before = before_ranges;
    for (auto range = ranges.begin(); range != end; ++range, before = between_ranges) {
        text += fmt::format("{}{}{}{}{}{}{}{}", before, range->first, between_numbers, range->last,
                            before_times, range->first_ts_ns, between_numbers, range->last_ts_ns);
    }
    ranges.erase(ranges.begin(), end);
    return text;
}

std::size_t read_comment(std::string_view comment, LeftOutByLine& into) {
    TextReader text{comment};
    std::uint16_t line = 0;
    bool good = text.skip(before_line) && text.read(line) && text.skip(before_ranges);
    std::vector<LeftOutRange> ranges;
    do {
        good = good && (ranges.empty() || text.skip(between_ranges)) &&
               read_range(text, ranges.emplace_back());
    } while (good && !text.at_end());
    if (!good) {
        return 0;
    }
    std::vector<LeftOutRange>& known = into[line];
    known.insert(known.end(), ranges.begin(), ranges.end());
    return ranges.size();
}

LeftOutByLine left_out_of(std::span<const std::string> captures, Problems& problems) {
    LeftOutByLine found;
    std::size_t ranges = 0;
    for (const std::string& path : captures) {
        std::error_code error;
        if (!std::filesystem::is_regular_file(path, error)) {
            continue;  // the bytes of a pipe can be read only once
        }
        Problems ignored;
        auto reader = nic::CaptureReader::open(path, ignored);
        if (!reader || reader->comment() != cut_comment) {
            continue;
        }
        nic::CapturedFrame frame;
        while (reader->next(frame)) {
            ranges += read_comment(frame.comment, found);
            if (ranges > ranges_max) {
                add_problem(
                    problems, path,
                    fmt::format("states more than {} ranges of messages left out", ranges_max));
                return {};
            }
        }
    }
    return found;
}

}  // namespace pinstrike::feed
