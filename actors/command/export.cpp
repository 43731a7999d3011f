// path: cold
//
// `pinstrike record export`: captures as files of records. The records are those that a gateway
// sends.
#include "actors/book/book_config.h"
#include "actors/command/command.h"
#include "actors/command/progress.h"
#include "actors/command/range_options.h"
#include "actors/command/replay_config.h"
#include "actors/command/replay_range.h"
#include "actors/control/control_loop.h"
#include "actors/control/end_while_opening.h"
#include "actors/export/csv_columns.h"
#include "actors/export/export_actor.h"
#include "actors/export/export_writer.h"
#include "config/joined.h"
#include "config/output_file.h"
#include "config/whole_file.h"
#include "feed/dbn/schema.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::command {
namespace {

struct ExportArguments {
    std::vector<std::string> files;
    std::string config;
    std::string schema;
    std::string format = "dbn";
    std::string out;
    std::vector<std::string> underlyings;
    std::string account;
    RangeOptions range;
    bool columns = false;
};

/// The state before a range, so that its first records are those of an export of all: of the
/// interval that is open at its beginning, and of the second before, because a best that a flush
/// removed is reported within a second. Clocks of exchanges may be ahead of the receive times.
constexpr std::int64_t before_range_ns = 2'000'000'000;

/// A snapshot has neither the time of a last trade nor series of which messages stated nothing.
bool takes_snapshot(feed::dbn::Schema schema) {
    using feed::dbn::Schema;
    return schema != Schema::cbbo_1s && schema != Schema::cbbo_1m && schema != Schema::definition;
}

RangeNeeds needs_of(feed::dbn::Schema schema) {
    RangeNeeds needs;
    needs.before_ns = before_range_ns;
    needs.takes_snapshot = takes_snapshot(schema);
    needs.needs_state = true;
    if (needs.takes_snapshot && feed::dbn::interval_ns_of(schema) != 0) {
        // A bar has the time of its start, and its trades come until some time behind its end.
        needs.behind_ns = feed::dbn::interval_ns_of(schema) + actors::bar_grace_ns;
    }
    return needs;
}

/// The times of the records that are wanted; nullopt: of all.
std::optional<actors::RecordTimes> times_of(const ReplayRange& range) {
    if (!range.from_ns && !range.to_ns) {
        return std::nullopt;
    }
    actors::RecordTimes times;
    if (range.from_ns) {
        times.from_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(*range.from_ns, 0));
    }
    if (range.to_ns) {
        times.to_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(*range.to_ns, 0));
    }
    return times;
}

/// What the run and the threads of an export share.
class Export {
  public:
    Export(const ExportArguments& given, feed::dbn::Schema schema, ShareRead share)
        : out_(given.out),
          progress_("records", std::move(share)),
          writer_(given.format == "csv" ? actors::csv_format(schema) : actors::dbn_format(schema),
                  actors::record_bytes(schema), given.out) {}

    [[nodiscard]] std::unique_ptr<actors::Actor> make_actor(const actors::ExportWanted& wanted) {
        auto actor = std::make_unique<actors::ExportActor>(wanted, writer_.blocks(),
                                                           [this] { writer_.start(); });
        actor_ = actor.get();
        return actor;
    }

    /// Empty: goes on.
    std::string step() {
        progress_.step(writer_.records());
        return writer_.failed() ? "the output failed" : "";
    }

    void stop(const actors::RunEnd& end) {
        progress_.clear();
        is_whole_ = end.kind == actors::RunEnd::Kind::input;
        if (!is_whole_) {
            writer_.cancel();
        }
    }

    /// The actor still exists.
    Exit finish() {
        std::optional<actors::EndWhileOpening> writing;
        if (out_ == "-" || is_written_directly(out_)) {
            writing.emplace("writing " + out_);  // its reader may stop reading
        }
        const bool is_written = writer_.finish();
        if (!writer_.error().empty() && (is_whole_ || writer_.failed())) {
            complain("{}", writer_.error());
        }
        if (!is_written) {
            return Exit::failed;
        }
        complain("{} records written", writer_.records());
        if (const std::uint64_t refused = actor_->refused(); refused != 0) {
            complain("{} messages made no record: {}", refused, actors::MarketActor::refused_text);
            return Exit::failed;
        }
        return Exit::ok;
    }

  private:
    std::string out_;
    Progress progress_;
    actors::ExportWriter writer_;
    const actors::ExportActor* actor_ = nullptr;
    bool is_whole_ = false;
};

/// What an export of this range makes of the replay.
actors::ExportWanted wanted_of(const ExportArguments& given, const ReplayRange& range,
                               const actors::FeedConfig& config) {
    actors::ExportWanted wanted;
    wanted.schema = *feed::dbn::schema_of(given.schema);
    wanted.underlyings = given.underlyings;
    wanted.times = times_of(range);
    if (range.from) {
        wanted.beginning = {config.actors.get<actors::BookConfig>(), range.from->from_ns};
    }
    return wanted;
}

Exit run_export(const ExportArguments& given) {
    const feed::dbn::Schema schema = *feed::dbn::schema_of(given.schema);
    const ReplaySource source{given.files,
                              given.config,
                              {},
                              false,
                              replay_range(given.files, given.range, needs_of(schema))};
    actors::FeedConfig config = replay_config(source);
    Export exported{given, schema, share_of(source)};
    const actors::ExportWanted wanted = wanted_of(given, source.range, config);
    make_single_core(
        config, [&] { return exported.make_actor(wanted); }, wanted.beginning.has_value());
    actors::RunFeedOptions options;
    options.config_file = given.config;
    options.account_file = given.account;
    options.files_at_end = {given.out};
    options.at_step = [&exported](actors::Appliance&) { return exported.step(); };
    options.at_stop = [&exported](const actors::RunEnd& end) { exported.stop(end); };
    options.at_end = [&exported](actors::Appliance& appliance) {
        const Exit of_snapshot = finish_snapshot(appliance.recovery().loader);
        const Exit of_output = exported.finish();
        return of_output == Exit::ok ? of_snapshot : of_output;
    };
    return actors::run_feed(config, options);
}

/// The names of actors::CsvValue, in its order.
constexpr std::array<std::string_view, 8> value_words{
    "time",   "price", "number", "number_or_none", "difference", "difference_or_none",
    "letter", "text"};
static_assert(static_cast<std::size_t>(actors::CsvValue::text) + 1 == value_words.size());

/// Prints where the fields of the schema's records lie, as JSON.
Exit print_columns(feed::dbn::Schema schema) {
    nlohmann::ordered_json columns = nlohmann::ordered_json::array();
    for (const actors::CsvColumn& column : actors::csv_columns(schema)) {
        columns.push_back({{"name", column.name},
                           {"kind", value_words[static_cast<std::size_t>(column.value)]},
                           {"offset", column.at},
                           {"bytes", column.bytes}});
    }
    const nlohmann::ordered_json out{{"bytes", actors::record_bytes(schema)},
                                     {"columns", std::move(columns)}};
    return write_text("-", out.dump() + "\n") ? Exit::ok : Exit::failed;
}

Exit export_records(const ExportArguments& given) {
    if (given.columns) {
        return print_columns(*feed::dbn::schema_of(given.schema));
    }
    if (given.out.empty()) {
        throw CLI::RequiredError("--out");
    }
    return run_export(given);
}

std::string schema_error(const std::string& text) {
    if (feed::dbn::schema_of(text)) {
        return "";
    }
    const std::vector<std::string> names{feed::dbn::schema_names.begin(),
                                         feed::dbn::schema_names.end()};
    return "found " + text + ", expected one of " + joined(names);
}

}  // namespace

void add_export(CLI::App& record, Outcome& outcome) {
    const auto [command, given] = add_command(
        record, outcome, "export", "Captures as files of records: DBN or CSV", export_records);
    command->footer(
        "Replays the captures (`pinstrike replay --help`) and writes the records that a gateway\n"
        "sends to its clients: those of one schema, of all series. Values that are stale because\n"
        "messages were lost have the flag 4 (MAYBE_BAD_BOOK). DBN is read by the published\n"
        "programs for it, such as databento.DBNStore.from_file(); the metadata has all symbols.\n"
        "A part of a recording (--from, --to, --lines) has the records of these times, with the\n"
        "values that an export of all has: the replay begins with the last snapshot before, or,\n"
        "for cbbo and definition and without a snapshot, with the recording. Times are those by\n"
        "which records are ordered: of ohlcv the start of the interval, else ts_recv.\n"
        "CSV has a heading, exact decimals, times in UTC with nanoseconds, and nothing where a\n"
        "value is unknown. A file appears under its name when it is complete. With --out - DBN\n"
        "waits in a file of the folder for temporary files (TMPDIR), because its beginning names\n"
        "all series.\n"
        "Exit status: 0 success; 1 the output failed or was interrupted, and is not there; or it\n"
        "is there, but the captures did not all reach their lines; 2 wrong use; 78 wrong "
        "config.\n\n"
        "Examples:\n"
        "  pinstrike record export day.pcap --schema cmbp-1 --out day.cmbp-1.dbn.zst\n"
        "  pinstrike record export day.pcap --schema trades --format csv --out trades.csv\n"
        "  pinstrike record export recording --schema cmbp-1 --from 14:00 --to 14:05 --out 14.dbn\n"
        "  pinstrike record export captures --schema ohlcv-1m --underlyings SPY,SPXW --out "
        "bars.dbn");
    command
        ->add_option("FILE", given->files,
                     "Captures, as of `pinstrike replay`; a folder stands for all captures in it")
        ->required();
    command
        ->add_option("--schema", given->schema,
                     "cmbp-1, cbbo-1s, cbbo-1m, tcbbo, trades, mbp-1, tbbo, ohlcv-1s, ohlcv-1m, "
                     "ohlcv-1h, definition or statistics")
        ->required()
        ->check(schema_error);
    command->add_option("--format", given->format, "dbn or csv")
        ->capture_default_str()
        ->check([](const std::string& text) {
            return text == "dbn" || text == "csv" ? std::string{}
                                                  : "found " + text + ", expected dbn or csv";
        });
    CLI::Option* out = command->add_option(
        "--out", given->out,
        "The file to write (-: standard output); compressed if it ends in .zst");
    command
        ->add_flag("--columns", given->columns,
                   "Print only where each field lies in a record of DBN, and what it is, as JSON")
        ->excludes(out);
    add_underlyings(*command, given->underlyings,
                    "Only series of these underlyings, by root (default: all)");
    add_range(*command, given->range);
    command->add_option("--config", given->config,
                        "Lines, arbitration and series map of this config; of its ports, "
                        "udp_checksum and sources");
    command->add_option("--account", given->account,
                        "Write the account as JSON at the end (-: standard output)");
}

}  // namespace pinstrike::command
