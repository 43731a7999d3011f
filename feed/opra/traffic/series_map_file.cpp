// path: cold
#include "feed/opra/traffic/series_map_file.h"

#include "feed/opra/traffic/universe.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace pinstrike::feed::opra::traffic {

void write_series_map(std::ostream& out, const TrafficConfig& config,
                      std::span<const LineConfig> lines) {
    constexpr std::size_t chunk_bytes = 1 << 16;
    const auto used = lines.first(std::min(lines.size(), config.lines_count));
    const Universe universe{config, used};
    fmt::memory_buffer text;
    fmt::format_to(std::back_inserter(text),
                   "Symbol,Expiration Block,Reserved,Strike,Line,Reserved\n");
    for (std::size_t i = 0; i < universe.series().size(); ++i) {
        const Series& series = universe.series()[i];
        const std::uint16_t line = used[series.line].number;
        const LineUse use = i < universe.gth_begin() ? LineUse::regular : LineUse::gth;
        if (use_of_line(line) != use) {
            continue;  // the generated lines include none of the series' session
        }
        fmt::format_to(std::back_inserter(text), "{},{}{:02}{:02},,{}.{:03},{},\n",
                       universe.root_of(series).text(), series.letter, series.day, series.year,
                       series.strike_e3 / 1000, series.strike_e3 % 1000, line);
        if (text.size() >= chunk_bytes) {
            out.write(text.data(), static_cast<std::streamsize>(text.size()));
            text.clear();
        }
    }
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

}  // namespace pinstrike::feed::opra::traffic
