// path: cold
//
// Decodes one datagram with the decoder of the poll path and with the full parser, which must
// agree, first with the checksum as it is, then with a correct checksum. Prints valid blocks as
// JSON and as text.
#include "config/check.h"
#include "feed/opra/datagram_lines.h"
#include "feed/opra/encode.h"
#include "tests/feed/opra/decoded.h"
#include "tests/fuzz/fuzz.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace {

using namespace pinstrike::feed;

void print(const opra::wire::DecodedBlock& block) {
    std::string out;
    for (std::size_t i = 0; i < block.messages.size(); ++i) {
        out.clear();
        opra::append_json(out, {}, block, i);
        PINSTRIKE_CHECK(nlohmann::json::accept(out));
        opra::append_text(out, {}, block, i);
    }
}

}  // namespace

int fuzz_one(std::span<const std::byte> bytes) {
    PINSTRIKE_CHECK(opra::disagreement(bytes, true).empty());
    std::vector<std::byte> repaired(bytes.begin(), bytes.end());
    if (repaired.size() >= opra::block::header_bytes) {
        const std::size_t size = opra::get<opra::block::size>(repaired.data());
        if (size >= opra::block::header_bytes && size <= repaired.size()) {
            opra::fix_checksum(std::span{repaired}.first(size));
        }
    }
    PINSTRIKE_CHECK(opra::disagreement(repaired, true).empty());
    if (const auto parsed = opra::parse_block(repaired, true); parsed.block) {
        print(*parsed.block);
    }
    return 0;
}
