"""The bugs that mutants.py plants: the original code, the code with the bug, and the suites that must find it.

The original code occurs exactly once in the program (config, nic, feed, actors); white space does not matter.
tests/tidy/tidy.py checks this. A bug does not name its file, so code may move.
"""

from typing import NamedTuple


class Bug(NamedTuple):
    name: str
    right: str
    wrong: str
    suites: tuple


PLANTED = []


def plant(suites, bugs):
    """`suites`: meson's tests, one of which must find each of these bugs: (name, right, wrong)."""
    PLANTED.extend(Bug(name, right, wrong, suites) for name, right, wrong in bugs)


plant(("config",), [
    ("a line number may be 65536", "*last < *first || *last > range_number_max",
     "*last < *first || *last > range_number_max + 1"),
    ("a large duration overflows", "*whole <= std::numeric_limits<std::int64_t>::max() / unit->factor",
     "*whole <= std::numeric_limits<std::int64_t>::max()"),
    ("two letters in the wrong order are two mistakes",
     "from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]", "from[i - 1] == to[j - 2] && j == 0"),
    ("an integer may be one less than the least",
     "return value && *value >= least && *value <= most ? value", "return value && *value >= least - 1 && "
     "*value <= most ? value"),
    ("a size need not be a power of two", "size <= most && (size & (size - 1)) == 0", "size <= most"),
    ("DPDK ports may differ in hugepages", "if (hugepages && *hugepages != own.hugepages) {", "if (false) {"),
    ("captures may differ in pace", "if (pace_of(port).factor != pace_of(*first).factor) {", "if (false) {"),
    ("two threads may share a processor", "claim(rules.config.cores[i].cpu,", "claim(-1,"),
    ("captures may stand beside live ports", "if (captures && others) {", "if (false) {"),
    ("a full ring may hold up a live port", "live != ports.end() && rules.config.when_full == WhenFull::wait",
     "live != ports.end() && live == ports.end()"),
])

plant(("nic",), [
    ("the last fragment passes", "more_fragments_and_offset = 0x3FFF;", "more_fragments_and_offset = 0x2000;"),
    ("a datagram may be longer than its packet", "udp_bytes < udp_header_bytes || udp_bytes > udp.size()",
     "udp_bytes < udp_header_bytes"),
    ("an odd datagram's checksum is another", "halves += ((last & 0xFFFFFFFF) + (last >> 32)) << (length % 2 * 8);",
     "halves += (last & 0xFFFFFFFF) + (last >> 32);"),
    ("a UDP checksum of zero is wrong", "sent_without_checksum = load_be16(udp.data() + 6) == 0;",
     "sent_without_checksum = false;"),
    ("five VLAN tags pass", "if (tags == vlan_tags_max) {", "if (tags > vlan_tags_max) {"),
    ("an IGMPv3 response time is half", "<< (exponent + 3)) * tenth_ns", "<< (exponent + 2)) * tenth_ns"),
    ("an older querier is forgotten early", "older_querier_ns = (robustness * 125 + 10) * second_ns",
     "older_querier_ns = (125 + 10) * second_ns"),
    ("a step sends twice as many reports", "frames_per_step_max - reports, sender", "frames_per_step_max, sender"),
    ("an IGMPv2 host leaves in silence", "} else if (spoken == 2) { for (const Ipv4 group : groups_) {",
     "} else if (spoken == 4) { for (const Ipv4 group : groups_) {"),
    ("the clock is bent at any rate",
     "std::clamp(static_cast<double>(difference_ns) / period_ns, -slew_max, slew_max)",
     "static_cast<double>(difference_ns) / period_ns"),
    ("ticks that went back are no step", "sample.ticks <= last_.ticks || std::abs(difference_ns) > step_ns",
     "std::abs(difference_ns) > step_ns"),
])

plant(("nic",), [  # planned for DPDK's ports
    ("packets that are kept have no buffers", "(port.config.keeps_packets ? kept_packets_max : 0)", "0"),
    ("an AF_XDP socket has one ring", "descriptors * (two_rings ? 2 : 1)", "descriptors"),
    ("hugepages of another node are free here", "bytes += counts ? size.page_bytes * size.*count : 0;",
     "bytes += size.page_bytes * size.*count;"),
])

plant(("confine",), [
    ("mprotect may make memory executable", 'SystemCall{"mprotect", 2, PROT_EXEC, 0}', 'SystemCall{"mprotect"}'),
    ("mmap may make memory executable", 'SystemCall{"mmap", 2, PROT_EXEC, 0}', 'SystemCall{"mmap"}'),
    ("any signal may be handled anew", 'SystemCall{"rt_sigaction", 0, whole_word, SIGABRT}',
     'SystemCall{"rt_sigaction"}'),
    ("any signal may be sent", 'SystemCall{"tgkill", 2, whole_word, SIGABRT}', 'SystemCall{"tgkill"}'),
    ("any descriptor may be written to", 'SystemCall{"write", 0, whole_word, STDERR_FILENO}', 'SystemCall{"write"}'),
    ("any ioctl may be called", 'ask_link{"ioctl", 1, SystemCall::whole_word, SIOCGIFFLAGS}', 'ask_link{"ioctl"}'),
    ("sockets of any family may be made", '{"socket", 0, SystemCall::whole_word, AF_INET}', '{"socket"}'),
    ("a process with a secret is dumped", "::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);", ""),
    ("captures may be written to", '{"openat", 2, O_ACCMODE, O_RDONLY}', '{"openat"}'),
    ("programs may gain rights", "::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);", ""),
    ("the bounding set stays", "::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);", ""),
    ("other threads keep their rights", "on_every_other_thread(drop_all_rights)", "std::vector<std::string>{}"),
])

plant(("arbiter", "arbiter property"), [
    ("an end of day hides the gap in front of earlier messages", "std::min(newest_ts_ns_, ts_behind_ns)",
     "std::max(newest_ts_ns_, ts_behind_ns)"),
    ("an endless window overflows", "return arrival_ns > never_ns - window_ns_ ? never_ns : arrival_ns + window_ns_;",
     "return arrival_ns + window_ns_;"),
    ("a 1 after any number is a rollover", "reset.sequence == 1 && last > numbering.last + 1 - rollover_messages",
     "reset.sequence == 1"),
    ("gaps of the current epoch are dropped", "gone < most && ranges_[gone].end <= limit", "gone < most"),
    ("adjacent gaps take two places", "joins_behind = index < count_ && ranges_[index].begin == end;",
     "joins_behind = false;"),
    ("held blocks overwrite each other", "if (tail_ < bytes) { return false; }",
     "if (tail_ + sizeof(HeldBlock) < bytes) { return false; }"),
    ("after the last number comes 0", "return number == last ? 1 : number + 1;", "return number + 1;"),
    ("a message without a number is not counted",
     "line_.counters().bump(LineCount::unnumbered, block.decodable);", ""),
    ("a repair fills gaps of an old session", "if (!sequencer_.numbering().infers_resets) { return current_index();",
     "if (false) { return current_index();"),
    ("what is found is lost all the same", "lost.set(lost.read() - count);", ""),
    ("a hold that was cut short is counted twice", "counters_.bump(LineCount::holds_cut_short);",
     "counters_.bump(LineCount::holds_cut_short, 2);"),
])

plant(("uring",), [
    ("an interface that was made again is up before its groups are joined",
     "joined_at == index_of(state_->interface.name)", "joined_at != 0"),
])

plant(("ports",), [
    ("every queue of the simulator gets the first queue's groups", "opening.groups_by_queue[queue], opening.problems)",
     "opening.groups_by_queue[0], opening.problems)"),
])

plant(("bench",), [
    ("the last packets of a loop are not counted", "packets_ += packets; if (packets == chunk_packets) {",
     "if (packets == chunk_packets) { packets_ += packets;"),
])

plant(("arbiter",), [
    ("copies are looked for among 8 blocks", "std::size_t kept = 64;", "std::size_t kept = 8;"),
    ("copies are looked for among 65 blocks", "std::size_t kept = 64;", "std::size_t kept = 65;"),
    ("a copy with another time is not counted", "stamped.ts_exchange_ns != block.ts_exchange_ns ? 1 : 0", "0"),
])

plant(("arbiter", "arbiter property", "simulation, ten seeds"), [
    ("a late reset is counted twice",
     "line_.counters().bump(LineCount::resets); current.note_reported_late(ResetIdentity::of(block)); "
     "reset.sink.reset(block, forget, false); }",
     "line_.counters().bump(LineCount::resets, 2); current.note_reported_late(ResetIdentity::of(block)); "
     "reset.sink.reset(block, forget, false); }"),
    ("a late copy of a reset is not counted",
     "case ResetKind::late_copy: line_.counters().bump(LineCount::resets_repeated);",
     "case ResetKind::late_copy:"),
    ("a realigned stream is counted twice", "line_.counters().bump(LineCount::streams_realigned);",
     "line_.counters().bump(LineCount::streams_realigned, 2);"),
    ("a retransmitted control is not counted", "line_.counters().bump(LineCount::retransmitted_controls);", ""),
    ("a block numbered 0 is not counted", "line_.counters().bump(LineCount::invalid_sequence);", ""),
    ("a hold is counted twice", "line_.counters().bump(LineCount::holds);",
     "line_.counters().bump(LineCount::holds, 2);"),
    ("a gap is counted twice", "counters_.bump(LineCount::gaps);", "counters_.bump(LineCount::gaps, 2);"),
    ("late messages are counted twice", "line_.counters().bump(LineCount::late, count);",
     "line_.counters().bump(LineCount::late, 2 * count);"),
    ("a late message of a book is counted twice", "counters.bump(BookCount::late);",
     "counters.bump(BookCount::late, 2);"),
    ("a broadcast is not counted", "output.counters->bump(RingCount::broadcast); return;", "return;"),
    ("what cannot be decoded is no duplicate", "stream.counters.bump(StreamCount::rejected, end - position);",
     "stream.counters.bump(StreamCount::duplicate, end - position);"),
    ("an inferred reset is not counted", "line_.counters().bump(LineCount::resets_inferred);", ""),
])

plant(("simulation, ten seeds",), [
    ("a second copy of a reset counts as stale",
     "case ResetKind::second_copy: line_.counters().bump(LineCount::resets_repeated);",
     "case ResetKind::second_copy: line_.counters().bump(LineCount::resets_stale);"),
    ("an announced series counts as unannounced",
     "counters.bump(BookCount::series_unannounced, entry.announced() == 0 ? 1 : 0);",
     "counters.bump(BookCount::series_unannounced, 1);"),
    ("a forgotten series is counted twice", "counters.bump(BookCount::series_forgotten);",
     "counters.bump(BookCount::series_forgotten, 2);"),
    ("a hole is counted twice", "counters_.bump(RecoveryCount::holes);", "counters_.bump(RecoveryCount::holes, 2);"),
    ("the history counts bytes of records", "counters_.bump(HistoryCount::kept_bytes, block.bytes.size());",
     "counters_.bump(HistoryCount::kept_bytes, units);"),
    ("served blocks have no bytes", "counters_.counts.bump(ServerCount::served_bytes, block.bytes.size());", ""),
    ("a request for state is not counted", "counts_.bump(StateCount::requests);", ""),
])

plant(("history",), [
    ("blocks of an old session are found", "if (!numbering_.infers_resets && block.session != of.session) {",
     "if (false) {"),
    ("no block behind the wrap is found", "bucket = bucket == bucket_last ? 0 : bucket + 1;", "bucket = bucket + 1;"),
    ("a line's oldest block is forgotten", "lines_[record.line].oldest = record.younger_of_line;",
     "lines_[record.line].oldest = 0;"),
    ("old blocks are kept", "records_ != 0 && at(tail_).ts_arrival_ns < oldest_kept_ns",
     "records_ != 0 && at(tail_).ts_arrival_ns < 0"),
])

plant(("recovery", "recovery property"), [
    ("sources are asked without a pause", "config_.answer_within_ns << std::min(range.round, doublings_max)",
     "config_.answer_within_ns << 0"),
    ("a dropped repair is not counted", "counters_.bump(RecoveryCount::repairs_dropped);", ""),
    ("an incomplete answer counts as none", "request->second.at_deadline = Refusal::incomplete;", ""),
    ("more is asked for than a second allows", "refill_(std::max<std::int64_t>(per_second - burst_, 1))",
     "refill_(std::max<std::int64_t>(per_second, 1))"),
])

plant(("line watch",), [
    ("a state gets better by silence", "return found < state ? state : found;", "return found;"),
    ("silence off the air counts", "if (heard || !on_air || stream.since_ns == 0) {",
     "if (heard || stream.since_ns == 0) {"),
])

plant(("opra_codec", "opra_properties", "opra_codec_avx2", "opra_properties_avx2"), [
    ("the 32nd of a month", "return (month < 24) & (day < 31) & (year < 100);",
     "return (month < 24) & (day < 32) & (year < 100);"),
    ("the 32nd of a month in a run of quotes", "set(at, 'A', 'X'); set(at + 1, 1, 31);",
     "set(at, 'A', 'X'); set(at + 1, 1, 32);"),
    ("a denominator code J", "static_cast<std::uint8_t>(code) - 'A') <= 'I' - 'A';",
     "static_cast<std::uint8_t>(code) - 'A') <= 'J' - 'A';"),
    ("a stray control P forgets nothing", "type == 'P' ? Forget::quotes", "type == 'P' ? Forget::nothing"),
    ("a test symbol 13A", "(tens == '1' && ones >= '0' && ones <= '2')", "(tens == '1' && ones >= '0' && ones <= '3')"),
    ("the checksum covers itself", "byte_sum(block_bytes) - static_cast<std::uint32_t>(own)", "byte_sum(block_bytes)"),
])

plant(("opra_json",), [
    ("a byte 127 is not escaped", "byte >= 0x20 && byte < 0x7F", "byte >= 0x20 && byte <= 0x7F"),
    ("an expiration letter Y", "text[0] < 'A' || text[0] > 'X'", "text[0] < 'A' || text[0] > 'Y'"),
    ("a price below one has no zero", "if (text.size() <= decimals) {", "if (text.size() < decimals) {"),
])

plant(("opra_traffic",), [
    ("a cent more is not better", "return better >= cent_e4;", "return better > cent_e4;"),
    ("ten contracts more are not better", "return challenger.size >= std::uint64_t{holder.size} + size_step_contracts;",
     "return challenger.size > std::uint64_t{holder.size} + size_step_contracts;"),
])

plant(("actors",), [
    ("a codec does not know when a datagram came", "if constexpr (Codec::opens_by_arrival) {",
     "if constexpr (false) {"),
    ("a lost message without a number begins the range", "if (from == 0) { return;  // without a number }", ""),
    ("one record more than a ring holds", "return claimed_ + count <= sure_;", "return claimed_ + count <= sure_ + 1;"),
    ("a ring begins anew though it is not empty", "if (released_ != claimed_) { next_return_",
     "if (claimed_ == 0) { next_return_"),
    ("data fills a ring whole", "config.when_full == WhenFull::refuse ? capacity / spare_share : 0;", "0;"),
    ("data goes before a pending control", "output.closed = output.ring.capacity() + 1;", ""),
    ("a pending event behind a control is forgotten", "before_.add(after_); after_ = {};", "after_ = {};"),
    ("a pending event over the wrap", "return static_cast<std::int32_t>(a - b) < 0;", "return a < b;"),
    ("half a message is handed to an actor", "next = at + header.records; if (next > end) { break; }",
     "next = at + header.records;"),
    ("text is withheld from who wants symbols", "if (symbols.empty() || kind == feed::EventKind::text) {",
     "if (symbols.empty()) {"),
    ("a clock that is set back stops timers", "if (now_ns >= next_timer_ns_ || set_back) {",
     "if (now_ns >= next_timer_ns_) {"),
    ("a histogram's sum counts a value once", "sum_.add(value * times);", "sum_.add(value);"),
    ("a bucket ends one too early", "return (linear_count + bucket % linear_count + 1) << power;",
     "return (linear_count + bucket % linear_count) << power;"),
    ("a stream's lead over the wrap", "waiting_ = static_cast<std::int32_t>(block.sequence - sequence_) < 0;",
     "waiting_ = block.sequence < sequence_;"),
    ("one step is enough for the watchdog", "before_.assign(steps.begin(), steps.end());", ""),
    ("any sender is listened to", "if (!input.allows(datagram.source_ip)) [[unlikely]] {", "if (false) {"),
    ("a retransmission passes for a stream", "block.retransmitted = block.retransmitted || route.retransmission;", ""),
    ("a gap of tests is told", "if (!line_->day.original(ts_exchange_ns)) { return;",
     "if (false) { return;"),
    ("a wait goes on while packets wait unseen", "behind_ ? passed_ns : std::max", "false ? passed_ns : std::max"),
    ("packets go back while they are read", "begin_ != end_ && oldest().records <= records",
     "begin_ != end_ && oldest().records <= records + 1"),
    ("two threads may be placed on one processor",
     "if (const auto [other, fresh] = taken.emplace(cpu, name); !fresh) {",
     "if (const auto [other, fresh] = taken.emplace(cpu, name); !fresh && cpu < 0) {"),
    ("more memory than is free", "free_bytes != 0 && topology.memory_bytes() > free_bytes",
     "free_bytes != 0 && topology.memory_bytes() / 2 > free_bytes"),
])

plant(("weave", "parking litmus"), [
    ("the sleeper's fence is missing", "fence_seq_cst();  // K1, pairs with K2", ""),
    ("the waker's fence is missing", "fence_seq_cst();  // K2, pairs with K1", ""),
])

plant(("publish",), [
    ("events of a series come before its state",
     "series = core.reads_state ? meet(core, key, found.hash) : follow(core, found);",
     "series = follow(core, found);"),
    ("an event that a state includes comes again",
     "(series->stamp != 0 && !stamp_after(found.stamp, series->stamp))", "false"),
])

plant(("weave reader",), [
    ("records that were overwritten count",
     "if (load_relaxed(core_->shared->intent) - copied_from_ > capacity) { return false; }", ""),
    ("a position is read with the stamp of another one", "version.store(before + 1, std::memory_order_relaxed);", ""),
])

plant(("runtime weave", "runtime threads", "runtime"), [
    ("the bell's fence is missing", "fence_seq_cst();  // B1, pairs with B2", ""),
    ("a thread rings without a fence", "publish(); fence_seq_cst();  // B2 of bell.h ring_receiver();",
     "publish(); ring_receiver();"),
    ("an actor rings without a fence", "fence_seq_cst();  // B2 of bell.h, for all of them", ""),
    ("room is made without a fence", "fence_seq_cst();  // B2 of bell.h, for L6", ""),
    ("an actor is stopped without a fence", 'RING_HOOK("actor:stop_asked"); fence_seq_cst();  // B2 of bell.h',
     'RING_HOOK("actor:stop_asked");'),
    ("a mailbox closes without a fence", "fence_seq_cst();  // pairs with that in join()", ""),
    ("a sender joins without a fence",
     "fence_seq_cst();  // either close() sees the lane on the stack, or this thread sees closed_", ""),
    ("a new lane is no mail", "if (!new_lanes_.empty()) { return true; }", ""),
    ("a chunk is free too early", "chunk.filled_to == 0 || chunk.filled_to < released_",
     "chunk.filled_to == 0 || chunk.filled_to <= released_"),
    ("an actor that is to stop sleeps on", "if (stop_asked_.load(std::memory_order_relaxed)) { return true; }", ""),
])

plant(("account",), [
    ("lost messages need not be listed", "findings.expect_equal(counts[LineCount::lost], "
     "size + counts[LineCount::gaps_unlisted], what,",
     "findings.expect_equal(counts[LineCount::lost], counts[LineCount::lost], what,"),
])

plant(("view and metrics",), [
    ("a histogram's sum a thousand times too large",
     "metric.histogram.sample_sum = seconds_of(taken.sum_ns);",
     "metric.histogram.sample_sum = seconds_of(taken.sum_ns) * 1000;"),
])

plant(("appliance", "metrics"), [
    ("the time of a run goes on after its end", "(stopped_ns != 0 ? stopped_ns : monotonic_ns()) - started_ns",
     "(stopped_ns < 0 ? stopped_ns : monotonic_ns()) - started_ns"),
    ("the clock's error is a thousand times too large", "seconds_of(counters.clock_error_ns)",
     "seconds_of(counters.clock_error_ns * 1000)"),
    ("the age of the history a thousand times too large", "seconds_of(history.oldest_ts_ns)",
     "seconds_of(history.oldest_ts_ns) * 1000"),
])

plant(("view and metrics",), [
    ("a count with a fraction is taken", "return value.get_ref<const std::uint64_t&>();",
     "return value.get<std::uint64_t>();"),
    ("buckets are counted again", "taken.buckets.at(whole(bucket.at(0))) += count;",
     "taken.buckets.at(whole(bucket.at(0))) += taken.count + count;"),
])

plant(("weave board", "busiest board"), [
    ("a ranking that is being written is read",
     "if (before == after && before % 2 == 0) {", "if (before <= after && before % 2 == 0) {"),
])

plant(("admin",), [
    ("accept is tried again at once after an error", "now_ns < resume_ns_ ? 0 : accept_connections(now_ns)",
     "accept_connections(now_ns)"),
    ("what is too long for its column moves the next", "const std::string_view cut = text.substr(0, room);",
     "const std::string_view cut = text;"),
])

plant(("actors",), [
    ("recovery's time jumps with the clock", "time_ns_ + std::clamp<std::int64_t>(now_ns - seen_ns_, 0, most_ns);",
     "time_ns_ + now_ns - seen_ns_;"),
    ("a reset that comes behind the end of day is swallowed",
     ": !day.original(block.ts_exchange_ns)) {", ": !day.open()) {"),
    ("an order that was given up is taken for the next", "order_.number, static_cast<std::uint16_t>(port)};",
     "0, static_cast<std::uint16_t>(port)};"),
    ("a port is drawn on no node", "return each.first.second == ports[i].numa_node;",
     "return each.first.second == ports[i].numa_node && false;"),
])

plant(("service", "actors"), [
    ("a socket with an abstract name is not found", "if (address.starts_with('@')) {", "if (address.empty()) {"),
])

plant(("log",), [
    ("a storm is told every second", "interval_ns_ = std::min(2 * interval_ns_, longest_ns);",
     "interval_ns_ = shortest_ns;"),
    ("a quiet minute does not end a storm", "passed_ = 0; interval_ns_ = shortest_ns;", "passed_ = 0;"),
    ("a deleted character reaches the terminal", "byte < 0x20 || byte == 0x7F ? ' ' : character",
     "byte < 0x20 ? ' ' : character"),
])

plant(("book", "book against a model"), [
    ("a start of day told late is a place", "(!older_than_numbering(row, header) &&", "(true &&"),
    ("no best is a best of nothing", "mask.own[side * 4 + 3] = std::uint32_t{side_known} << mark_shift;",
     "mask.own[side * 4 + 3] = std::uint32_t{side_known | side_present} << mark_shift;"),
    ("a trade B sets the last price", "table['B'] = effect_range;", "table['B'] = effect_range | effect_last;"),
    ("a cancel takes more than there is",
     "volume < record_.volume ? volume : static_cast<std::uint32_t>(record_.volume);", "volume;"),
    ("earlier state is taken twice", "taken_before = covered_here | covered_elsewhere | has_earlier;",
     "taken_before = covered_here | covered_elsewhere;"),
    ("earlier quotes are fresh behind a gap", "(row.heard && !joins) || row.lacks_before_origin(covered);",
     "(row.heard && !joins);"),
    ("earlier quotes outlive a flush", "if (is(own, side_known) || since.flushed) {", "if (is(own, side_known)) {"),
    ("earlier state outlives a start of day", "if (line.day != 0) {", "if (false) {"),
    ("an earlier open yields to the first trade since", "return !decided && ((earlier.flags & has_open) != 0 ||",
     "return !decided && ((earlier.flags & own_flags) != 0 ||"),
    ("what was cancelled before the start counts", "std::min<std::uint64_t>(earlier.volume, own.excess_cancelled);",
     "0;"),
    ("an older trade sets the open again", "(missing && !older) || (taken_from_trade && older)",
     "missing || (taken_from_trade && older)"),
    ("a late flush takes what outlives it", "(stamp_after(line.late_flush, stamp) && !outlives_late)",
     "stamp_after(line.late_flush, stamp)"),
    ("a repair of yesterday's numbers counts for today's",
     "(header.flags & (feed::flag_before_day | feed::flag_before_flush)) == 0;", "header.records != 0;"),
    ("a gap makes nothing stale",
     "} else if (stamp_after(line.gap, stamp) && is(side, side_known)) {", "} else if (false) {"),
    ("a side is of its old line", "raise(side, side_elsewhere);", ""),
    ("announced series are never counted out", "announced_ -= left.announced() == 0 ? 1 : 0;", ""),
    ("a sweep passes by what an insertion moved",
     "return inside ? next_slot - next_slot % group_slots : next_slot;", "return inside ? next_slot : next_slot;"),
    ("a late side is fresh at once", "side = to; raise(side, side_late);", "side = to;"),
    ("a late message is older than that of the morning", "return stated - late >= 1U << 30;",
     "return static_cast<std::int32_t>(late - stated) > 0;"),
    ("a gap repaired in parts stays open", "line.missing -= std::min(line.missing, last - first + 1);", ""),
    ("a repair from before a flush counts",
     "return line.missing != 0 && !sequence_after(line.missing_first, first) && "
     "!sequence_after(last, line.missing_last);",
     "return line.missing != 0;"),
    ("the ranking shows what a flush removed", "entries_.clear_flushed_sides(entry); row =", "row ="),
])

plant(("peer state",), [
    ("a line that only this instance heard counts as joined",
     "exchange_.post_to_all(StateRecord::Kind::unplaced, line);", ""),
    ("one core gives after the other", "turn_ = (turn_ + 1) % cores_.size(); while (read(core, into)) {",
     "while (read(core, into)) {"),
    ("a series without a value is given",
     "(entry.quotes != 0 || says_anything(entries_.store.trades_at(entry)));", "true;"),
    ("answers of a transfer are given as state", "if (is_state(into.kind)) {", "if (true) {"),
    ("a peer fills the memory with places", "if (core.posted.size() >= posted_records_max) {",
     "if (core.posted.size() >= posted_records_max && record.kind == StateRecord::Kind::series) {"),
    ("the last round begins too late to end", "std::max(within_ns_ / 4, 3 * round_.lasted_ns)", "within_ns_ / 4"),
    ("a full book counts as whole", "finish(round_.wanted.empty() && !left_out, now_ns);",
     "finish(round_.wanted.empty(), now_ns);"),
    ("a series that was not requested costs a token", "return keep_alive(now_ns, limits_.state_keep_alive_ns);",
     "static_cast<void>(series_.spend(1, now_ns)); return keep_alive(now_ns, limits_.state_keep_alive_ns);"),
    ("a walk over other series stands still", "return keep_alive(now_ns, limits_.state_keep_alive_ns);", "return;"),
    ("an impossible series ends the session", "return state.has_value(); } state_heard_ns_ = received_ns_; if (",
     "return state.has_value(); } state_heard_ns_ = received_ns_; if (!is_possible(state->record)) return false; if ("),
    ("a peer with partial state gives places", "if (!places_.at(line).heard || places_.at(line).partial) {",
     "if (!places_.at(line).heard) {"),
])

plant(("appliance",), [
    ("a reload that a poller has yet to adopt is refused",
     "adopted_within(parts.pollers, within_ns) ? SettingsOutcome::adopted : SettingsOutcome::offered;",
     "adopted_within(parts.pollers, within_ns) ? SettingsOutcome::adopted : SettingsOutcome::refused;"),
])

plant(("peer protocol", "peer transport"), [
    ("a proof can be sent back",
     'role == Role::server ? "pinstrike peer 1 server" : "pinstrike peer 1 client"',
     'role == Role::server ? "pinstrike peer 1 client" : "pinstrike peer 1 client"'),
    ("a proof is of any channel", "append(said, handshake.channel);", ""),
    ("a proof is of any client's nonce", "append(said, handshake.client_nonce);", ""),
    ("half a proof will do", "CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0",
     "CRYPTO_memcmp(one.data(), other.data(), one.size() / 2) == 0"),
    ("an instance takes itself for a peer", "if (proof.instance == identity_.instance) {", "if (false) {"),
    ("a budget grows without end", "left_ = std::min(most_, left_ + elapsed_ns * per_second_);",
     "left_ = left_ + elapsed_ns * per_second_;"),
    ("a frame may be of any length", "*length < allowed->least || *length > allowed->most", "*length < allowed->least"),
    ("a request of number 0", "if (!request || request->id == 0) {", "if (!request) {"),
    ("a group may read the secret", "others_bits = 077;", "others_bits = 007;"),
])

plant(("doctor",), [
    ("half a hugepage is none", "(lacking + huge_page_bytes - 1) / huge_page_bytes", "lacking / huge_page_bytes"),
    ("hugepages of any node", "if (node != all_nodes && size.node != static_cast<unsigned>(node)) {", "if (false) {"),
])

plant(("admin",), [
    ("counts that were cleared are what they were", "return now - before->second;", "return now;"),
    ("a line that is taken out counts as added", "if (!has_all(after.pollers[i].lines, before.pollers[i].lines)) {",
     "if (false) {"),
])

plant(("support_bundle",), [
    ("short secrets are told", "secret_bytes_least = 8;", "secret_bytes_least = 40;"),
])

plant(("config",), [
    ("VLAN 4095 is accepted", "integer<std::uint16_t>(0, 4094)", "integer<std::uint16_t>(0, 4095)"),
])

plant(("nic",), [
    ("Cisco's tag is two bytes shorter", "case ethertype::cisco_metadata: return 8;",
     "case ethertype::cisco_metadata: return 6;"),
    ("a switch's timestamp of 48 bits has 64", "return head_bytes + 6;", "return head_bytes + 8;"),
    ("ERSPAN of type I has a header", "(flags & has_sequence) != 0 ? erspan_2_bytes : 0",
     "erspan_2_bytes"),
    ("a leap back is waited for", "ts_ns < before_ts_ns - leap_ns && ahead_ns < -leap_ns",
     "ts_ns < before_ts_ns - leap_ns && ahead_ns > leap_ns"),
    ("a leap is passed over though another port has frames before it",
     "if (next_ts_ns.load(std::memory_order_relaxed) < ts_ns) { return 0; }", ""),
])

plant(("account",), [
    ("checksum offload is presumed though a packet came through",
     "return queue.to_lines == 0 && queue.dropped", "return queue.dropped"),
])

plant(("record_state",), [
    ("a start does not take what a peer repaired", "take_repairs(feed);", ""),
    ("a start takes the state of yesterday", "ts_ns >= trade_date_begin_ns ||", "true ||"),
    ("a start takes the state of another feed", "snapshot->feed != feed", "false"),
])

plant(("field_captures",), [
    ("a replay believes all senders", "port.sources = senders_of(feed.ports);",
     "static_cast<void>(senders_of(feed.ports));"),
    ("a replay verifies checksums whatever the config says",
     "port.udp_checksum = check_of(feed.ports);", "static_cast<void>(check_of(feed.ports));"),
    ("decode does not count what holds no block", "drops_.bump(drop);", ""),
])

plant(("config",), [
    ("one problem that a retry fixes hides one that it does not", "return change ? Exit::config : Exit::failed;",
     "return change && problems.size() == 1 ? Exit::config : Exit::failed;"),
    ("an address that is not there yet needs a change", "EADDRINUSE, EADDRNOTAVAIL,", "EADDRINUSE,"),
    ("a file that failed replaces the last good one", "if (std::fclose(file) == 0 && error == 0) {",
     "if (std::fclose(file) == 0) {"),
    ("a control group's caches are not free",
     "bytes += std::ranges::count(version.caches, name) != 0 ? value : 0;", "bytes += 0 * value;"),
    ("the groups around one have no limits", "path = path.parent_path();", "return;"),
    ("a port below those for all needs no right", "*port < rights.first_free_port && !rights.below_too",
     "*port + 1 < rights.first_free_port && !rights.below_too"),
])

plant(("limits",), [
    ("the peer port asks again at once", "return pause(error);", "break;"),
    ("a file that may not grow ends the program", "std::signal(SIGXFSZ, SIG_IGN)", "std::signal(SIGXFSZ, SIG_DFL)"),
    ("recovery's end is not measured", "recovery.failure.empty());", "true);"),
])

plant(("capture_inputs",), [
    ("packets of other protocols alone fail", "if (packets > other && to_lines == 0",
     "if (packets != 0 && to_lines == 0"),
    ("decode ends well though no packet reached a line", "candidates_ == 0 || to_lines_ != 0", "true"),
    ("an empty capture is not told from a wrong one", "if (begun == ARCHIVE_EOF) {", "if (false) {"),
])

plant(("nic",), [
    ("a capture that a retry may open needs a change",
     "fmt::format(\"cannot be opened: {}\", text_of_error(error)), remedy_of(error)",
     "fmt::format(\"cannot be opened: {}\", text_of_error(error)), Remedy::change"),
])

plant(("bench",), [
    ("a cut capture is measured", "complaint = reader->complaint(); !complaint.empty()",
     "complaint = reader->complaint(); false"),
])

plant(("endings",), [
    ("a capture in a folder is no input", ".files = files_of,", ""),
    ("an output may be an input by another name", "std::filesystem::equivalent(output, path, ignored)", "false"),
    ("a signal is not heard while something is opened",
     "std::optional<EndWhileOpening> opening{\"opening the feed\"};",
     "std::optional<EndWhileOpening> opening;"),
    ("an account is ended by a look at its pipe", "error = ::access(path.c_str(), W_OK) == 0 ? 0 : errno;",
     "error = std::fclose(std::fopen(path.c_str(), \"w\"));"),
])

plant(("publish",), [
    ("a wrong first time of receipt stays the base", "base_ms_ == 0 || apart_ms > far_ms", "base_ms_ == 0"),
    ("a time far ahead of the others is kept", "(static_cast<std::uint64_t>(ts_ns) - from_ns) >> far_bits != 0",
     "ts_ns >= static_cast<std::int64_t>(from_ns + far_ns)"),
    ("the pages of a core are on any node", "(void)::syscall(SYS_mbind,", "(void)sizeof("),
    ("a start that was killed before its link leaves its file", "if (of_feed && entry",
     "if (false && of_feed && entry"),
    ("more than the file system is only short now", "need > space.total_bytes", "false"),
    ("huge pages are asked for too late", "(void)::madvise(at_, bytes_, MADV_HUGEPAGE);  // works", "// works"),
])

plant(("doctor",), [
    ("one file of published memory is enough space", "return 2 * need_bytes > host.shm->total_bytes",
     "return need_bytes > host.shm->total_bytes"),
    ("published memory needs no hugepages", "nic::dpdk::runtime_bytes + 2 * need.published_huge_bytes",
     "nic::dpdk::runtime_bytes + 0 * need.published_huge_bytes"),
])

plant(("config",), [
    ("a new file in /dev/shm is no file", "(path.starts_with(\"/dev/\") && !path.starts_with(\"/dev/shm/\"))",
     "path.starts_with(\"/dev/\")"),
])

plant(("kafka_unit",), [
    ("records that the queue refused are not stated", "batch.lost += batch.records; note_loss(batch);",
     "note_loss(batch);"),
    ("a message repeats the position of the one before", "batch.first += batch.records;", ""),
    ("a statement that did not arrive is not repeated", "note_loss(batch); } void Packer::forget_series()",
     "} void Packer::forget_series()"),
    ("an uncertain message counts as acknowledged", "return Outcome::uncertain; } return Outcome::uncertain;",
     "return Outcome::acknowledged; } return Outcome::uncertain;"),
    ("a message waits for others without end", "if (since(batch->opened_ns, now_ns_) < config_.linger_ns) {",
     "if (true) {"),
    ("an id keeps its underlying when the list has changed", "underlyings_.forget_series(); to_define_.clear();",
     "to_define_.clear();"),
    ("a key that the account rests on may be a property", 'std::string_view{"enable.idempotence"},', ""),
])

plant(("gateway_unit",), [
    ("a cancel is sent as a trade", "if ((feed::trade_effects_of(record.type) & feed::effect_cancel) != 0) {",
     "if (false) {"),
    ("a client of all series gets a record of its list twice",
     "if ((one.schemas & bit(schema)) != 0 && !has_got(one.receiver)) {", "if ((one.schemas & bit(schema)) != 0) {"),
    ("every key may subscribe every root", "return underlyings.empty() || std::find(",
     "return true || underlyings.empty() || std::find("),
    ("a flushed best is still sent", "if (comes_after(line.quotes, at.stamp)) {",
     "if (false) {"),
    ("the length of a record lacks its time of sending", "static_cast<unsigned>(at[0]) + trailer / 4",
     "static_cast<unsigned>(at[0])"),
    ("the state of a series comes twice", "if (is_to_come) { drop(from, id); }", "if (false) { drop(from, id); }"),
    ("a second start is accepted", "if (phase_ == Phase::started) { return end(", "if (false) { return end("),
    ("the counters of a user end with its session", "users_.add_ended(session.key().user, counters);", ""),
])

plant(("doctor",), [
    ("the fix for /dev/shm makes it smaller",
     "std::max<std::uint64_t>(2 * need_bytes, host.shm->total_bytes + lacking)", "2 * need_bytes + 0 * lacking"),
    ("a cpu without a switch is taken offline", "if (host.find_cpu(cpu)->can_go_offline) {",
     "if (host.find_cpu(cpu) != nullptr) {"),
    ("the script unbinds a NIC below a default route",
     "(interface->second.default_route || interface->second.other_default_route)",
     "interface->second.default_route"),
    ("the members of a bond carry no route", "mark_carriers(folder, entry.substr(prefix.size()), host);", ""),
    ("the limit of open files is one for all programs",
     "need.open_files = std::max(need.open_files, topology.open_files)", "need.open_files += topology.open_files"),
    ("the fix for all nodes takes the pages of a node away",
     "node == all_nodes ? std::max(lacking, added) : lacking", "lacking"),
])

plant(("gateway_unit",), [
    ("an access log ends after 1 MiB",
     "std::ifstream lines{file}; unsigned number = 0; for (std::string line; std::getline(lines, line);) {",
     "std::ifstream lines{file}; unsigned number = 0; "
     "for (std::string line; lines.tellg() <= (1 << 20) && std::getline(lines, line);) {"),
    ("an access log that cannot be read is empty", "if (!lines.is_open() || lines.bad()) {", "if (false) {"),
])

plant(("nic",), [
    ("a tunnel stays closed if the snapshot length cut it", "== not_dropped ? whole : ipv4_of_cut(frame)",
     "== not_dropped ? std::optional{whole} : std::nullopt"),
    ("iface of net_pcap is no live input", "both_ways ? both_ways : vdev.argument(\"rx_iface\")",
     "vdev.argument(\"rx_iface\")"),
    ("hugepages are advised in pages of the default size", "node < 0 ? \"/sys/kernel/mm\"",
     "node < 0 ? \"/proc/sys/vm\""),
])

plant(("config",), [
    ("a PCI address in upper case is another device", "return static_cast<char>(std::tolower(c));",
     "return static_cast<char>(c);"),
    ("check passes a folder without captures", "check(port, host.content);", "static_cast<void>(check);"),
])

plant(("actors",), [
    ("the memory of the history is not named", "memory_text(topology.recovery.history_bytes)", "memory_text(0)"),
])

plant(("ctl",), [
    ("a refused capture empties the file", "std::optional<json> last; std::string complaint; const auto take",
     "open(); std::optional<json> last; std::string complaint; const auto take"),
])

plant(("publish",), [
    ("the memory of a failed start is kept",
     "const bool stays = linked_ && plan_.kept && header().state == PINSTRIKE_LIVE;", "const bool stays = plan_.kept;"),
    ("a failed start leaves the link to a removed file", "if (name_.taken() && !linked_ && ",
     "if (name_.taken() && linked_ && "),
    ("forget takes no lock", "if (locked != NameLock::Result::taken) {", "if (locked == NameLock::Result::failed) {"),
    ("a start goes on without its lock", "if (locked == NameLock::Result::failed) { return false; }",
     "problems.clear();"),
    ("ids that cannot be kept are not remarked", "error_.store(errno, std::memory_order_relaxed);", ""),
])

plant(("export",), [
    ("an interrupted export keeps its file",
     "return !failed() && !cancelled_.load(std::memory_order_relaxed) && file_.commit();",
     "return !failed() && file_.commit();"),
    ("open intervals are not exported", "market().restart_time(); // closes the intervals that are open", ""),
    ("losses do not reach exported values", "follower_.apply_to_line(event, stamp); pinstrike_record record{};",
     "pinstrike_record record{};"),
    ("a loss reaches a series with its next quote", "|| (at.has_sides && comes_after(line.loss, at.stamp));", ";"),
    ("symbols of series without a record are listed", "if (series.occurs) { names", "if (series.key.id != 0) { names"),
    ("the end of a DBN file is its last record", "content.end_ns = last_ns_ + 1;", "content.end_ns = last_ns_;"),
    ("undefined prices are numbers in CSV", "price == feed::dbn::undefined_price ? to : write_price(to, price)",
     "write_price(to, price)"),
    ("the last frame of compressed rows is left out", "(begins_late_ || !compressor_ || compress({}, true))",
     "(begins_late_ || !compressor_ || true)"),
    ("an export waits for a pipe that nobody reads",
     "if (cancelled_.load(std::memory_order_relaxed)) { return fail(path_, ECANCELED);",
     "if (false) { return fail(path_, ECANCELED);"),
])

plant(("export_range",), [
    ("bars at the end of a range lack their last trades",
     "needs.behind_ns = feed::dbn::interval_ns_of(schema) + actors::bar_grace_ns;", "needs.behind_ns = 0;"),
    ("a part of an export begins without the book's series",
     "if (series == nullptr) { return; } pinstrike_value value{};", "return; pinstrike_value value{};"),
    ("a part of an export has records before its range",
     "if (time_ns < times_->from_ns || time_ns >= times_->to_ns) {", "if (time_ns >= times_->to_ns) {"),
])

plant(("gateway_unit",), [
    ("a replay does not wait for each line", "return at != reached_.lines.end() && is_up_to(live.second, at->second);",
     "return true;"),
    ("a replay brings records that come live as well", ": is_up_to(frame.place, place->place);", ": true;"),
    ("live records before the end of a replay are lost", "kept_.put(schema, id, record, end_ns);", ""),
])

plant(("export_unit",), [
    ("only the first records of a large file are moved up", "for (std::uint64_t end = size_bytes_; end > 0;) {",
     "for (std::uint64_t end = std::min<std::uint64_t>(size_bytes_, copied_bytes); end > 0;) {"),
    ("a price loses a digit", "while (to[-1] == '0') {", "while (to[-1] <= '1') {"),
    ("ids of an export are not those of the list", "is_from_file ? event.body.series_map.id : next_id_;", "next_id_;"),
])

plant(("bridge_unit",), [
    ("an event that the state has counts twice", "entry != nullptr && !stamp_after(stamp, entry->stamp)",
     "entry != nullptr && stamp_after(entry->stamp, entry->stamp)"),
    ("a gap begins with a number that was carried", "goes_on ? LostNumbers{numbering_.number_after(before), reached}",
     "goes_on ? LostNumbers{before, reached}"),
    ("a numbering that began anew is taken for the old one",
     "!is_anew(line) && numbering_.distance(before, reached)", "numbering_.distance(before, reached)"),
    ("a bridge counts as OPRA does", "{.last = shape.body.number_last}", "feed::Numbering{}"),
    ("a core goes on before its events reach the state",
     "&& !stamp_after(core->newest, core->cursor.clock().stamp());", ";"),
    ("more is sent than was granted", "granted >= writer.queued() + sizeof(FrameHeader) + body_bytes_max",
     "granted + writer.queued() >= sizeof(FrameHeader) + body_bytes_max"),
    ("records may be missing between two frames",
     "frame.header.position != place.position + frame.header.left_out + records",
     "frame.header.position < place.position"),
    ("what a bridge did not carry makes values stale",
     "} else if (numbers.cause != feed::GapCause::bridge) {",
     "} else if (numbers.cause != feed::GapCause::repaired) {"),
    ("a frame may begin where no header fits", "bytes_.size() - end_ >= sizeof(FrameHeader) + whole_units(body_bytes)",
     "bytes_.size() - end_ >= whole_units(body_bytes)"),
    ("a silent host stays joined", "if (now_ns - heard_ns_ > silent_after_ns) {", "if (now_ns < heard_ns_) {"),
])

plant(("actors",), [
    ("chunks that are written again come in another order",
     "output.failed.push_front(output.writes.back()->chunk);", "output.failed.push_back(output.writes.back()->chunk);"),
    ("a chunk is given back before an earlier one that fails",
     "while (!output.writes.empty() && output.writes.front()->ended && !output.writes.front()->failed) {",
     "while (!output.writes.empty() && !output.writes.front()->failed) {"),
    ("a short write goes on where it ended", "write.done_bytes -= write.done_bytes % nic::chunk_alignment_bytes;", ""),
    ("a chunk does not count the packets of its last burst", "open_.packets += recorded;", ""),
])

plant(("snapshot",), [
    ("a failed recovery counts as none", "(recovered ? results_.succeeded : results_.failed).add();",
     "results_.succeeded.add(recovered ? 1 : 0);"),
])
