// path: cold
//
// `pinstrike record export`: captures as files of records. The records are those that a gateway
// sends.
#include "actors/command/command.h"
#include "actors/command/export_progress.h"
#include "actors/command/replay_config.h"
#include "actors/command/root_option.h"
#include "actors/control/control_loop.h"
#include "actors/control/end_while_opening.h"
#include "actors/export/csv_columns.h"
#include "actors/export/export_actor.h"
#include "actors/export/export_writer.h"
#include "config/output_file.h"
#include "config/print_problems.h"
#include "config/whole_file.h"
#include "feed/dbn/schema.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::command {
namespace {

struct Arguments {
    std::vector<std::string> files;
    std::string config;
    std::string schema;
    std::string format = "dbn";
    std::string out;
    std::vector<std::string> underlyings;
    std::string account;
    bool columns = false;
};

/// One poller and one core, so that the records have the order of the packets.
void make_threads(actors::FeedConfig& config) {
    actors::PollerConfig poller;
    poller.name = "poll0";
    poller.ports = {config.ports.front().name};
    poller.wait = actors::WaitStrategy::park;
    for (const feed::LineConfig& line : config.lines) {
        poller.lines.push_back(line.number);
    }
    actors::CoreConfig core;
    core.name = "core0";
    core.wait = actors::WaitStrategy::park;
    core.actors.clear();
    config.pollers = {std::move(poller)};
    config.cores = {std::move(core)};
    config.publish = {};
    config.metrics_address.clear();
}

/// What the run and the threads of an export share.
class Export {
  public:
    Export(const Arguments& given, feed::dbn::Schema schema)
        : out_(given.out),
          progress_(given.files),
          writer_(given.format == "csv" ? actors::csv_format(schema) : actors::dbn_format(schema),
                  actors::record_bytes(schema), given.out) {}

    [[nodiscard]] std::unique_ptr<actors::Actor> make_actor(
        feed::dbn::Schema schema, const std::vector<std::string>& underlyings) {
        return std::make_unique<actors::ExportActor>(schema, underlyings, writer_.blocks(),
                                                     [this] { writer_.start(); });
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
        return Exit::ok;
    }

  private:
    std::string out_;
    ExportProgress progress_;
    actors::ExportWriter writer_;
    bool is_whole_ = false;
};

Exit run_export(const Arguments& given) {
    Exit status = Exit::ok;
    auto config = replay_config({given.files, given.config, {}, false}, status);
    if (!config) {
        return status;
    }
    const feed::dbn::Schema schema = *feed::dbn::schema_of(given.schema);
    make_threads(*config);
    Export exported{given, schema};
    config->cores.front().make_own = [&] { return exported.make_actor(schema, given.underlyings); };
    actors::RunFeedOptions options;
    options.config_file = given.config;
    options.account_file = given.account;
    options.files_at_end = {given.out};
    options.at_step = [&exported] { return exported.step(); };
    options.at_stop = [&exported](const actors::RunEnd& end) { exported.stop(end); };
    options.at_end = [&exported](actors::Appliance&) { return exported.finish(); };
    return actors::run_feed(*config, options);
}

std::string_view word_of(actors::CsvValue value) {
    switch (value) {
        case actors::CsvValue::time:
            return "time";
        case actors::CsvValue::price:
            return "price";
        case actors::CsvValue::number:
            return "number";
        case actors::CsvValue::number_or_none:
            return "number_or_none";
        case actors::CsvValue::difference:
            return "difference";
        case actors::CsvValue::difference_or_none:
            return "difference_or_none";
        case actors::CsvValue::letter:
            return "letter";
        case actors::CsvValue::text:
            return "text";
    }
    return "";
}

/// Prints where the fields of the schema's records lie, as JSON.
Exit print_columns(feed::dbn::Schema schema) {
    nlohmann::ordered_json columns = nlohmann::ordered_json::array();
    for (const actors::CsvColumn& column : actors::csv_columns(schema)) {
        columns.push_back({{"name", column.name},
                           {"kind", word_of(column.value)},
                           {"offset", column.at},
                           {"bytes", column.bytes}});
    }
    const nlohmann::ordered_json out{{"bytes", actors::record_bytes(schema)},
                                     {"columns", std::move(columns)}};
    return write_text("-", out.dump() + "\n") ? Exit::ok : Exit::failed;
}

std::string schema_error(const std::string& text) {
    if (feed::dbn::schema_of(text)) {
        return "";
    }
    std::string names;
    for (const std::string_view name : feed::dbn::schema_names) {
        names += (names.empty() ? "" : ", ") + std::string{name};
    }
    return "found " + text + ", expected one of " + names;
}

}  // namespace

void add_export(CLI::App& record, Outcome& outcome) {
    auto given = std::make_shared<Arguments>();
    CLI::App* command = record.add_subcommand("export", "Captures as files of records: DBN or CSV");
    command->footer(
        "Replays the captures (`pinstrike replay --help`) and writes the records that a gateway\n"
        "sends to its clients: those of one schema, of all series. Values that are stale because\n"
        "messages were lost have the flag 4 (MAYBE_BAD_BOOK). DBN is read by the published\n"
        "programs for it, such as databento.DBNStore.from_file(); the metadata has all symbols.\n"
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
    command
        ->add_option("--underlyings", given->underlyings,
                     "Only series of these underlyings, by OPRA's root (default: all)")
        ->delimiter(',')
        ->check(root_error);
    command->add_option("--config", given->config,
                        "Lines, arbitration and series map of this config; of its ports, "
                        "udp_checksum and sources");
    command->add_option("--account", given->account,
                        "Write the account as JSON at the end (-: standard output)");
    command->callback([given, &outcome] {
        if (given->out.empty() && !given->columns) {
            throw CLI::RequiredError("--out");
        }
        outcome.status = given->columns ? print_columns(*feed::dbn::schema_of(given->schema))
                                        : run_export(*given);
    });
}

}  // namespace pinstrike::command
