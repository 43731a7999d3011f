// path: cold
//
// Every message of a generated session as canonical JSON, written from what was generated, not from
// bytes: what `decode --json` must print of stream A.
#pragma once

#include "feed/opra/traffic/session.h"

#include <iosfwd>

namespace pinstrike::feed::opra::traffic {

/// One JSON object a message and line, in the order of the block.
void write_messages(std::ostream& out, const SentBlock& block);

}  // namespace pinstrike::feed::opra::traffic
