// path: cold
//
// The segment that a poller's packets go to: makes the file, reserves its space, assigns the places
// of chunks, and writes the index.
#pragma once

#include "feed/recording/segment_index.h"
#include "nic/file_descriptor.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace pinstrike::actors {

class SegmentWriter {
  public:
    /// Begins a segment of `bytes`. On failure removes it, sets errno and returns false.
    [[nodiscard]] bool open(const std::string& path, const feed::SegmentHead& head,
                            std::uint64_t bytes);

    [[nodiscard]] bool is_open() const { return file_.valid(); }

    [[nodiscard]] int fd() const { return file_.get(); }

    /// Whether another chunk of this size fits.
    [[nodiscard]] bool fits(std::size_t bytes) const { return next_ + bytes <= bytes_; }

    /// The number of the next chunk.
    [[nodiscard]] std::uint64_t chunks() const { return chunks_; }

    [[nodiscard]] std::size_t interfaces() const { return interfaces_; }

    /// Assigns the place of the next chunk.
    std::uint64_t place(std::size_t bytes);

    /// The chunk is on disk. Writes its record to the index.
    void add(const feed::ChunkRecord& record);

    /// Gives back the space that is reserved behind the chunks, or reserves it again. A write fails
    /// if the disk has no space then.
    void set_reserved(bool reserved);

    /// Ends the segment behind its last chunk that was added. A segment without one is removed.
    void close();

  private:
    void write_index(std::span<const std::byte> bytes);

    std::string path_;
    nic::FileDescriptor file_;
    nic::FileDescriptor index_;
    std::uint64_t bytes_ = 0;
    std::uint64_t next_ = 0;    ///< place of the next chunk
    std::uint64_t end_ = 0;     ///< of the last chunk that was added
    std::uint64_t chunks_ = 0;  ///< that got a place
    std::uint64_t added_ = 0;
    std::size_t interfaces_ = 0;
    bool index_whole_ = true;
    bool reserved_ = true;
};

}  // namespace pinstrike::actors
