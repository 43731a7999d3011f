// path: cold
//
// Every message of a generated session as canonical JSON, written from the generated messages and
// not from their bytes. `decode --json` must print the same for stream A.
#pragma once

#include "feed/opra/traffic/session.h"

#include <iosfwd>

namespace pinstrike::feed::opra::traffic {

/// Writes one JSON object per message, each on a line, in the order of the block.
void write_messages(std::ostream& out, const SentBlock& block);

}  // namespace pinstrike::feed::opra::traffic
