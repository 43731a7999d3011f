// path: cold
//
// Reads the records of a capture in the format pcap (with any of its magic numbers) or pcapng, in
// either byte order. A pcapng packet is read with the properties of the interface that its block
// names, because interfaces may differ in link type, snapshot length and time resolution. Sections
// may differ in byte order. https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcap,
// https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcapng
#pragma once

#include "nic/capture/capture_input.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pinstrike::nic {

/// A packet as stored in the file, valid until the next one is read.
struct CaptureRecord {
    std::span<const std::byte> bytes;
    std::uint32_t sent_bytes = 0;            ///< the packet's original length
    std::int64_t ts_ns = 0;                  ///< nanoseconds since the Unix epoch
    std::optional<std::uint32_t> link_type;  ///< nullopt: the file does not describe its interface
    std::string_view comment;                ///< the first one; empty: it has none
};

class CaptureRecords {
  public:
    virtual ~CaptureRecords() = default;

    CaptureRecords(const CaptureRecords&) = delete;
    CaptureRecords& operator=(const CaptureRecords&) = delete;

    /// Reads the next packet. False at the end of the file, and if the file is damaged or
    /// truncated; complaint() then gives the reason.
    [[nodiscard]] virtual bool next(CaptureInput& input, CaptureRecord& out) = 0;

    /// The link type of all packets; nullopt if each packet has its own.
    [[nodiscard]] virtual std::optional<std::uint32_t> link_type() const { return std::nullopt; }

    /// The first comment of the file's first section; empty: there is none.
    [[nodiscard]] virtual std::string_view comment() const { return {}; }

    [[nodiscard]] const std::string& complaint() const { return complaint_; }

    /// What was skipped although the file was read on; empty if nothing was.
    [[nodiscard]] virtual std::string skipped() const { return {}; }

  protected:
    CaptureRecords() = default;

    std::string complaint_;
};

/// Reads the file's header. Null if the file is not a capture; `complaint` then contains the
/// reason.
[[nodiscard]] std::unique_ptr<CaptureRecords> begin_records(CaptureInput& input,
                                                            std::string& complaint);

}  // namespace pinstrike::nic
