// path: cold
#pragma once

namespace pinstrike::nic::dpdk {

/// Notices of DPDK count as information.
enum class LogLevel : unsigned char { error, warning, info, debug };

}  // namespace pinstrike::nic::dpdk
