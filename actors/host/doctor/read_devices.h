// path: cold
//
// The part of read_host() that looks at devices.
#pragma once

#include "actors/host/doctor/host.h"

#include <filesystem>

namespace pinstrike::actors::doctor {

/// Network devices on PCI, the IOMMU, vfio.
void read_nics(const std::filesystem::path& root, Host& host);

/// Network interfaces of the kernel, but for what only it can be asked.
void read_interfaces(const std::filesystem::path& root, Host& host);

void read_interrupts(const std::filesystem::path& root, Host& host);

}  // namespace pinstrike::actors::doctor
