// path: cold
//
// The memory file of a feed, mapped for reading.
//
// The file is not trusted. Its header and the headers of its cores are checked once and copied, and
// only the copies are used later, so that a change of the file cannot lead outside it. What is read
// after that is checked with each read.
//
// A file that shrinks would end the reader by SIGBUS. No check prevents that, so only files of
// root, the user himself, or the owner of the folder of published memory are mapped. The writer
// never truncates a file.
#pragma once

#include "actors/publish/pinstrike.h"
#include "feed/event/event.h"
#include "nic/file_descriptor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::reader {

inline constexpr std::size_t group_slots = 64;

/// The checked arrays of one core.
struct CoreView {
    const pinstrike_core* shared = nullptr;  ///< in the file: the words that change
    std::uint16_t index = 0;
    std::span<const pinstrike_line> lines;  ///< by line number; any 16 bits are a line number
    std::span<const pinstrike_entry> entries;
    std::span<const pinstrike_group> groups;
    std::span<const pinstrike_trades> trades;
    std::span<const pinstrike_series> series;
    std::span<const pinstrike_root> roots;
    std::span<const feed::Event> stream;
};

/// The view of a core whose header is at an offset of the memory. Throws Error.
[[nodiscard]] CoreView view_core(std::span<const std::byte> memory, std::size_t at,
                                 std::uint16_t index);

class Mapping {
  public:
    /// Maps the file to which the link of a feed leads. Throws Error.
    [[nodiscard]] static std::shared_ptr<const Mapping> open(const std::string& feed);

    /// A file's bytes that the caller keeps, aligned to a page. Throws Error. For tests.
    explicit Mapping(std::span<const std::byte> memory) : memory_(memory) { check(); }

    /// Takes over both. Throws Error.
    Mapping(nic::FileDescriptor file, std::span<const std::byte> memory);

    ~Mapping();
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    [[nodiscard]] const pinstrike_header& shared() const;

    [[nodiscard]] std::int64_t start_ns() const { return start_ns_; }

    [[nodiscard]] std::uint32_t trade_date() const { return trade_date_; }

    [[nodiscard]] const std::vector<CoreView>& cores() const { return cores_; }

    /// Whether the process that writes the file lives. True if there is no file.
    [[nodiscard]] bool has_writer() const;

  private:
    void check();

    nic::FileDescriptor file_;
    std::span<const std::byte> memory_;
    std::int64_t start_ns_ = 0;
    std::uint32_t trade_date_ = 0;
    std::vector<CoreView> cores_;
};

/// The names of all feeds that have a link.
[[nodiscard]] std::vector<std::string> feed_names();

}  // namespace pinstrike::reader
