// path: cold
//
// The memory file of a feed: one file for each start, which other programs map and read.
// publish_folder.h says where it is.
//
// All bytes of the file are allocated at the start, so that no page is missing later, and those of
// a core on the NUMA node of its thread. The writer holds a lock on the open file. The kernel
// releases it when the process ends in any way, and a reader can ask for it, so a reader knows at
// once whether the writer still runs.
#pragma once

#include "actors/publish/core_memory.h"
#include "actors/publish/publish_config.h"
#include "actors/publish/series_ids.h"
#include "config/memory_sizes.h"
#include "config/problem.h"
#include "feed/event/position.h"
#include "nic/file_descriptor.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::actors {

struct MemoryPlan {
    std::string feed;
    PublishMemory memory = PublishMemory::shm;
    std::vector<std::string> cores;  ///< names
    std::vector<int> nodes;          ///< NUMA nodes of the cores; -1, or none: no matter which
    CoreShape shape;                 ///< of each core
    bool by_underlying = false;      ///< the cores share the series by underlying
    std::uint32_t trade_date = 0;    ///< as 20261127; 0: unknown
    std::uint64_t number_last = feed::Numbering{}.last;  ///< the highest number of a line
    std::vector<feed::SeriesKey> listed =
        {};                     ///< the day's list of series, by feed::comes_before()
    bool kept = false;          ///< the file stays after the end, if it was live
    bool linked_later = false;  ///< an earlier file stays until link()
    bool gives_ids = true;  ///< series without an id get one here; false: another host gives them
};

/// The lock on the file `.NAME.lock`, which at most one process has. Two starts at the same time
/// would both find that nobody publishes, and `forget` would remove the file of a start that has
/// not locked it yet.
class NameLock {
  public:
    enum class Result : std::uint8_t {
        taken,
        held,    ///< by another process
        failed,  ///< with a Problem: the file cannot be opened or locked
    };

    NameLock() = default;
    ~NameLock();

    NameLock(const NameLock&) = delete;
    NameLock& operator=(const NameLock&) = delete;

    [[nodiscard]] Result take(std::string path, Problems& problems);

    [[nodiscard]] bool taken() const { return file_.valid(); }

  private:
    std::string path_;
    nic::FileDescriptor file_;
};

class MemoryFile {
  public:
    /// Creates the file, and removes that of an earlier start which has no writer any more, or
    /// leaves that to link(). Null, with a Problem: another process publishes under this name, or
    /// there is too little space.
    [[nodiscard]] static std::unique_ptr<MemoryFile> make(MemoryPlan plan, Problems& problems);

    /// Marks the feed as ended, and removes the file unless it is kept. Readers keep their mapping.
    ~MemoryFile();

    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    /// The memory of a core, in the order of the plan.
    [[nodiscard]] CoreMemory core(std::size_t index);

    /// Readers may attach: all cores have started.
    void set_live();

    /// For a plan with `linked_later`: readers find this file, and that of the earlier start is
    /// removed. False, with a Problem.
    [[nodiscard]] bool link(Problems& problems);

    /// To be called about every millisecond. Wakes readers that wait for the stream, if a core
    /// wrote to it since the last call.
    void wake_readers();

    /// To be called after wake_readers(). Gives ids to some series that have none; end() gives them
    /// to all the rest.
    void give_ids();

    [[nodiscard]] std::size_t bytes() const { return bytes_; }

    /// The time of the start, which identifies the file.
    [[nodiscard]] std::int64_t start_ns() const { return start_ns_; }

    [[nodiscard]] const std::string& path() const { return path_; }

    /// Readers that were woken so far. Any thread.
    [[nodiscard]] std::uint64_t woken() const {
        return woken_.load(std::memory_order_relaxed);  // relaxed: no data depends on it
    }

    /// The position of a core's stream: records written so far. Any thread.
    [[nodiscard]] std::uint64_t stream_records(std::size_t core) const;

    /// What does not prevent the publication: ids that a restart changes. Any thread.
    [[nodiscard]] std::vector<std::string> remarks() const;

    /// Bytes of a file of this plan.
    [[nodiscard]] static std::size_t bytes_for(const MemoryPlan& plan);

  private:
    /// How far give_ids() has come.
    struct IdPass {
        std::vector<std::size_t> known;  ///< by core: the first record that was never looked at
        std::size_t core = 0;  ///< with `record`: the next one of the pass over all records
        std::size_t record = 1;
    };

    explicit MemoryFile(MemoryPlan plan);

    [[nodiscard]] std::string ids_path() const;
    bool create(Problems& problems);
    bool map(Problems& problems);
    bool allocate(Problems& problems);
    void prefer_nodes();
    void end();
    void write_header();
    void give_ids(std::size_t core_index, std::size_t first, std::size_t end);
    [[nodiscard]] std::size_t used_records(std::size_t core) const;
    [[nodiscard]] std::size_t complete_records(std::size_t core_index) const;

    [[nodiscard]] pinstrike_header& header() const;
    [[nodiscard]] pinstrike_core& core_header(std::size_t index) const;

    MemoryPlan plan_;
    std::size_t bytes_ = 0;
    std::size_t page_bytes_ = ordinary_page_bytes;
    std::int64_t start_ns_ = 0;
    std::string link_;
    NameLock name_;
    std::string path_;
    nic::FileDescriptor file_;
    std::byte* at_ = nullptr;
    bool linked_ = false;           ///< readers may map the file
    std::uint64_t seen_tails_ = 0;  ///< sum of the streams' positions at the last call
    std::atomic<std::uint64_t> woken_{0};
    std::optional<SeriesIds> ids_;
    IdPass pass_;
};

/// Removes the memory that a feed left. False, with a Problem: there is none, or a process
/// publishes under this name.
bool forget_memory(const std::string& feed, Problems& problems);

}  // namespace pinstrike::actors
