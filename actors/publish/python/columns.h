// path: cold
//
// Rows of numpy's structured arrays, defined by their columns: name, meaning, and a function that
// takes the value from a record of pinstrike.h. The place of each column in a row, numpy's type
// and the attribute of a callback's object follow from the type of the value.
#pragma once

#include <Python.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace pinstrike::python {

/// ASCII characters in numpy's encoding, filled up with zeros.
template <std::size_t characters>
struct Text {
    std::array<char32_t, characters> ucs4;
};

struct Date {
    std::int64_t days;  ///< since 1970
};

struct Time {
    std::int64_t ns;  ///< since 1970
};

/// numpy's name of a type, and a Python object with the value that is stored at an address.
template <class Value>
struct Traits;

[[nodiscard]] PyObject* text_object(const std::byte* at, std::size_t characters_max);
[[nodiscard]] PyObject* date_object(std::int64_t days);

template <class Value>
Value load(const std::byte* at) {
    Value value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

template <>
struct Traits<bool> {
    static std::string dtype() { return "?"; }

    static PyObject* object(const std::byte* at) { return PyBool_FromLong(load<bool>(at) ? 1 : 0); }
};

template <std::integral Value>
struct Traits<Value> {
    static std::string dtype() {
        return (std::is_signed_v<Value> ? "<i" : "<u") + std::to_string(sizeof(Value));
    }

    static PyObject* object(const std::byte* at) {
        if constexpr (std::is_signed_v<Value>) {
            return PyLong_FromLongLong(load<Value>(at));
        } else {
            return PyLong_FromUnsignedLongLong(load<Value>(at));
        }
    }
};

template <>
struct Traits<double> {
    static std::string dtype() { return "<f8"; }

    static PyObject* object(const std::byte* at) { return PyFloat_FromDouble(load<double>(at)); }
};

template <std::size_t characters>
struct Traits<Text<characters>> {
    static std::string dtype() { return "<U" + std::to_string(characters); }

    static PyObject* object(const std::byte* at) { return text_object(at, characters); }
};

template <>
struct Traits<Date> {
    static std::string dtype() { return "<M8[D]"; }

    static PyObject* object(const std::byte* at) { return date_object(load<Date>(at).days); }
};

/// As an object a time is an integer, because datetime has no nanoseconds.
template <>
struct Traits<Time> {
    static std::string dtype() { return "<M8[ns]"; }

    static PyObject* object(const std::byte* at) { return PyLong_FromLongLong(load<Time>(at).ns); }
};

/// A column. `Get` has no state; its parameters are the record, and for the place of a message in
/// its batch a std::uint32_t behind it.
template <class Get>
struct Column {
    const char* name;
    const char* doc;
    Get get;
};

/// A column in a layout.
struct Field {
    std::string name;
    std::string doc;
    std::string dtype;
    std::size_t offset;
    PyObject* (*object)(const std::byte*);
};

/// Rows with the columns of a tuple, written from records of type `Source`.
template <class Source, class Columns>
class Rows;

template <class Source, class... Gets>
class Rows<Source, std::tuple<Column<Gets>...>> {
    template <class Get>
    static auto call(const Source& source, std::uint32_t order) {
        if constexpr (std::invocable<Get, const Source&, std::uint32_t>) {
            return Get{}(source, order);
        } else {
            return Get{}(source);
        }
    }

    template <class Get>
    using Value = decltype(call<Get>(std::declval<const Source&>(), 0));

    /// Aligned without gaps: the columns with the largest alignment come first.
    static constexpr auto places() {
        constexpr std::array alignments{alignof(Value<Gets>)...};
        constexpr std::array sizes{sizeof(Value<Gets>)...};
        std::array<std::size_t, sizeof...(Gets) + 1> out{};
        std::size_t at = 0;
        for (std::size_t alignment = 8; alignment > 0; alignment /= 2) {
            for (std::size_t i = 0; i < sizes.size(); ++i) {
                if (alignments[i] == alignment) {
                    out[i] = at;
                    at += sizes[i];
                }
            }
        }
        out.back() = (at + 7) / 8 * 8;
        return out;
    }

    static constexpr auto offsets = places();

  public:
    static constexpr std::size_t row_bytes = offsets.back();

    static void write(std::byte* row, const Source& source, std::uint32_t order) {
        [&]<std::size_t... i>(std::index_sequence<i...>) {
            const auto store = [row](std::size_t offset, const auto& value) {
                std::memcpy(row + offset, &value, sizeof value);
            };
            (store(offsets[i], call<Gets>(source, order)), ...);
        }(std::index_sequence_for<Gets...>{});
    }

    static std::vector<Field> fields(const std::tuple<Column<Gets>...>& columns) {
        return std::apply(
            [](const auto&... column) {
                std::size_t i = 0;
                return std::vector<Field>{{column.name, column.doc, Traits<Value<Gets>>::dtype(),
                                           offsets[i++], &Traits<Value<Gets>>::object}...};
            },
            columns);
    }
};

}  // namespace pinstrike::python
