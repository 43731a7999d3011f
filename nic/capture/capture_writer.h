// path: cold
//
// Writes captures of Ethernet frames with nanosecond times: pcap, or pcapng where the path ends in
// ".pcapng". Both are simple enough to write by hand.
#pragma once

#include "config/problem.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace pinstrike::nic {

enum class CaptureFormat : std::uint8_t { pcap, pcapng };

class CaptureWriter {
  public:
    /// Makes or empties the file at `path`, or tells why it cannot.
    [[nodiscard]] static std::optional<CaptureWriter> open(const std::string& path,
                                                           Problems& problems);

    /// Appends one Ethernet frame of at most capture_frame_bytes_max bytes; a longer one is cut
    /// there, its true length noted. `ts_ns` is nanoseconds since the Unix epoch, not negative.
    void write(std::span<const std::byte> frame, std::int64_t ts_ns);

    /// What was written is the file's from now on, whatever becomes of this process.
    void flush();

    /// Flushes and closes; tells a problem if any byte did not reach the file (a full disk). A
    /// writer that is destroyed unclosed closes without a word.
    [[nodiscard]] bool close(Problems& problems);

    [[nodiscard]] CaptureFormat format() const { return format_; }

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };

    CaptureWriter(std::string path, std::FILE* file, CaptureFormat format);

    void put(const void* bytes, std::size_t count);
    void write_file_header();

    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
    CaptureFormat format_;
    int error_ = 0;  ///< errno of the first failed write
};

inline constexpr std::size_t capture_frame_bytes_max = 262'144;  // libpcap's largest snapshot

}  // namespace pinstrike::nic
