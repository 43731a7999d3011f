// path: cold
//
// The objects that callbacks get: one type for each kind of message, whose attributes are read from
// a row when they are asked for, so that a message costs one allocation.
#pragma once

#include "actors/publish/python/rows.h"

#include <nanobind/nanobind.h>

#include <array>

namespace pinstrike::python {

class MessageTypes {
  public:
    MessageTypes();

    /// An object with the row of a record. Throws nanobind::python_error.
    [[nodiscard]] nanobind::object make(const MessageLayouts& layouts, std::size_t place,
                                        const pinstrike_record& record) const;

    /// Gives a module the types for prices as numbers, by name. Those for exact prices have the
    /// same names.
    void add_to(nanobind::module_& module) const;

  private:
    using Types = std::array<nanobind::object, kinds_count>;

    static Types make_types(Prices prices);

    Types numbers_;
    Types exact_;
};

}  // namespace pinstrike::python
