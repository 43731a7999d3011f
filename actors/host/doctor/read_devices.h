// path: cold
//
// The part of read_host() that reads devices.
#pragma once

#include "actors/host/doctor/host.h"

#include <filesystem>

namespace pinstrike::actors::doctor {

/// Reads PCI network devices, the IOMMU and vfio.
void read_nics(const std::filesystem::path& root, Host& host);

/// Reads the kernel's network interfaces, except the data that only system calls return.
void read_interfaces(const std::filesystem::path& root, Host& host);

void read_interrupts(const std::filesystem::path& root, Host& host);

}  // namespace pinstrike::actors::doctor
