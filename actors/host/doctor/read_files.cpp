// path: cold
#include "actors/host/doctor/read_files.h"

#include "config/units.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <system_error>

namespace pinstrike::actors::doctor {
namespace {

namespace fs = std::filesystem;

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
    text.erase(text.find_last_not_of("\n ") + 1);
    return text;
}

std::optional<std::int64_t> read_number(const fs::path& file) {
    const auto text = read_word(file);
    return text ? parse_integer(*text) : std::nullopt;
}

std::optional<CpuSet> parse_cpus(std::string_view text) {
    if (text.empty() || text == "(null)") {
        return CpuSet{};
    }
    const auto numbers = parse_ranges(text, 0);
    return numbers ? std::optional(CpuSet(numbers->begin(), numbers->end())) : std::nullopt;
}

std::optional<CpuSet> read_cpus(const fs::path& file) {
    const auto text = read_word(file);
    return text ? parse_cpus(*text) : std::nullopt;
}

std::string cpus_text(const CpuSet& cpus) {
    return ranges_text({cpus.begin(), cpus.end()}, ",");
}

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        names.push_back(it->path().filename().string());
    }
    std::ranges::sort(names);
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
    constexpr int number_max = 8191;  // more than any kernel has
    const auto number =
        name.starts_with(prefix) ? parse_integer(name.substr(prefix.size())) : std::nullopt;
    return number && *number >= 0 && *number <= number_max
               ? std::optional(static_cast<int>(*number))
               : std::nullopt;
}

}  // namespace pinstrike::actors::doctor
