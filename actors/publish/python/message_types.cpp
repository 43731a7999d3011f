// path: cold
#include "actors/publish/python/message_types.h"

#include <datetime.h>

#include <chrono>
#include <string>
#include <vector>

namespace pinstrike::python {
namespace nb = nanobind;

namespace {

struct Message {
    PyObject_HEAD alignas(8) std::byte row[1];  // as long as the rows of its type
};

std::byte* row_of(PyObject* message) {
    return reinterpret_cast<Message*>(message)->row;  // tidy: Python's objects begin with a header
}

PyObject* get(PyObject* self, void* closure) {
    const auto& field = *static_cast<const Field*>(closure);
    return field.object(row_of(self) + field.offset);
}

/// Quote(id=1, root='SPY', ...)
PyObject* repr(PyObject* self) {
    std::string text;
    for (const PyGetSetDef* of = Py_TYPE(self)->tp_getset; of->name != nullptr; ++of) {
        const nb::object value = nb::steal(get(self, of->closure));
        text += (text.empty() ? "" : ", ") + std::string{of->name} + '=' + nb::repr(value).c_str();
    }
    const auto name = nb::cast<std::string>(nb::handle(Py_TYPE(self)).attr("__name__"));
    return nb::str((name + '(' + text + ')').c_str()).release().ptr();
}

void deallocate(PyObject* self) {
    PyTypeObject* const type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

/// What a type points to as long as the process lives.
struct Definition {
    std::string name;
    std::string doc;
    std::vector<PyGetSetDef> attributes;
};

nb::object make_type(const Layout<pinstrike_record>& layout) {
    auto& definition = *new Definition;
    definition.name = "pinstrike._pinstrike." + layout.class_name;
    definition.doc =
        layout.doc +
        "\n\nGiven to callbacks. Times are nanoseconds since 1970 (UTC), prices are as "
        "the stream was asked for.";
    for (const Field& field : layout.fields) {
        if (field.name != "order") {  // a message that comes alone has no place in a batch
            definition.attributes.push_back(
                {field.name.c_str(), &get, nullptr, field.doc.c_str(), const_cast<Field*>(&field)});
        }
    }
    definition.attributes.push_back({});
    std::array slots{
        PyType_Slot{Py_tp_getset, definition.attributes.data()},
        PyType_Slot{Py_tp_repr, reinterpret_cast<void*>(&repr)},           // tidy: Python's form
        PyType_Slot{Py_tp_dealloc, reinterpret_cast<void*>(&deallocate)},  // tidy: Python's form
        PyType_Slot{Py_tp_doc, definition.doc.data()},
        PyType_Slot{0, nullptr},
    };
    PyType_Spec spec{definition.name.c_str(),
                     static_cast<int>(offsetof(Message, row) + layout.row_bytes), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
    PyObject* const type = PyType_FromSpec(&spec);
    if (type == nullptr) {
        throw nb::python_error();
    }
    return nb::steal(type);
}

}  // namespace

PyObject* date_object(std::int64_t days) {
    using namespace std::chrono;
    const year_month_day date{
        sys_days{std::chrono::days{std::clamp<std::int64_t>(days, -1'000'000, 1'000'000)}}};
    const int year{date.year()};
    if (year < 1 || year > 9999) {
        Py_RETURN_NONE;
    }
    return PyDate_FromDate(year, static_cast<int>(static_cast<unsigned>(date.month())),
                           static_cast<int>(static_cast<unsigned>(date.day())));
}

MessageTypes::Types MessageTypes::make_types(Prices prices) {
    Types types;
    for (std::size_t place = 0; place < kinds_count; ++place) {
        types[place] = make_type(message_layouts(prices)[place]);
    }
    return types;
}

MessageTypes::MessageTypes()
    : numbers_(make_types(Prices::numbers)), exact_(make_types(Prices::exact)) {
    PyDateTime_IMPORT;
}

nb::object MessageTypes::make(const MessageLayouts& layouts, std::size_t place,
                              const pinstrike_record& record) const {
    const bool exact = &layouts == &message_layouts(Prices::exact);
    PyObject* const object = (exact ? exact_ : numbers_)[place].ptr();
    auto* const type = reinterpret_cast<PyTypeObject*>(object);  // tidy: a type is an object
    nb::object message = nb::steal(PyType_GenericAlloc(type, 0));
    if (!message.is_valid()) {
        throw nb::python_error();
    }
    layouts[place].write(row_of(message.ptr()), record, 0);
    return message;
}

void MessageTypes::add_to(nb::module_& module) const {
    for (std::size_t place = 0; place < kinds_count; ++place) {
        module.attr(message_layouts(Prices::numbers)[place].class_name.c_str()) = numbers_[place];
    }
}

}  // namespace pinstrike::python
