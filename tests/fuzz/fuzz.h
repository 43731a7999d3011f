// path: cold
#pragma once

#include <cstddef>
#include <span>

/// A fuzz target defines this function. It accepts any bytes. It must not crash, read outside them,
/// or fail a CHECK. Returns 0.
int fuzz_one(std::span<const std::byte> bytes);
