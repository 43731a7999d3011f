// path: cold
//
// Reads captures, pcap and pcapng, of any time resolution, compressed or not.
#pragma once

#include "config/problem.h"
#include "nic/capture/capture_input.h"
#include "nic/capture/capture_records.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::nic {

/// One frame of a capture, valid until the reader's next() or end.
struct CapturedFrame {
    std::span<const std::byte> bytes;  ///< an Ethernet frame, whatever the capture's link type
    std::int64_t ts_ns = 0;            ///< nanoseconds since the Unix epoch
    std::uint32_t cut_bytes = 0;       ///< so many the snapshot length left out at its end
};

/// A capture file read from its beginning to its end. Frames of link types without Ethernet header
/// are given one with empty addresses.
class CaptureReader {
  public:
    /// Opens `path` ("-": standard input), or tells the problem: no such file, not a capture, a
    /// link type that carries no Ethernet or IP.
    [[nodiscard]] static std::optional<CaptureReader> open(const std::string& path,
                                                           Problems& problems);

    /// The next frame; false at the end, also where the file ends too soon (see complaint()).
    [[nodiscard]] bool next(CapturedFrame& out);

    /// What of the file was not read, once next() has come to its end, with the file's name: it is
    /// damaged or cut, and what comes behind such a place is not read; or packets of interfaces
    /// that cannot be read were left out. Empty: all of it was read.
    [[nodiscard]] std::string complaint() const;

    [[nodiscard]] const std::string& path() const { return path_; }

    /// A regular file, which can be closed and opened again; a pipe cannot.
    [[nodiscard]] bool can_open_again() const { return input_.is_regular(); }

  private:
    CaptureReader(std::string path, CaptureInput input, std::unique_ptr<CaptureRecords> records);

    std::string path_;
    CaptureInput input_;
    std::unique_ptr<CaptureRecords> records_;
    std::vector<std::byte> made_;  ///< the frame behind an Ethernet header that the reader adds
    /// Packets left out, by the link type of their interface; none: it was never described.
    std::map<std::optional<std::uint32_t>, std::uint64_t> left_out_;
};

}  // namespace pinstrike::nic
