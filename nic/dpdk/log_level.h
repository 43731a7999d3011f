// path: cold
#pragma once

namespace pinstrike::nic::dpdk {

/// DPDK's level "notice" counts as info.
enum class LogLevel : unsigned char { error, warning, info, debug };

}  // namespace pinstrike::nic::dpdk
