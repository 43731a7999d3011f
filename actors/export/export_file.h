// path: cold
//
// The output of an export: a file that is complete or absent (config/whole_file.h), a pipe, or
// standard output. Its bytes are compressed by zstd if the name ends in .zst.
//
// The beginning of a DBN file names all series of its records, so it is written last. A regular
// file gets room for it then. For a pipe the records wait in a temporary file.
#pragma once

#include "config/whole_file.h"
#include "nic/file_descriptor.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct ZSTD_CCtx_s;

namespace pinstrike::actors {

class ExportFile {
  public:
    /// `path`: "-" is standard output. `begins_late`: write_beginning() follows all calls of
    /// write(). `cancelled`: ends the wait for a pipe that nobody reads.
    ExportFile(std::string path, bool begins_late, const std::atomic<bool>& cancelled);

    // False: this or an earlier call failed, and error() says why.

    [[nodiscard]] bool open();
    [[nodiscard]] bool write(std::span<const std::byte> bytes);
    [[nodiscard]] bool write_beginning(std::span<const std::byte> bytes);
    /// No more is written.
    [[nodiscard]] bool finish();
    /// After finish(): the file gets its name.
    [[nodiscard]] bool commit();

    /// The size of the beginning is to be a multiple of this, so that a file system can insert it.
    [[nodiscard]] std::size_t beginning_multiple_bytes() const;

    /// Empty: nothing failed.
    [[nodiscard]] const std::string& error() const { return error_; }

  private:
    struct FreeCompressor {
        void operator()(ZSTD_CCtx_s* compressor) const;
    };

    bool fail(const std::string& where, int error);
    bool open_pipe();
    bool open_records();
    bool compress(std::span<const std::byte> bytes, bool is_end);
    bool put(std::span<const std::byte> bytes);
    bool put_in_pipe(std::span<const std::byte> bytes);
    bool insert(std::span<const std::byte> bytes);
    bool move_up(std::size_t bytes);
    bool send_records();

    std::string path_;
    bool begins_late_;
    const std::atomic<bool>& cancelled_;
    bool is_direct_;
    std::optional<WholeFile> whole_;
    nic::FileDescriptor pipe_;      ///< or a device; invalid if the output is a regular file
    nic::FileDescriptor records_;   ///< the file, or a temporary one; invalid: a pipe gets them
    std::string records_name_;      ///< in errors
    std::uint64_t size_bytes_ = 0;  ///< of `records_`
    std::unique_ptr<ZSTD_CCtx_s, FreeCompressor> compressor_;  ///< null: nothing is compressed
    std::vector<std::byte> compressed_;
    std::string error_;
};

}  // namespace pinstrike::actors
