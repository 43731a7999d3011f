// path: cold
//
// Looks at a host, and judges nothing.
#pragma once

#include "actors/host/doctor/host.h"

#include <filesystem>

namespace pinstrike::actors::doctor {

/// Reads the files of /proc, /sys, /run and /etc below `root`; writes nothing. What is not there,
/// or may not be read, stays empty.
[[nodiscard]] Host read_host(const std::filesystem::path& root = "/");

/// Adds what no file tells but the running kernel: clock state, addresses of interfaces, firmware
/// of NICs, free disk.
void ask_kernel(Host& host);

}  // namespace pinstrike::actors::doctor
