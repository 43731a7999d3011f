// path: cold
//
// Reads captures in the formats pcap and pcapng, of any time resolution, compressed or not.
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
#include <string_view>
#include <vector>

namespace pinstrike::nic {

/// One frame of a capture, valid until the reader's next call of next() or its destruction.
struct CapturedFrame {
    std::span<const std::byte> bytes;  ///< an Ethernet frame, for every link type
    std::int64_t ts_ns = 0;            ///< nanoseconds since the Unix epoch
    std::uint32_t cut_bytes = 0;       ///< bytes at its end that the snapshot length cut off
    std::string_view comment = {};     ///< of pcapng; empty: it has none
    std::uint32_t file = 0;            ///< its number in a FrameStream
    std::uint64_t record = 0;          ///< its number in the file, from 1
};

/// Reads a capture file from beginning to end. Packets of link types other than Ethernet get an
/// Ethernet header with zero addresses.
class CaptureReader {
  public:
    /// Opens `path` ("-": standard input); nullopt, with a problem added, if there is no such file,
    /// if it is not a capture, or if its link type is unknown.
    [[nodiscard]] static std::optional<CaptureReader> open(const std::string& path,
                                                           Problems& problems);

    /// Reads the next frame. False at the end of the file, and where the file is damaged or
    /// truncated (see complaint()).
    [[nodiscard]] bool next(CapturedFrame& out);

    /// Call after next() returned false. Gives the file's name and describes what was not read: the
    /// part after the place where the file is damaged or truncated, and packets of interfaces with
    /// an unknown link type. Empty if everything was read.
    [[nodiscard]] std::string complaint() const;

    [[nodiscard]] const std::string& path() const { return path_; }

    /// The comment of a pcapng file; empty: it has none.
    [[nodiscard]] std::string_view comment() const { return records_->comment(); }

    /// True for a regular file; a pipe cannot be closed and opened again.
    [[nodiscard]] bool can_open_again() const { return input_.is_regular(); }

  private:
    CaptureReader(std::string path, CaptureInput input, std::unique_ptr<CaptureRecords> records);

    std::string path_;
    CaptureInput input_;
    std::unique_ptr<CaptureRecords> records_;
    std::uint64_t records_read_ = 0;
    std::vector<std::byte> made_;  ///< a frame whose Ethernet header the reader added
    /// The number of packets left out, by the link type of their interface; nullopt if the file
    /// does not describe the interface.
    std::map<std::optional<std::uint32_t>, std::uint64_t> left_out_;
};

}  // namespace pinstrike::nic
