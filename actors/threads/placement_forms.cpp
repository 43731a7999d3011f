// path: cold
#include "actors/threads/placement_forms.h"

namespace pinstrike::actors {
namespace {

/// No processor has a higher number.
constexpr CpuIndex cpu_max = 4095;

}  // namespace

Form<CpuIndex> cpu_form() {
    return or_word("any", CpuIndex{-1}, integer<CpuIndex>(0, cpu_max));
}

Form<WaitStrategy> wait_form() {
    return choice<WaitStrategy>(
        {{"spin", WaitStrategy::spin,
          "poll again at once: lowest latency, uses one whole processor"},
         {"park", WaitStrategy::park, "poll for a while, then sleep until there is work"}});
}

}  // namespace pinstrike::actors
