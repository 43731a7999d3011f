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
        reader.numbering = Codec::numbering;
        reader.read = [scratch](std::span<const std::byte> bytes, feed::Block& into) {
            Codec codec;  // a new codec knows no session, so it accepts any
            if (!codec.open_repair(bytes, true, into).accepted) {
                return false;
            }
            static_cast<void>(codec.walk(*scratch, into));
            return into.bytes.size() == bytes.size();  // exactly one block
        };
    });
    PINSTRIKE_CHECK(known);
    return reader;
}

}  // namespace pinstrike::actors::peer
