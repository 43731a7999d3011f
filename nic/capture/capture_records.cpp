// path: cold
#include "nic/capture/capture_records.h"

#include "config/time_units.h"
#include "nic/capture/capture_fields.h"
#include "nic/capture/capture_writer.h"
#include "nic/capture/pcapng_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace pinstrike::nic {

namespace {

/// The time unit and the record header length of a pcap file, by its magic number.
struct PcapKind {
    std::uint32_t magic;
    std::uint32_t ns_per_unit;  ///< of the second field of a time stamp
    std::size_t record_header_bytes;
};

constexpr std::array pcap_kinds{
    PcapKind{0xA1B2C3D4, 1000, 16}, PcapKind{0xA1B23C4D, 1, 16},
    PcapKind{0xA1B2CD34, 1000,
             24},  // modified libpcap: record headers also have interface and protocol
};

const PcapKind* find_kind(std::uint32_t magic) {
    const auto* found = std::find_if(pcap_kinds.begin(), pcap_kinds.end(),
                                     [&](const PcapKind& kind) { return kind.magic == magic; });
    return found == pcap_kinds.end() ? nullptr : found;
}

class PcapRecords final : public CaptureRecords {
  public:
    PcapRecords(const PcapKind& kind, bool swapped, std::uint32_t link_type)
        : kind_(kind), swapped_(swapped), link_type_(link_type) {}

    [[nodiscard]] bool next(CaptureInput& input, CaptureRecord& out) override;

    [[nodiscard]] std::optional<std::uint32_t> link_type() const override { return link_type_; }

  private:
    PcapKind kind_;
    bool swapped_;
    std::uint32_t link_type_;
    std::uint64_t number_ = 0;  ///< number of the record, from 1
};

bool PcapRecords::next(CaptureInput& input, CaptureRecord& out) {
    if (!complaint_.empty()) {
        return false;
    }
    const std::uint64_t at = input.position();
    const auto head = input.take(kind_.record_header_bytes);
    if (head.empty()) {
        return false;
    }
    ++number_;
    if (head.size() < kind_.record_header_bytes) {
        complaint_ =
            fmt::format("the file ends within the header of record {}, at byte {}", number_, at);
        return false;
    }
    const CaptureFields fields{head, swapped_};
    const std::uint32_t captured_bytes = fields.u32(8);
    out.ts_ns = fields.u32(0) * second_ns + std::int64_t{fields.u32(4)} * kind_.ns_per_unit;
    out.sent_bytes = fields.u32(12);
    out.link_type = link_type_;
    if (captured_bytes > capture_frame_bytes_max) {
        complaint_ = fmt::format("record {} at byte {} has {} bytes, at most {} expected", number_,
                                 at, captured_bytes, capture_frame_bytes_max);
        return false;
    }
    out.bytes = input.take(captured_bytes);
    if (out.bytes.size() < captured_bytes) {
        complaint_ = fmt::format(
            "the file ends within record {}, at byte {}: {} of its {} bytes "
            "are there",
            number_, at, out.bytes.size(), captured_bytes);
        return false;
    }
    return true;
}

std::unique_ptr<CaptureRecords> begin_pcap(CaptureInput& input, const PcapKind& kind, bool swapped,
                                           std::string& complaint) {
    constexpr std::size_t rest_bytes = 20;
    constexpr std::uint16_t version = 2;
    const auto rest = input.take(rest_bytes);
    if (rest.size() < rest_bytes) {
        complaint = "the file ends within its header";
        return nullptr;
    }
    const CaptureFields fields{rest, swapped};
    if (fields.u16(0) != version) {
        complaint = fmt::format("it is pcap of version {}, {} expected", fields.u16(0), version);
        return nullptr;
    }
    // The upper half of the link type field gives the length of the frame check sequence. It is
    // ignored because the parser uses the lengths in the headers.
    return std::make_unique<PcapRecords>(kind, swapped, fields.u32(16) & 0xFFFFU);
}

}  // namespace

std::unique_ptr<CaptureRecords> begin_records(CaptureInput& input, std::string& complaint) {
    const auto raw = input.take(4);
    if (raw.size() < 4) {
        complaint = fmt::format("it has {} bytes", raw.size());
        return nullptr;
    }
    const std::uint32_t magic = CaptureFields{raw, false}.u32(0);
    if (magic == pcapng_section_block) {
        auto records = std::make_unique<PcapngRecords>();
        if (!records->begin(input)) {
            complaint = records->complaint();
            return nullptr;
        }
        return records;
    }
    for (const bool swapped : {false, true}) {
        if (const PcapKind* kind = find_kind(swapped ? __builtin_bswap32(magic) : magic)) {
            return begin_pcap(input, *kind, swapped, complaint);
        }
    }
    complaint = fmt::format("it begins with the bytes {:08x}", __builtin_bswap32(magic));
    return nullptr;
}

}  // namespace pinstrike::nic
