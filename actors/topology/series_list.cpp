// path: cold
#include "actors/topology/series_list.h"

#include "actors/poller/sharding.h"
#include "actors/topology/actor_kinds.h"
#include "config/yaml.h"
#include "feed/venue_services.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

namespace pinstrike::actors {
namespace {

/// Assigns each series once to its core. It holds at most twice as many series as the actors have
/// memory for, whatever the size of the file. If the series need ids, because the feed
/// publishes them or a command has an actor of its own, it also holds the key of each row, because
/// the ids count all series of the file.
class ShardAssignment {
  public:
    ShardAssignment(const FeedConfig& config, SeriesList& list)
        : config_(config),
          venue_(feed::venue_services(config.kind)),
          list_(list),
          needs_ids_(config.publish.on() ||
                     std::ranges::any_of(
                         config.cores,
                         [](const CoreConfig& core) { return static_cast<bool>(core.make_own); })),
          held_max_(series_room(config).all_cores) {
        for (const feed::LineConfig& line : config.lines) {
            lines_.insert(line.number);
        }
    }

    void take(const feed::SeriesMap& map) {
        if (overfull_) {
            return;
        }
        if (needs_ids_) {
            all_.push_back(map.series);
        }
        if (!lines_.contains(map.mapped_line)) {
            count(SeriesRow::elsewhere);
        } else if (!config_.test_symbols && venue_.is_test_symbol(map.series.symbol_word())) {
            count(SeriesRow::test);
        } else {
            list_.by_core[core_of(map.series, config_.sharding, config_.cores.size())].push_back(
                map);
            if (++held_ > 2 * held_max_) {
                drop_repeated();
                overfull_ = held_ > held_max_;
            }
        }
    }

    void finish() {
        drop_repeated();
        give_ids();
        count(SeriesRow::announced, held_);
        for (const auto& own : list_.by_core) {
            list_.counts.push_back(own.size());
        }
    }

    /// True if the file has more rows than were read.
    [[nodiscard]] bool overfull() const { return overfull_; }

  private:
    void count(SeriesRow row, std::size_t more = 1) {
        list_.rows[static_cast<std::size_t>(row)] += more;
    }

    void drop_repeated() {
        const auto place = [](const feed::SeriesMap& map) {
            return std::pair{map.series.name, map.series.strike_e8};
        };
        std::size_t left = 0;
        for (auto& own : list_.by_core) {
            std::ranges::sort(own, {}, [&](const feed::SeriesMap& map) {
                return std::pair{place(map), map.mapped_line};
            });
            const auto repeated = std::ranges::unique(own, {}, place);
            own.erase(repeated.begin(), repeated.end());
            left += own.size();
        }
        count(SeriesRow::repeated, held_ - left);
        held_ = left;
    }

    /// The id of a series is its position among all series of the list, also those of lines that
    /// the feed does not take, so that it is the same on each host.
    void give_ids() {
        std::ranges::sort(all_, feed::comes_before);
        const auto repeated = std::ranges::unique(all_);
        all_.erase(repeated.begin(), repeated.end());
        for (auto& own : list_.by_core) {
            for (feed::SeriesMap& map : own) {
                const auto at = std::ranges::lower_bound(all_, map.series, feed::comes_before);
                map.id = at == all_.end() ? 0 : static_cast<std::uint32_t>(at - all_.begin()) + 1;
            }
        }
        list_.listed = std::move(all_);
    }

    const FeedConfig& config_;
    const feed::VenueServices& venue_;
    SeriesList& list_;
    bool needs_ids_;
    std::vector<feed::SeriesKey> all_;  ///< of the list, only if they need ids
    std::set<std::uint16_t> lines_;
    std::size_t held_max_;
    std::size_t held_ = 0;
    bool overfull_ = false;
};

/// The file that the key names, or the newest file of the folder; empty if the folder has none.
std::string file_of(const FeedConfig& config) {
    const std::string& path = config.series_map;
    std::error_code error;
    return std::filesystem::is_directory(path, error)
               ? feed::venue_services(config.kind).newest_series_mapping(path)
               : path;
}

/// Adds a problem with the file at the key that names it.
struct Complaints {
    const FeedConfig& config;
    Problems& problems;

    template <class... Values>
    void add(Remedy remedy, fmt::format_string<Values...> text, Values&&... values) const {
        add_problem(problems, config.series_map_place.value_or(pinstrike::Place{}),
                    "series_map: " + fmt::format(text, std::forward<Values>(values)...), remedy);
    }
};

void check_room(const FeedConfig& config, const SeriesList& list, bool overfull,
                const Complaints& complaints) {
    const SeriesRoom room = series_room(config);
    const std::uint64_t announced = list.count(SeriesRow::announced);
    if (announced > room.all_cores) {
        complaints.add(Remedy::change, "found {}{} series in {}, expected at most {}: {}",
                       overfull ? "at least " : "", announced, list.file, room.all_cores, room.key);
        return;
    }
    for (std::size_t i = 0; i < config.cores.size(); ++i) {
        if (list.counts[i] > room.each_core) {
            complaints.add(Remedy::change,
                           "found {} series of {} in {}, expected at most {}: a core's share of "
                           "{}",
                           list.counts[i], config.cores[i].name, list.file, room.each_core,
                           room.key);
        }
    }
}

void read_file(const FeedConfig& config, SeriesList& list, const Complaints& complaints) {
    ShardAssignment assignment{config, list};
    Problems unreadable;
    auto rows =
        feed::venue_services(config.kind)
            .read_series_mapping(
                list.file, [&assignment](const feed::SeriesMap& map) { assignment.take(map); },
                unreadable);
    assignment.finish();
    for (const Problem& problem : unreadable) {
        complaints.add(problem.remedy, "{} {}", problem.place.file, problem.text);
    }
    if (!rows) {
        return;
    }
    list.rows[static_cast<std::size_t>(SeriesRow::malformed)] = rows->malformed;
    list.malformed = std::move(rows->problems);
    if (rows->good == 0) {
        complaints.add(Remedy::change,
                       "found no series in {}, expected at least one row of symbol, "
                       "expiration, reserved, strike, line, reserved",
                       list.file);
        complaints.problems.insert(complaints.problems.end(), list.malformed.begin(),
                                   list.malformed.end());
    }
    check_room(config, list, assignment.overfull(), complaints);
}

}  // namespace

SeriesList read_series_list(const FeedConfig& config, Problems& problems) {
    SeriesList list;
    list.by_core.resize(config.cores.size());
    if (config.series_map.empty()) {
        return list;
    }
    const Complaints complaints{config, problems};
    list.file = file_of(config);
    if (list.file.empty()) {
        complaints.add(Remedy::change, "found no such file in {}, expected {}", config.series_map,
                       feed::venue_services(config.kind).series_mapping_name);
    } else {
        read_file(config, list, complaints);
    }
    return list;
}

std::string to_text(const SeriesList& list, const FeedConfig& config) {
    if (list.file.empty()) {
        return {};
    }
    const SeriesRoom room = series_room(config);
    std::string text = fmt::format("series {}: {} announced, capacity {}\n", list.file,
                                   list.count(SeriesRow::announced), room.all_cores);
    for (std::size_t i = 0; i < list.counts.size(); ++i) {
        text += fmt::format("series {:<10} {} announced, capacity {}\n", config.cores[i].name,
                            list.counts[i], room.each_core);
    }
    for (const SeriesRow row :
         {SeriesRow::repeated, SeriesRow::elsewhere, SeriesRow::test, SeriesRow::malformed}) {
        if (list.count(row) != 0) {
            text += fmt::format("series left out: {} rows, {}\n", list.count(row),
                                row_of(row).sentence);
        }
    }
    for (const Problem& problem : list.malformed) {
        text += fmt::format("{}: {}\n", problem.place.text(), problem.text);
    }
    if (const std::uint64_t more = list.count(SeriesRow::malformed) - list.malformed.size();
        more != 0) {
        text += fmt::format("{}: {} more such rows\n", list.file, more);
    }
    return text;
}

}  // namespace pinstrike::actors
