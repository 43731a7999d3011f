// path: cold
#include "feed/opra/message.h"

#include <utility>

namespace pinstrike::feed::opra::wire {

Text::Text() = default;

Text::Text(std::string words) : text(std::move(words)) {}

Text::Text(const Text&) = default;
Text::Text(Text&&) noexcept = default;
Text& Text::operator=(const Text&) = default;
Text& Text::operator=(Text&&) noexcept = default;
Text::~Text() = default;

}  // namespace pinstrike::feed::opra::wire
