// path: cold
#include "actors/export/export_writer.h"

#include <pthread.h>

#include <optional>
#include <utility>

namespace pinstrike::actors {

ExportWriter::ExportWriter(std::unique_ptr<RecordFormat> format, std::size_t record_bytes,
                           std::string path)
    : format_(std::move(format)),
      record_bytes_(record_bytes),
      file_(std::move(path), format_->begins_late(), cancelled_) {}

ExportWriter::~ExportWriter() {
    if (thread_.joinable()) {
        cancel();
        thread_.join();
    }
}

void ExportWriter::start() {
    thread_ = std::thread{[this] { run(); }};
}

void ExportWriter::cancel() {
    cancelled_.store(true, std::memory_order_relaxed);
    blocks_.cancel();
}

void ExportWriter::run() {
    ::pthread_setname_np(::pthread_self(), "writer");
    if (!write_all()) {
        failed_.store(true, std::memory_order_release);
        blocks_.cancel();
    }
}

/// False: the output failed.
bool ExportWriter::write_all() {
    if (!file_.open() || !format_->begin(file_)) {
        return false;
    }
    std::optional<RecordBlock> block;
    while ((block = blocks_.take(std::move(block)))) {
        if (!format_->add(*block, file_)) {
            return false;
        }
        records_.fetch_add(block->records().size() / record_bytes_, std::memory_order_relaxed);
    }
    return cancelled_.load(std::memory_order_relaxed) || (format_->end(file_) && file_.finish());
}

bool ExportWriter::finish() {
    if (!thread_.joinable()) {
        return false;
    }
    thread_.join();
    return !failed() && !cancelled_.load(std::memory_order_relaxed) && file_.commit();
}

}  // namespace pinstrike::actors
