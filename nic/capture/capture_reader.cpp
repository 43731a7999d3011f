// path: cold
#include "nic/capture/capture_reader.h"

#include "config/joined.h"
#include "nic/capture/capture_links.h"

#include <fmt/format.h>

#include <utility>

namespace pinstrike::nic {

namespace {

std::string left_out_text(std::optional<std::uint32_t> link_type, std::uint64_t packets) {
    return link_type
               ? fmt::format("{} packets of an interface of link type {} were skipped: {} expected",
                             packets, *link_type, known_link_types)
               : fmt::format(
                     "{} packets of an interface that the file does not describe were skipped",
                     packets);
}

}  // namespace

CaptureReader::CaptureReader(std::string path, CaptureInput input,
                             std::unique_ptr<CaptureRecords> records)
    : path_(std::move(path)), input_(std::move(input)), records_(std::move(records)) {}

std::optional<CaptureReader> CaptureReader::open(const std::string& path, Problems& problems) {
    std::optional<CaptureInput> input = CaptureInput::open(path, problems);
    if (!input) {
        return std::nullopt;
    }
    std::string complaint;
    auto records = begin_records(*input, complaint);
    if (!records) {
        add_problem(problems, path,
                    fmt::format("cannot be read as a capture, pcap or pcapng expected: {}",
                                input->complaint().empty() ? complaint : input->complaint()),
                    input->remedy());
        return std::nullopt;
    }
    if (const auto type = records->link_type(); type && !is_known_link_type(*type)) {
        add_problem(problems, path,
                    fmt::format("link type {} found, {} expected", *type, known_link_types),
                    input->remedy());
        return std::nullopt;
    }
    return CaptureReader{path, std::move(*input), std::move(records)};
}

bool CaptureReader::next(CapturedFrame& out) {
    CaptureRecord record;
    while (records_->next(input_, record)) {
        if (!record.link_type || !is_known_link_type(*record.link_type)) {
            ++left_out_[record.link_type];
            continue;
        }
        out.bytes = as_ethernet(*record.link_type, record.bytes, made_);
        out.ts_ns = record.ts_ns;
        out.comment = record.comment;
        out.record = ++records_read_;
        out.cut_bytes = record.sent_bytes > record.bytes.size()
                            ? record.sent_bytes - static_cast<std::uint32_t>(record.bytes.size())
                            : 0;
        return true;
    }
    return false;
}

std::string CaptureReader::complaint() const {
    std::vector<std::string> parts;
    for (const std::string& said : {input_.complaint(), records_->complaint()}) {
        if (!said.empty()) {
            parts.push_back("reading stopped: " + said);
            break;
        }
    }
    if (std::string skipped = records_->skipped(); !skipped.empty()) {
        parts.push_back(std::move(skipped));
    }
    for (const auto& [link_type, packets] : left_out_) {
        parts.push_back(left_out_text(link_type, packets));
    }
    return parts.empty() ? "" : path_ + ": " + joined(parts, "; ");
}

}  // namespace pinstrike::nic
