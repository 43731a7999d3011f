// path: cold
//
// Reads the state of a host without judging it.
#pragma once

#include "actors/host/doctor/host.h"

#include <filesystem>

namespace pinstrike::actors::doctor {

/// Reads files of /proc, /sys, /run and /etc below `root` and writes nothing. Data of files that do
/// not exist or cannot be read stays empty.
[[nodiscard]] Host read_host(const std::filesystem::path& root = "/");

// The parts of read_host() in read_devices.cpp.

/// Reads PCI network devices, the IOMMU and vfio.
void read_nics(const std::filesystem::path& root, Host& host);

/// Reads the kernel's network interfaces, except the data that only system calls return.
void read_interfaces(const std::filesystem::path& root, Host& host);

void read_interrupts(const std::filesystem::path& root, Host& host);

struct Need;

/// Examines the disks of recordings, and measures how fast they take writes (recording_disk.h).
void measure_recordings(const Need& need, Host& host);

/// Adds data that only system calls return: clock state, addresses of interfaces, firmware of NICs,
/// free disk space.
void ask_kernel(Host& host);

}  // namespace pinstrike::actors::doctor
