// path: cold
//
// Writes captures of Ethernet frames with nanosecond times: pcap, or pcapng if the path ends in
// ".pcapng". Both formats are simple enough to write without a library.
#pragma once

#include "config/problem.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pinstrike::nic {

class CaptureWriter {
  public:
    /// Creates or empties the file at `path`; nullopt, with a problem added, if that fails.
    /// Comments, of the file and of packets, have at most 65535 bytes, and pcap has none.
    [[nodiscard]] static std::optional<CaptureWriter> open(const std::string& path,
                                                           Problems& problems,
                                                           std::string_view comment = {});

    /// Appends one Ethernet frame. A frame longer than capture_frame_bytes_max is cut to that
    /// length; its record keeps the original length. `ts_ns` is in nanoseconds since the Unix
    /// epoch; the formats have no times before it, so a negative one becomes 0.
    void write(std::span<const std::byte> frame, std::int64_t ts_ns, std::string_view comment = {});

    /// Passes all written bytes to the kernel, so that they reach the file even if this process
    /// crashes.
    void flush();

    /// Flushes and closes the file; adds a problem if any byte was not written (a full disk). The
    /// destructor closes the file without reporting errors.
    [[nodiscard]] bool close(Problems& problems);

  private:
    /// Twice the longest frame, so that a record that is flushed alone is written by one call: a
    /// process that ends meanwhile leaves whole records.
    using Buffer = std::array<char, std::size_t{512} << 10>;

    struct Close {
        std::unique_ptr<Buffer> buffer;  ///< of the file, until it is closed

        void operator()(std::FILE* file) const { std::fclose(file); }
    };

    CaptureWriter(std::string path, std::FILE* file);

    void put(const void* bytes, std::size_t count);
    void write_file_header(std::string_view comment);
    void put_padded(const void* bytes, std::size_t count);
    void put_comment(std::string_view comment);

    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
    bool is_pcapng_;
    int error_ = 0;  ///< errno of the first failed write
};

inline constexpr std::size_t capture_frame_bytes_max = 262'144;  // libpcap's largest snapshot

}  // namespace pinstrike::nic
