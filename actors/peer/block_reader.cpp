// path: cold
#include "actors/peer/block_reader.h"

#include "config/check.h"
#include "feed/venue_codecs.h"

#include <memory>

namespace pinstrike::actors::peer {

BlockReader venue_block_reader(std::string_view venue) {
    BlockReader reader;
    const bool known = feed::with_venue(venue, [&reader]<class Codec>() {
        auto scratch = std::make_shared<typename Codec::Scratch>();
        reader = [scratch](std::span<const std::byte> bytes, feed::Block& into) {
            // The bytes hold exactly one block, without padding.
            return Codec::check(bytes, true, *scratch, into).accepted &&
                   into.bytes.size() == bytes.size();
        };
    });
    PINSTRIKE_CHECK(known);
    return reader;
}

}  // namespace pinstrike::actors::peer
