// Registers the traffic generator, as the command line does, in the tests that compile it in.
#include "feed/opra/traffic/generator.h"

namespace {

[[maybe_unused]] const bool registered = [] {
    pinstrike::feed::register_traffic_generator(pinstrike::feed::opra::traffic::generator());
    return true;
}();

}  // namespace
