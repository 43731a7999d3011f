// path: cold
//
// The Python module _pinstrike. Python's lock is released in every call that reads published
// memory. Users see the package around it (pinstrike/).
#include "actors/publish/python/arrow_stream.h"
#include "actors/publish/python/message_types.h"
#include "actors/publish/python/reading.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nanobind::literals;

namespace pinstrike::python {
namespace {

/// One thread at a time uses a stream. A callback may use the stream that calls it.
std::unique_lock<std::recursive_mutex> use(std::recursive_mutex& stream) {
    std::unique_lock lock{stream, std::try_to_lock};
    if (!lock.owns_lock()) {
        throw client::error("another thread uses the stream");
    }
    return lock;
}

/// A stream as Python has it.
struct OpenStream {
    OpenStream(const std::string& name, const client::filter& filter, bool exact,
               unsigned long wanted)
        : stream(name, filter, exact ? Prices::exact : Prices::numbers, wanted) {}

    Stream stream;
    std::recursive_mutex in_use;
};

/// Waits at most `seconds`, in parts, because a signal's handler needs Python's lock.
int wait(OpenStream& self, double seconds) {
    constexpr std::int64_t part_ns = 50'000'000;
    constexpr double seconds_max = 1e9;
    const auto used = use(self.in_use);
    auto left_ns = static_cast<std::int64_t>(std::clamp(seconds, 0.0, seconds_max) * 1e9);
    for (;;) {
        Stream::Wait result{};
        {
            const nb::gil_scoped_release unlocked;
            result = self.stream.wait(std::min(left_ns, part_ns));
        }
        if (PyErr_CheckSignals() != 0) {
            throw nb::python_error();
        }
        left_ns -= part_ns;
        if (result != Stream::Wait::timeout || left_ns <= 0) {
            return static_cast<int>(result);
        }
    }
}

Batch poll(OpenStream& self, std::size_t max) {
    const auto used = use(self.in_use);
    const nb::gil_scoped_release unlocked;
    return self.stream.poll(max);
}

Block snapshot(OpenStream& self) {
    const auto used = use(self.in_use);
    const nb::gil_scoped_release unlocked;
    return self.stream.snapshot();
}

/// Reads records that have arrived, if all before were taken, and calls the callbacks of their
/// kinds. Returns how many records there were. A callback's exception ends the call; the next call
/// continues behind its message.
std::size_t dispatch(OpenStream& self, const MessageTypes& types, const nb::list& callbacks) {
    const auto used = use(self.in_use);
    std::size_t records = 0;
    {
        const nb::gil_scoped_release unlocked;
        records = self.stream.read(SIZE_MAX);
    }
    std::size_t place = 0;
    while (const pinstrike_record* const record = self.stream.next(place)) {
        const nb::object message = types.make(self.stream.layouts(), place, *record);
        const nb::object callback = nb::borrow(callbacks[place]);
        const nb::object result = nb::steal(PyObject_CallOneArg(callback.ptr(), message.ptr()));
        if (!result.is_valid()) {
            throw nb::python_error();
        }
    }
    return records;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
    const Block& block = *nb::inst_ptr<Block>(self);
    return PyBuffer_FillInfo(view, self, block.data(), static_cast<Py_ssize_t>(block.bytes()), 1,
                             flags);
}

/// numpy's arguments for a dtype, and the meaning of each field.
template <class Source>
nb::tuple layout_of(const Layout<Source>& layout) {
    nb::list names;
    nb::list dtypes;
    nb::list offsets;
    nb::list docs;
    for (const Field& field : layout.fields) {
        names.append(field.name);
        dtypes.append(field.dtype);
        offsets.append(field.offset);
        docs.append(field.doc);
    }
    return nb::make_tuple(layout.name, layout.plural, layout.class_name, layout.doc,
                          layout.row_bytes, names, dtypes, offsets, docs);
}

/// Of each column: name, Arrow's format, number of nulls, and buffers.
using Columns = std::vector<
    std::tuple<std::string, std::string, std::int64_t, std::vector<std::optional<nb::bytes>>>>;

nb::capsule arrow_stream_of(std::size_t rows, const Columns& columns) {
    std::vector<ArrowColumn> out;
    for (const auto& [name, format, nulls, buffers] : columns) {
        ArrowColumn& column = out.emplace_back(ArrowColumn{name, format, nulls, {}, {}});
        for (const std::optional<nb::bytes>& buffer : buffers) {
            if (!buffer) {
                column.pointers.push_back(nullptr);
                continue;
            }
            const std::size_t bytes = std::max<std::size_t>(buffer->size(), 1);  // not null
            std::vector<std::byte>& copy = column.buffers.emplace_back(bytes);
            std::memcpy(copy.data(), buffer->data(), buffer->size());
            column.pointers.push_back(copy.data());
        }
    }
    return arrow_stream(rows, std::move(out));
}

void add_layouts(nb::module_& module) {
    nb::list messages;
    nb::list series;
    for (const Prices prices : {Prices::numbers, Prices::exact}) {
        nb::list kinds;
        for (const auto& layout : message_layouts(prices)) {
            kinds.append(layout_of(layout));
        }
        messages.append(kinds);
        series.append(layout_of(series_layout(prices)));
    }
    module.attr("message_layouts") = messages;
    module.attr("series_layouts") = series;
}

void add_results(nb::module_& module) {
    static PyType_Slot buffer_slots[]{
        {Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)},  // tidy: Python's form
        {0, nullptr}};
    nb::class_<Block>(module, "Block", nb::type_slots(buffer_slots)).def("__len__", &Block::rows);
    nb::class_<Batch>(module, "Batch")
        .def_ro("messages", &Batch::messages)
        .def(
            "block", [](const Batch& batch, std::size_t place) { return batch.blocks.at(place); },
            "place"_a)
        .def("take_snapshot", [](Batch& batch) { return std::exchange(batch.snapshot, {}); });
}

void add_filter(nb::module_& module) {
    nb::class_<client::filter>(module, "Filter")
        .def(
            "__init__",
            [](client::filter* self, std::vector<std::string> roots, std::vector<std::uint32_t> ids,
               std::uint32_t expiration_from, std::uint32_t expiration_to,
               std::int64_t strike_from_e8, std::int64_t strike_to_e8, char right, char session) {
                new (self)
                    client::filter{std::move(roots), std::move(ids), expiration_from, expiration_to,
                                   strike_from_e8,   strike_to_e8,   right,           session};
            },
            "roots"_a, "ids"_a, "expiration_from"_a, "expiration_to"_a, "strike_from_e8"_a,
            "strike_to_e8"_a, "right"_a, "session"_a);
}

void add_feed(nb::module_& module) {
    const nb::call_guard<nb::gil_scoped_release> unlocked;
    nb::class_<Feed>(module, "Feed")
        .def(nb::init<const std::string&>(), "name"_a, unlocked)
        .def("start_ns", &Feed::start_ns, unlocked)
        .def("trade_date", &Feed::trade_date, unlocked)
        .def(
            "state", [](Feed& feed) { return pinstrike_condition_name(feed.condition()); },
            unlocked)
        .def(
            "chain",
            [](Feed& feed, const client::filter& filter, bool exact) {
                return feed.chain(filter, exact ? Prices::exact : Prices::numbers);
            },
            "filter"_a, "exact"_a, unlocked);
}

void add_stream(nb::module_& module, const MessageTypes& types) {
    nb::class_<OpenStream>(module, "Stream")
        .def(nb::init<const std::string&, const client::filter&, bool, unsigned long>(), "name"_a,
             "filter"_a, "exact"_a, "wanted"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("wait", &wait, "seconds"_a)
        .def("poll", &poll, "max"_a)
        .def("snapshot", &snapshot)
        .def("state",
             [](OpenStream& self) {
                 const auto used = use(self.in_use);
                 return pinstrike_condition_name(self.stream.condition());
             })
        .def("start_ns",
             [](OpenStream& self) {
                 const auto used = use(self.in_use);
                 return self.stream.start_ns();
             })
        .def(
            "dispatch",
            [&types](OpenStream& self, const nb::list& callbacks) {
                return dispatch(self, types, callbacks);
            },
            "callbacks"_a);
}

}  // namespace
}  // namespace pinstrike::python

NB_MODULE(_pinstrike, module) {
    using namespace pinstrike::python;
    module.doc() = "The part of the package pinstrike that reads published memory.";
    nb::exception<pinstrike::client::error>(module, "Error", PyExc_RuntimeError).doc() =
        "A feed cannot be read, and why.";
    // Python's objects must not be released when the interpreter has ended.
    static const auto& types = *new MessageTypes;
    types.add_to(module);
    add_layouts(module);
    add_results(module);
    add_filter(module);
    add_feed(module);
    add_stream(module, types);
    module.def("feed_names", &pinstrike::client::feed::names,
               nb::call_guard<nb::gil_scoped_release>());
    module.def("arrow_stream", &arrow_stream_of, "rows"_a, "columns"_a);
}
