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
    /// The file's first section, whose first four bytes are taken: false, with a complaint, where
    /// it is none.
    [[nodiscard]] bool begin(CaptureInput& input);

    [[nodiscard]] bool next(CaptureInput& input, CaptureRecord& out) override;

  private:
    struct Interface {
        std::uint32_t link_type = 0;
        std::uint32_t snapshot_bytes = 0;  ///< 0: no limit
        std::uint8_t resolution = 6;       ///< if_tsresol: as a power of ten, or with bit 7 of two
        std::int64_t offset_s = 0;         ///< if_tsoffset
    };

    struct Block {
        std::uint32_t type = 0;
        std::uint32_t bytes = 0;  ///< all of it
        std::uint64_t at = 0;     ///< where it begins in the file
    };

    [[nodiscard]] bool begin_section(CaptureInput& input, std::span<const std::byte> raw_length,
                                     std::uint64_t at);
    [[nodiscard]] bool find_block(CaptureInput& input, Block& block);
    [[nodiscard]] bool pass_over(CaptureInput& input, const Block& block);
    [[nodiscard]] bool take_body(CaptureInput& input, const Block& block,
                                 std::span<const std::byte>& body);
    [[nodiscard]] bool ends_soundly(const Block& block, std::span<const std::byte> trailer);
    [[nodiscard]] bool describe(const Block& block, const CaptureFields& body);
    [[nodiscard]] bool take_packet(const Block& block, const CaptureFields& body,
                                   CaptureRecord& out);
    [[nodiscard]] bool take_simple_packet(const Block& block, const CaptureFields& body,
                                          CaptureRecord& out);
    [[nodiscard]] bool damaged(const Block& block, const std::string& what);
    [[nodiscard]] bool cut(CaptureInput& input, const Block& block);

    bool swapped_ = false;               ///< this section's byte order is not this machine's
    std::vector<Interface> interfaces_;  ///< of this section
    std::int64_t last_ts_ns_ = 0;
};

}  // namespace pinstrike::nic
