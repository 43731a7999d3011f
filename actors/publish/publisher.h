// path: cold
//
// The memory file of a running feed, with the thread that wakes its readers.
#pragma once

#include "actors/publish/memory_file.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>

namespace pinstrike::actors {

class Publisher {
  public:
    explicit Publisher(std::unique_ptr<MemoryFile> file) : file_(std::move(file)) {}

    /// Ends the thread, and marks the feed as ended.
    ~Publisher();

    Publisher(const Publisher&) = delete;
    Publisher& operator=(const Publisher&) = delete;

    [[nodiscard]] CoreMemory core(std::size_t index) { return file_->core(index); }

    /// All cores have started. The thread begins, with the calling thread's CPUs.
    void start();

    /// As MemoryFile::link().
    [[nodiscard]] bool link(Problems& problems) { return file_->link(problems); }

    [[nodiscard]] const MemoryFile& file() const { return *file_; }

  private:
    std::unique_ptr<MemoryFile> file_;
    std::atomic<bool> stops_{false};
    std::thread thread_;
};

}  // namespace pinstrike::actors
