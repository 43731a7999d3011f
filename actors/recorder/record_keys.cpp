// path: cold
#include "actors/recorder/record_keys.h"

#include "config/time_units.h"

#include <utility>

namespace pinstrike::actors {

namespace {

Section<RecordConfig> record_section() {
    constexpr std::uint64_t mebi = 1 << 20;
    constexpr std::int64_t day_ns = 24 * 3600 * second_ns;
    Section<RecordConfig> section{"record"};
    section
        .key("folder", &RecordConfig::folder, or_word<std::string>("default", "", text()),
             "Where the segments are written; default: /var/lib/pinstrike/NAME/record, with the "
             "feed's name. Another folder must be among the unit's ReadWritePaths. The program "
             "makes the folder.")
        .key("streams", &RecordConfig::streams,
             choice<RecordedStreams>({{"both", RecordedStreams::both, "all packets, as they came"},
                                      {"first", RecordedStreams::first,
                                       "not those whose payload the other stream brought before"}}),
             "Which copies of a packet are recorded. With first, a replay gives the same messages, "
             "but not the counts of each stream.")
        .key("lines", &RecordConfig::lines,
             or_word("all", std::vector<std::uint16_t>{}, number_ranges(0)),
             "Only packets of these lines are recorded; 0 stands for packets that match no line. "
             "The others are counted as filtered.")
        .key("on_demand", &RecordConfig::on_demand, boolean(),
             "Nothing is recorded until `pinstrike ctl INSTANCE record start`. The memory is "
             "claimed at the start all the same.")
        .key("segment", &RecordConfig::segment_bytes,
             converted<std::size_t>(bytes64(4 * mebi, 1ULL << 40)),
             "Size of a segment, the file that each poller writes at a time. Its space is reserved "
             "when it is begun.")
        .key("memory", &RecordConfig::memory_bytes,
             converted<std::size_t>(bytes64(4 * mebi, 1ULL << 30)),
             "Memory of each poller for packets that wait for the disk. Packets that find it full "
             "are not recorded, and counted.")
        .key("keep", &RecordConfig::keep_ns,
             or_word<std::int64_t>("any", 0, duration_ns(60 * second_ns, 3650 * day_ns)),
             "How long segments are kept. Older ones are removed, the oldest first, except those "
             "that `pinstrike record keep` marked.")
        .key("keep_bytes", &RecordConfig::keep_bytes,
             or_word<std::uint64_t>("any", 0, bytes64(8 * mebi, 1ULL << 50)),
             "How many bytes of segments and snapshots are kept; then the oldest are removed.")
        .key("free", &RecordConfig::free_bytes, bytes64(0, 1ULL << 50),
             "The oldest segments are removed while the disk has less free space than this.")
        .key("compress", &RecordConfig::compress_level, or_word<int>("none", 0, integer(-7, 19)),
             "Level of zstd by which closed segments are compressed (-7 is the fastest; negative "
             "levels are read faster, too, and take more space; 0: none), one after the other, by "
             "a thread of idle priority.")
        .key("compress_percent", &RecordConfig::compress_cpu_percent, integer(1U, 100U),
             "Share of one processor that the compression may take.")
        .key("snapshot_interval", &RecordConfig::snapshot_interval_ns,
             or_word<std::int64_t>("none", 0, duration_ns(second_ns, day_ns)),
             "How often the state of all series is written beside the segments. A replay from a "
             "moment begins with the last snapshot before it.")
        .key("recover", &RecordConfig::recover, boolean(),
             "At the start, take the state of all series from the recording: the last snapshot of "
             "the trade date, and the packets since. Another process reads them, and needs memory "
             "for a second book meanwhile. Needs snapshots.");
    return section;
}

}  // namespace

Form<RecordConfig> record_form() {
    Form<RecordConfig> form = section_form(record_section());
    form.read = [read = form.read](const Node& node, const std::string& path, RecordConfig& into,
                                   Reader& reader) {
        into.on = true;
        return read(node, path, into, reader);
    };
    return or_word("none", RecordConfig{}, std::move(form));
}

}  // namespace pinstrike::actors
