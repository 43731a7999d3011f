// path: cold
//
// Messages and blocks that several tests of the codec use.
#pragma once

#include "feed/opra/encode.h"

#include <random>
#include <vector>

namespace pinstrike::feed::opra::samples {

using Random = std::mt19937_64;

/// A block of these messages with plausible header fields.
std::vector<std::byte> block(const std::vector<wire::Message>& messages,
                             const wire::BlockHeader& header = {.retransmission = ' ',
                                                                .session = 0,
                                                                .sequence = 1000,
                                                                .seconds = 1'700'000'000,
                                                                .nanoseconds = 123'456'789});

wire::Message control(char type);

/// A short quote with this indicator and the appendages that it requires.
wire::Message quote_with(char indicator);

std::vector<wire::Message> short_quotes(unsigned count);

/// One message of every category and layout, including each type of Y and quotes with every number
/// of appendages.
std::vector<wire::Message> one_of_each();

/// A decodable message. All its bytes are random as far as it stays decodable.
wire::Message random_message(Random& random);

/// A block of as many random messages as fit, at most `count`.
std::vector<std::byte> random_block(Random& random, unsigned count);

}  // namespace pinstrike::feed::opra::samples
