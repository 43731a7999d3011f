// path: cold
//
// Reads captures, pcap and pcapng, of any time resolution. libpcap stays behind this file.
#pragma once

#include "config/problem.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct pcap;

namespace pinstrike::nic {

/// One frame of a capture, valid until the reader's next() or end.
struct CapturedFrame {
    std::span<const std::byte> bytes;  ///< an Ethernet frame, whatever the capture's link type
    std::int64_t ts_ns = 0;            ///< nanoseconds since the Unix epoch
};

/// A capture file read from its beginning to its end. Frames of link types without Ethernet header
/// (raw IP, Linux "cooked" of both versions) are given one with empty addresses.
class CaptureReader {
  public:
    /// Opens `path` ("-": standard input), or tells the problem: no such file, not a capture, a
    /// link type that carries no Ethernet or IP.
    [[nodiscard]] static std::optional<CaptureReader> open(const std::string& path,
                                                           Problems& problems);

    /// The next frame; false at the end, also where the file ends too soon (see complaint()).
    [[nodiscard]] bool next(CapturedFrame& out);

    /// How the file went wrong while it was read, in words; empty if it did not. What comes behind
    /// such a place is not read.
    [[nodiscard]] const std::string& complaint() const { return complaint_; }

    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    struct Close {
        void operator()(pcap* handle) const;
    };

    CaptureReader(std::string path, pcap* handle, int link_type);

    std::string path_;
    std::unique_ptr<pcap, Close> handle_;
    int link_type_;
    std::vector<std::byte> rewritten_;  ///< the frame behind its made-up Ethernet header
    std::string complaint_;
};

}  // namespace pinstrike::nic
