// path: cold
//
// `pinstrike record`: lists, describes, verifies and keeps recordings. Its commands `cut` and
// `export` have files of their own.
#include "actors/command/command.h"
#include "actors/command/progress.h"
#include "actors/command/record_text.h"
#include "actors/snapshot/snapshot_reader.h"
#include "actors/topology/feed_config.h"
#include "feed/recording/segment_file.h"
#include "feed/recording/state_file.h"
#include "feed/venue_services.h"
#include "nic/capture/capture_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace pinstrike::command {

void add_export(CLI::App& record, Outcome& outcome);
void add_record_cut(CLI::App& record, Outcome& outcome);
void add_record_state(CLI::App& record, Outcome& outcome);

namespace {

struct RecordOptions {
    std::string folder;
    std::vector<std::string> segments;
    std::string kind = actors::FeedConfig{}.kind;
    bool json = false;
    bool repair = false;
};

/// The numbers of the lines' packets in a chunk.
void add_numbers(RecordingFindings& findings, std::span<const std::byte> chunk,
                 const std::vector<feed::RecordedInterface>& interfaces,
                 feed::NumbersOf numbers_of) {
    feed::ChunkPackets packets{chunk};
    while (const auto packet = packets.next()) {
        if (packet->interface >= interfaces.size() || interfaces[packet->interface].line == 0) {
            continue;
        }
        const auto payload = feed::payload_of(packet->frame);
        if (const auto numbers = payload ? numbers_of(*payload) : std::nullopt) {
            const feed::RecordedInterface& interface = interfaces[packet->interface];
            LineNumbers& of_line = findings.lines[interface.line].numbers;
            interface.repaired ? of_line.add_repaired(*numbers)
                               : of_line.add(*numbers, interface.stream);
        }
    }
}

class Reader {
  public:
    explicit Reader(const RecordOptions& options)
        : numbers_of_(feed::venue_services(options.kind).numbers_of) {}

    /// Call before for each file that will be read, so that the progress is known.
    void expect(const std::string& path) {
        std::error_code gone;
        const std::uintmax_t bytes = std::filesystem::file_size(path, gone);
        all_bytes_ += gone ? 0 : static_cast<double>(bytes);
    }

    /// Reads the indexes, and segments only where the index is lost or wrong.
    void look(const std::string& path) {
        if (auto file = open(path)) {
            SegmentFindings segment = described(*file);
            if (const auto index = file->index()) {
                for (std::size_t i = 0; i < index->chunks.size(); ++i) {
                    const auto hole = feed::hole_before(index->chunks, i, index->first_chunk_at);
                    segment.damaged_bytes += hole ? hole->bytes : 0;
                }
                if (segment.damaged_bytes != 0 && segment.state == "whole") {
                    segment.state = "damaged";
                }
                findings.add(std::move(segment), *index, file->head().interfaces);
                return;
            }
            if (segment.state == "whole") {
                segment.state = "index lost or wrong";
            }
            scan(std::move(*file), std::move(segment), false);
        }
    }

    /// Reads all packets.
    void verify(const std::string& path) {
        auto file = open(path);
        if (!file) {
            return;
        }
        SegmentFindings segment = described(*file);
        const auto index = file->index();
        if (segment.state == "whole" && !index) {
            segment.state = "index lost or wrong";
        }
        const feed::SegmentScan found = scan(std::move(*file), std::move(segment), true);
        SegmentFindings& result = findings.segments.back();
        if (index && index->chunks != found.index().chunks) {
            result.state = "index wrong";
        }
        result.state = result.damaged_bytes != 0 ? "damaged" : result.state;
        good = good && (result.state == "whole" || result.state == "open");
        for (const feed::DamagedBytes& damage : found.damaged()) {
            progress_.clear();
            complain("{}: {} bytes from byte {} on are damaged", path, damage.bytes, damage.offset);
        }
    }

    /// Reads a snapshot: all of it, or only the heads of its chunks.
    void look_at_snapshot(const std::string& path, bool all) {
        Problems problems;
        SnapshotFindings snapshot;
        snapshot.path = path;
        auto file = feed::StateFile::open(path, problems);
        std::string damage;
        if (file) {
            snapshot.begin_ns = file->head().begin_ns;
            snapshot.trade_date = file->head().trade_date;
            snapshot.bytes = file->bytes();
            damage = all ? read_records(std::move(*file), snapshot.records)
                         : read_heads(std::move(*file), snapshot.records);
            read_bytes_ += static_cast<double>(snapshot.bytes);
        }
        progress_.clear();
        print_problems(problems);
        if (!damage.empty()) {
            complain("{}", damage);
        }
        if (!file || !damage.empty()) {
            snapshot.state = "damaged";
            good = false;
        }
        findings.snapshots.push_back(std::move(snapshot));
    }

    void clear_progress() { progress_.clear(); }

    RecordingFindings findings;
    bool good = true;

  private:
    // Both return the damage of the file.

    static std::string read_heads(feed::StateFile file, std::uint64_t& records) {
        while (file.next()) {
        }
        records = file.records();
        return file.damage();
    }

    static std::string read_records(feed::StateFile file, std::uint64_t& records) {
        actors::SnapshotReader reader{std::move(file)};
        while (!reader.next().empty()) {
        }
        records = reader.file().records();
        return reader.damage();
    }

    std::optional<feed::SegmentFile> open(const std::string& path) {
        Problems problems;
        auto file = feed::SegmentFile::open(path, problems);
        if (!file && !nic::is_gone_or_begun(path)) {
            progress_.clear();
            print_problems(problems);
            good = false;
        }
        return file;
    }

    static SegmentFindings described(const feed::SegmentFile& file) {
        SegmentFindings segment;
        segment.path = file.path();
        segment.poller = feed::poller_of(file.path());
        segment.bytes = file.file_bytes();
        segment.uncompressed_bytes = file.bytes();
        segment.state = file.is_being_written() ? "open" : "whole";
        return segment;
    }

    feed::SegmentScan scan(feed::SegmentFile file, SegmentFindings segment, bool numbers) {
        feed::SegmentScan found{std::move(file), numbers_of_};
        const double before_bytes = read_bytes_;
        while (found.step()) {
            read_bytes_ = before_bytes + found.share_read() * static_cast<double>(segment.bytes);
            packets_ += found.chunk().empty() ? 0 : found.index().chunks.back().packets;
            progress_.step(packets_);
            if (numbers && numbers_of_ != nullptr) {
                add_numbers(findings, found.chunk(), found.file().head().interfaces, numbers_of_);
            }
        }
        for (const feed::DamagedBytes& damage : found.damaged()) {
            segment.damaged_bytes += damage.bytes;
        }
        findings.add(std::move(segment), found.index(), found.file().head().interfaces);
        return found;
    }

    feed::NumbersOf numbers_of_;
    double all_bytes_ = 0;   ///< of the expected files
    double read_bytes_ = 0;  ///< of them
    std::uint64_t packets_ = 0;
    Progress progress_{"packets",
                       [this] { return all_bytes_ == 0 ? 0 : read_bytes_ / all_bytes_; }};
};

/// Makes the indexes that are lost or wrong. False: one could not be made.
bool repair(const std::vector<std::string>& segments, feed::NumbersOf numbers_of) {
    Problems problems;
    for (const std::string& path : segments) {
        if (const std::string text = feed::remove_headless(path); !text.empty()) {
            complain("{}", text);
            continue;
        }
        const std::size_t problems_before = problems.size();
        auto file = feed::SegmentFile::open(path, problems);
        if (!file && nic::is_gone_or_begun(path)) {
            problems.resize(problems_before);
        }
        if (!file || file->is_being_written()) {
            continue;
        }
        const auto index = file->index();
        feed::SegmentScan scan{std::move(*file), numbers_of};
        while (scan.step()) {
        }
        if (!index || index->chunks != scan.index().chunks) {
            if (const std::string text = scan.repair(problems); !text.empty()) {
                complain("{}", text);
            }
        }
    }
    print_problems(problems);
    return problems.empty();
}

/// Marks segments as kept, or takes the marks away.
Exit mark(const std::vector<std::string>& segments, bool kept) {
    Exit status = Exit::ok;
    for (const std::string& path : segments) {
        Problems problems;
        const bool known = feed::SegmentFile::open(path, problems).has_value();
        print_problems(problems);
        if (known && !feed::mark_kept(path, kept)) {
            complain("{}: cannot be marked: {}", path, std::strerror(errno));
        }
        status = known && feed::is_kept(path) == kept ? status : Exit::failed;
    }
    return status;
}

enum class Look : std::uint8_t { list, info, verify };

Exit record(const RecordOptions& options, Look look) {
    Problems problems;
    std::vector<std::string> segments = feed::segments_in(options.folder, problems);
    end_unless(problems.empty(), problems);
    Reader reader{options};
    reader.good =
        !options.repair || repair(segments, feed::venue_services(options.kind).numbers_of);
    if (options.repair) {
        segments = feed::segments_in(options.folder, problems);  // repair removes empty ones
    }
    for (const std::string& path : feed::foreign_captures_in(options.folder)) {
        complain("{}: {}", path, feed::foreign_capture);
    }
    const std::vector<feed::FoundState> states = feed::states_in(options.folder, problems);
    const bool numbers = look == Look::verify;
    if (numbers) {
        std::ranges::for_each(segments, [&](const auto& path) { reader.expect(path); });
        std::ranges::for_each(states, [&](const auto& state) { reader.expect(state.path); });
    }
    for (const std::string& path : segments) {
        numbers ? reader.verify(path) : reader.look(path);
    }
    for (const feed::FoundState& found : states) {
        reader.look_at_snapshot(found.path, numbers);
    }
    reader.clear_progress();
    std::string text;
    if (options.json) {
        text = findings_json(reader.findings, numbers);
    } else {
        text = look == Look::info ? "" : segments_text(reader.findings);
        text += look == Look::list ? "" : sums_text(reader.findings, numbers);
    }
    const bool written = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
    return written && reader.good ? Exit::ok : Exit::failed;
}

}  // namespace

void add_record(CLI::App& app, Outcome& outcome) {
    auto options = std::make_shared<RecordOptions>();
    CLI::App* command =
        app.add_subcommand("record", "List, describe, verify and export recordings");
    command->require_subcommand(1);
    command->footer(
        "A recording is the folder that the config section `record` names. Its segments are\n"
        "pcapng files, which Wireshark reads, compressed by zstd if the config wants it. Its\n"
        "snapshots have the state of all series; `replay --from` begins with one.\n"
        "Exit status: 0 success; 1 a file cannot be read, or verify found damage.\n\n"
        "Examples:\n"
        "  pinstrike record ls /var/lib/pinstrike/opra/record\n"
        "  pinstrike record info /var/lib/pinstrike/opra/record --json\n"
        "  pinstrike record verify /var/lib/pinstrike/opra/record --repair");
    const auto add = [&](const char* name, const char* sentence, Look look) {
        CLI::App* sub = command->add_subcommand(name, sentence);
        sub->add_option("FOLDER", options->folder, "The folder of the recording")->required();
        sub->add_flag("--json", options->json, "Print JSON");
        sub->callback([options, look, &outcome] { outcome.status = record(*options, look); });
        return sub;
    };
    add("ls", "List the segments and snapshots", Look::list);
    add("info", "Sums, and the packets of each line", Look::info);
    add("verify",
        "Read all packets and snapshots: checksums, indexes, and the numbers of each line",
        Look::verify)
        ->add_flag("--repair", options->repair,
                   "Make indexes again that are lost or wrong, and cut unfinished segments");
    const auto add_mark = [&](const char* name, const char* sentence, bool kept) {
        CLI::App* sub = command->add_subcommand(name, sentence);
        sub->add_option("SEGMENT", options->segments, "Files of the recording")->required();
        sub->callback(
            [options, kept, &outcome] { outcome.status = mark(options->segments, kept); });
    };
    add_mark("keep", "Protect segments from removal (record.keep, keep_bytes, free)", true);
    add_mark("release", "Take this protection away", false);
    add_record_cut(*command, outcome);
    add_record_state(*command, outcome);
    add_export(*command, outcome);
}

}  // namespace pinstrike::command
