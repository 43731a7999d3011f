// path: cold
#include "actors/publish/python/arrow_stream.h"

#include <cerrno>
#include <memory>
#include <new>
#include <utility>

// The three structs of the Arrow C data and stream interfaces, with Arrow's own names.
extern "C" {

struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    std::int64_t flags;
    std::int64_t n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};

struct ArrowArray {
    std::int64_t length;
    std::int64_t null_count;
    std::int64_t offset;
    std::int64_t n_buffers;
    std::int64_t n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
    int (*get_next)(ArrowArrayStream*, ArrowArray* out);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};
}

namespace pinstrike::python {
namespace nb = nanobind;

namespace {

constexpr std::int64_t nullable = 2;  // ARROW_FLAG_NULLABLE

/// The columns of a stream. Each struct of Arrow that was given away shares them.
struct Columns {
    std::size_t rows;
    std::vector<ArrowColumn> columns;
    std::array<const void*, 1> no_buffers{};
    bool given = false;
};

using Shared = std::shared_ptr<Columns>;

/// What a struct keeps until it is released: the columns, and its children.
template <class Struct>
struct Kept {
    Shared columns;
    std::vector<Struct> children;
    std::vector<Struct*> pointers;
};

template <class Struct>
void release(Struct* released) {
    for (std::int64_t i = 0; i < released->n_children; ++i) {
        Struct* const child = released->children[i];
        if (child->release != nullptr) {  // the receiver may have moved it away
            child->release(child);
        }
    }
    delete static_cast<Kept<Struct>*>(released->private_data);
    released->release = nullptr;
}

/// Gives a struct what it keeps, with children made by `make` from the columns, or without any.
template <class Struct, class Make>
void keep(Struct& to, const Shared& columns, bool with_children, Make&& make) {
    auto kept = std::make_unique<Kept<Struct>>();
    kept->columns = columns;
    if (with_children) {
        kept->children.reserve(columns->columns.size());
        for (ArrowColumn& column : columns->columns) {
            kept->pointers.push_back(&kept->children.emplace_back(make(column)));
        }
    }
    to.n_children = static_cast<std::int64_t>(kept->pointers.size());
    to.children = kept->pointers.data();
    to.release = &release<Struct>;
    to.private_data = kept.release();
}

ArrowSchema schema_of(const Shared& columns, const ArrowColumn* column) {
    ArrowSchema schema{};
    schema.format = column != nullptr ? column->format.c_str() : "+s";
    schema.name = column != nullptr ? column->name.c_str() : "";
    schema.flags = column != nullptr ? nullable : 0;
    keep(schema, columns, column == nullptr,
         [&columns](const ArrowColumn& child) { return schema_of(columns, &child); });
    return schema;
}

ArrowArray array_of(const Shared& columns, ArrowColumn* column) {
    ArrowArray array{};
    array.length = static_cast<std::int64_t>(columns->rows);
    array.null_count = column != nullptr ? column->nulls : 0;
    array.n_buffers = column != nullptr ? static_cast<std::int64_t>(column->pointers.size()) : 1;
    array.buffers = column != nullptr ? column->pointers.data() : columns->no_buffers.data();
    keep(array, columns, column == nullptr,
         [&columns](ArrowColumn& child) { return array_of(columns, &child); });
    return array;
}

const Shared& columns_of(ArrowArrayStream* stream) {
    return *static_cast<Shared*>(stream->private_data);
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
    try {
        *out = schema_of(columns_of(stream), nullptr);
        return 0;
    } catch (const std::bad_alloc&) {
        return ENOMEM;
    }
}

/// The only batch, and then the end: an array that is released.
int get_next(ArrowArrayStream* stream, ArrowArray* out) {
    try {
        const Shared& columns = columns_of(stream);
        *out = std::exchange(columns->given, true) ? ArrowArray{} : array_of(columns, nullptr);
        return 0;
    } catch (const std::bad_alloc&) {
        return ENOMEM;
    }
}

const char* get_last_error(ArrowArrayStream* /*stream*/) {
    return "out of memory";
}

void release_stream(ArrowArrayStream* stream) {
    delete static_cast<Shared*>(stream->private_data);
    stream->release = nullptr;
}

void delete_stream(void* pointer) noexcept {
    auto* const stream = static_cast<ArrowArrayStream*>(pointer);
    if (stream->release != nullptr) {
        stream->release(stream);
    }
    delete stream;
}

}  // namespace

nb::capsule arrow_stream(std::size_t rows, std::vector<ArrowColumn> columns) {
    auto shared = std::make_unique<Shared>(
        std::make_shared<Columns>(Columns{.rows = rows, .columns = std::move(columns)}));
    auto stream = std::make_unique<ArrowArrayStream>(ArrowArrayStream{
        &get_schema, &get_next, &get_last_error, &release_stream, shared.release()});
    return {stream.release(), "arrow_array_stream", &delete_stream};
}

}  // namespace pinstrike::python
