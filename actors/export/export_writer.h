// path: cold
//
// The thread that writes an export. An ExportActor fills the blocks.
#pragma once

#include "actors/export/export_file.h"
#include "actors/export/record_blocks.h"
#include "actors/export/record_format.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace pinstrike::actors {

class ExportWriter {
  public:
    /// Opens nothing. `path`: "-" is standard output.
    ExportWriter(std::unique_ptr<RecordFormat> format, std::size_t record_bytes, std::string path);

    /// Cancels, and waits for the thread.
    ~ExportWriter();

    ExportWriter(const ExportWriter&) = delete;
    ExportWriter& operator=(const ExportWriter&) = delete;

    [[nodiscard]] BlockQueue& blocks() { return blocks_; }

    /// Starts the thread, which opens the output.
    void start();

    /// No output is wanted any more. Does not wait.
    void cancel();

    /// Waits until all blocks are written, after the actor has stopped. True: the output is
    /// complete and has its name. Else error() says why, or it was cancelled.
    [[nodiscard]] bool finish();

    /// Records that were written so far. Any thread.
    [[nodiscard]] std::uint64_t records() const {
        return records_.load(std::memory_order_relaxed);  // only a count
    }

    /// Whether writing has failed. Any thread.
    [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_acquire); }

    /// Empty: nothing failed. Call if failed(), or after finish().
    [[nodiscard]] const std::string& error() const { return file_.error(); }

  private:
    void run();
    [[nodiscard]] bool write_all();

    // Relaxed order is enough for a request to end: no data depends on it. `failed_` is stored with
    // release order after the error text, and loaded with acquire order before it.
    std::atomic<bool> cancelled_{false};
    std::atomic<bool> failed_{false};
    std::atomic<std::uint64_t> records_{0};
    std::unique_ptr<RecordFormat> format_;
    std::size_t record_bytes_;
    ExportFile file_;
    BlockQueue blocks_;
    std::thread thread_;
};

}  // namespace pinstrike::actors
