// path: cold
#pragma once

#include "nic/capture/capture_fields.h"
#include "nic/capture/capture_records.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::nic {

inline constexpr std::uint32_t pcapng_section_block = 0x0A0D0D0A;  // the same in either byte order

class PcapngRecords final : public CaptureRecords {
  public:
    /// Reads the header of the first section, whose first four bytes have already been read. False,
    /// with a complaint, if it is invalid.
    [[nodiscard]] bool begin(CaptureInput& input);

    [[nodiscard]] bool next(CaptureInput& input, CaptureRecord& out) override;

    [[nodiscard]] std::string_view comment() const override { return comment_; }

    /// The damaged chunks of a recording. The reader goes on behind them.
    [[nodiscard]] std::string skipped() const override;

  private:
    struct Interface {
        std::uint32_t link_type = 0;
        std::uint32_t snapshot_bytes = 0;  ///< 0: no limit
        std::uint8_t resolution = 6;       ///< if_tsresol: 10^-n, or 2^-n with bit 7 set
        std::int64_t offset_s = 0;         ///< if_tsoffset
    };

    struct Block {
        std::uint32_t type = 0;
        std::uint32_t bytes = 0;  ///< its total length
        std::uint64_t at = 0;     ///< its offset in the file
    };

    [[nodiscard]] bool begin_section(CaptureInput& input, std::span<const std::byte> raw_length,
                                     std::uint64_t at);
    [[nodiscard]] bool find_block(CaptureInput& input, Block& block);
    [[nodiscard]] bool pass_over(CaptureInput& input, const Block& block);
    [[nodiscard]] bool read_body(CaptureInput& input, const Block& block,
                                 std::span<const std::byte>& body);
    [[nodiscard]] bool ends_soundly(const Block& block, std::span<const std::byte> trailer);
    [[nodiscard]] bool describe(const Block& block, const CaptureFields& body);
    [[nodiscard]] bool read_packet(const Block& block, const CaptureFields& body,
                                   CaptureRecord& out);
    [[nodiscard]] bool read_simple_packet(const Block& block, const CaptureFields& body,
                                          CaptureRecord& out);
    [[nodiscard]] bool read_next(CaptureInput& input, CaptureRecord& out);
    [[nodiscard]] bool skip_damaged_chunk(CaptureInput& input, const Block& head);
    [[nodiscard]] bool find_next_chunk(CaptureInput& input);
    void add_damaged_chunk(std::uint64_t at);
    [[nodiscard]] bool damaged(const Block& block, const std::string& what);
    [[nodiscard]] bool cut(CaptureInput& input, const Block& block);

    std::string comment_;                ///< of the first section
    bool swapped_ = false;               ///< the section's byte order differs from this host's
    std::vector<Interface> interfaces_;  ///< the interfaces of the current section
    std::int64_t last_ts_ns_ = 0;
    bool in_chunks_ = false;       ///< the section is a recording
    std::uint64_t chunk_end_ = 0;  ///< of the last chunk that was begun, or of the section's head
    std::uint64_t damaged_chunks_ = 0;
    std::uint64_t first_damaged_at_ = 0;  ///< offset in the file
};

}  // namespace pinstrike::nic
