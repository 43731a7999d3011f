// path: cold
#pragma once

#include <cstddef>
#include <span>

/// What a fuzz target defines: takes any bytes and must neither crash, nor read outside them, nor
/// fail a CHECK. Returns 0.
int fuzz_one(std::span<const std::byte> bytes);
