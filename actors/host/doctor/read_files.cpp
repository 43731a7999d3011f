// path: cold
#include "actors/host/doctor/read_files.h"

#include "config/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <system_error>

namespace pinstrike::actors::doctor {
namespace {

namespace fs = std::filesystem;

/// More than any kernel has; prevents a damaged list from filling the memory.
constexpr int cpus_max = 8192;

std::optional<int> parse_index(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole && value >= 0 && value < cpus_max ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<std::string> read_word(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) {
        return std::nullopt;
    }
    // Uses read() to detect errors: many of these files can be opened but not read ("carrier" of an
    // interface that is down).
    std::string text;
    std::array<char, 4096> part{};
    while (in.read(part.data(), part.size()) || in.gcount() > 0) {
        text.append(part.data(), static_cast<std::size_t>(in.gcount()));
    }
    if (in.bad()) {
        return std::nullopt;
    }
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
        text.pop_back();
    }
    return text;
}

std::optional<std::int64_t> read_number(const fs::path& file) {
    const auto text = read_word(file);
    return text ? parse_integer(*text) : std::nullopt;
}

std::optional<CpuSet> parse_cpus(std::string_view text) {
    CpuSet cpus;
    if (text.empty() || text == "(null)") {
        return cpus;
    }
    while (true) {
        const std::string_view part = text.substr(0, text.find(','));
        const std::size_t dash = part.find('-');
        const auto first = parse_index(part.substr(0, dash));
        const auto last =
            dash == std::string_view::npos ? first : parse_index(part.substr(dash + 1));
        if (!first || !last || *last < *first) {
            return std::nullopt;
        }
        for (int cpu = *first; cpu <= *last; ++cpu) {
            cpus.insert(cpu);
        }
        if (part.size() == text.size()) {
            return cpus;
        }
        text.remove_prefix(part.size() + 1);
    }
}

std::optional<CpuSet> read_cpus(const fs::path& file) {
    const auto text = read_word(file);
    return text ? parse_cpus(*text) : std::nullopt;
}

std::string cpus_text(const CpuSet& cpus) {
    std::string text;
    for (auto first = cpus.begin(); first != cpus.end();) {
        auto behind = first;
        int last = *first;
        while (++behind != cpus.end() && *behind == last + 1) {
            last = *behind;
        }
        text += fmt::format("{}{}", text.empty() ? "" : ",", *first);
        text += last == *first ? "" : fmt::format("-{}", last);
        first = behind;
    }
    return text;
}

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        names.push_back(it->path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string link_name(const fs::path& link) {
    std::error_code error;
    const fs::path target = fs::read_symlink(link, error);
    return error ? std::string{} : target.filename().string();
}

std::string chosen_word(const std::string& text) {
    const std::size_t open = text.find('[');
    const std::size_t close = text.find(']');
    return open == std::string::npos || close == std::string::npos || close < open
               ? text
               : text.substr(open + 1, close - open - 1);
}

std::optional<int> number_behind(std::string_view name, std::string_view prefix) {
    return name.starts_with(prefix) ? parse_index(name.substr(prefix.size())) : std::nullopt;
}

}  // namespace pinstrike::actors::doctor
