// path: cold
//
// The records of a capture: pcap (any of its magic numbers) and pcapng, of either byte order. Of
// pcapng each packet is read by the interface that its block names: interfaces may differ in link
// type, snapshot length and time resolution, and so may sections in byte order.
// https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcap,
// https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcapng
#pragma once

#include "nic/capture/capture_input.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace pinstrike::nic {

/// A packet as it stands in the file, valid until the next one is read.
struct CaptureRecord {
    std::span<const std::byte> bytes;
    std::uint32_t sent_bytes = 0;            ///< its length before the snapshot length cut it
    std::int64_t ts_ns = 0;                  ///< nanoseconds since the Unix epoch
    std::optional<std::uint32_t> link_type;  ///< none: its interface is not described
};

class CaptureRecords {
  public:
    virtual ~CaptureRecords() = default;

    CaptureRecords(const CaptureRecords&) = delete;
    CaptureRecords& operator=(const CaptureRecords&) = delete;

    /// The next packet; false at the end, and where the file is damaged or cut: complaint() then
    /// says how.
    [[nodiscard]] virtual bool next(CaptureInput& input, CaptureRecord& out) = 0;

    /// The link type of all packets; none where each has its own.
    [[nodiscard]] virtual std::optional<std::uint32_t> link_type() const { return std::nullopt; }

    [[nodiscard]] const std::string& complaint() const { return complaint_; }

  protected:
    CaptureRecords() = default;

    std::string complaint_;
};

/// Reads the file's header. Null, and `complaint` says why, where it is no capture.
[[nodiscard]] std::unique_ptr<CaptureRecords> begin_records(CaptureInput& input,
                                                            std::string& complaint);

}  // namespace pinstrike::nic
