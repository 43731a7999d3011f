// path: cold
//
// The Arrow C stream interface, by which pandas, polars, DuckDB and others take columns.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pinstrike::python {

/// A column in Arrow's layout.
struct ArrowColumn {
    std::string name;
    std::string format;
    std::int64_t nulls = 0;
    std::vector<std::vector<std::byte>> buffers;
    std::vector<const void*> pointers;  ///< to them; null: a buffer without memory
};

/// A capsule with a stream that has one batch.
[[nodiscard]] nanobind::capsule arrow_stream(std::size_t rows, std::vector<ArrowColumn> columns);

}  // namespace pinstrike::python
