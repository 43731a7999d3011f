// path: cold
#include "actors/publish/memory_file.h"

#include "actors/publish/layout_hash.h"
#include "actors/publish/publish_folder.h"
#include "config/memory_sizes.h"
#include "config/version.h"
#include "config/wall_time.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bitset>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace pinstrike::actors {
namespace {

constexpr std::size_t nodes_max = 1024;
constexpr mode_t new_mode = S_IRUSR | S_IWUSR;  ///< until the file is locked
constexpr mode_t file_mode = new_mode | S_IRGRP;

std::string reason(const char* what) {
    return fmt::format("{}: {}", what, std::strerror(errno));
}

/// Removes files of earlier starts that have no writer, except one.
void remove_dead(const std::string& folder, const std::string& feed, const std::string& except) {
    for (const std::string& path : files_of(folder, feed)) {
        if (path != except && !has_writer(path)) {
            ::unlink(path.c_str());
        }
    }
}

/// Locks a file against other processes, until it is closed. False: one of them has the lock.
bool lock_whole(int descriptor) {
    struct flock lock {};

    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return ::fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}

/// A file of the writer beside the link. No feed has a name that begins with a dot.
std::string beside(const std::string& folder, const std::string& feed, const char* suffix) {
    return fmt::format("{}/.{}.{}", folder, feed, suffix);
}

/// Readers accept the same names.
bool can_publish_as(const std::string& feed, Problems& problems) {
    constexpr std::size_t name_max = sizeof(pinstrike_header::feed) - 1;
    const bool good = !feed.empty() && feed.size() <= name_max && feed.front() != '.' &&
                      feed.find('/') == std::string::npos;
    if (!good) {
        add_problem(problems, "name",
                    fmt::format("found \"{}\", expected 1 to {} characters, no '/', and no '.' at "
                                "the beginning for a feed that publishes memory",
                                feed, name_max));
    }
    return good;
}

}  // namespace

NameLock::Result NameLock::take(std::string path, Problems& problems) {
    const auto failed = [&] {
        add_problem(problems, path, reason("cannot lock the name"), remedy_of(errno));
        return Result::failed;
    };
    while (true) {
        nic::FileDescriptor opened{
            ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, new_mode)};
        if (!opened.valid()) {
            return failed();
        }
        if (!lock_whole(opened.get())) {
            return errno == EAGAIN || errno == EACCES ? Result::held : failed();
        }

        struct stat status {};

        if (::fstat(opened.get(), &status) != 0 || status.st_nlink != 0) {
            file_ = std::move(opened);
            path_ = std::move(path);
            return Result::taken;
        }
    }  // its owner has just removed it
}

NameLock::~NameLock() {
    if (taken()) {
        ::unlink(path_.c_str());
    }
}

MemoryFile::MemoryFile(MemoryPlan plan)
    : plan_(std::move(plan)),
      bytes_(bytes_for(plan_)),
      start_ns_(wall_ns()),
      pass_{std::vector<std::size_t>(plan_.cores.size(), 1)} {}

std::size_t MemoryFile::bytes_for(const MemoryPlan& plan) {
    std::uint64_t at = sizeof(pinstrike_header) + plan.cores.size() * sizeof(pinstrike_core);
    for (std::size_t i = 0; i < plan.cores.size(); ++i) {
        pinstrike_core core{};
        at = lay_out(core, plan.shape, at);
    }
    return (at + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
}

std::unique_ptr<MemoryFile> MemoryFile::make(MemoryPlan plan, Problems& problems) {
    std::unique_ptr<MemoryFile> made{new MemoryFile{std::move(plan)}};
    if (!made->create(problems) || !made->map(problems) || !made->allocate(problems)) {
        return nullptr;
    }
    made->write_header();
    made->ids_.emplace(
        made->plan_.kept || !made->plan_.gives_ids ? std::string{} : made->ids_path(),
        made->plan_.trade_date, std::exchange(made->plan_.listed, {}));
    return made->plan_.linked_later || made->link(problems) ? std::move(made) : nullptr;
}

/// Creates and locks the file.
bool MemoryFile::create(Problems& problems) {
    if (!can_publish_as(plan_.feed, problems)) {
        return false;
    }
    const std::string folder = publish_folder(problems);
    if (folder.empty()) {
        return false;
    }
    link_ = folder + '/' + plan_.feed;
    const std::string before = target_of(link_);
    const NameLock::Result locked = name_.take(beside(folder, plan_.feed, "lock"), problems);
    if (locked == NameLock::Result::failed) {
        return false;
    }
    if (locked == NameLock::Result::held || (!before.empty() && has_writer(before))) {
        add_problem(
            problems, link_,
            fmt::format("another process publishes as {}, or removes its memory; expected another "
                        "name, or the end of that process",
                        plan_.feed),
            Remedy::retry);
        return false;
    }
    if (!before.empty() && !plan_.linked_later) {
        ::unlink(before.c_str());
    }
    const std::string home = file_folder(plan_.memory, folder, problems);
    if (home.empty()) {
        return false;
    }
    remove_dead(home, plan_.feed, plan_.linked_later ? before : "");
    path_ = fmt::format("{}/{}.{}", home, plan_.feed, start_ns_);
    file_ = nic::FileDescriptor{
        ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, new_mode)};
    if (!file_.valid() || !lock_whole(file_.get()) || ::fchmod(file_.get(), file_mode) != 0) {
        add_problem(problems, path_, reason("cannot create the published memory"),
                    remedy_of(errno));
        return false;
    }
    return true;
}

bool MemoryFile::map(Problems& problems) {
    struct statfs space {};

    if (::fstatfs(file_.get(), &space) == 0 && space.f_bsize > 0) {
        page_bytes_ = static_cast<std::size_t>(space.f_bsize);  // huge pages may have 1 GiB
        bytes_ = (bytes_ + page_bytes_ - 1) / page_bytes_ * page_bytes_;
    }
    void* const mapped =
        ::ftruncate(file_.get(), static_cast<off_t>(bytes_)) == 0
            ? ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0)
            : MAP_FAILED;
    if (mapped == MAP_FAILED) {
        add_problem(problems, path_, reason("cannot map the published memory"), Remedy::retry);
        return false;
    }
    at_ = static_cast<std::byte*>(mapped);
    return true;
}

/// Huge pages and NUMA nodes are chosen when a page is allocated, so the advice comes before.
/// Writing by madvise() fails where an ordinary write would raise SIGBUS.
bool MemoryFile::allocate(Problems& problems) {
    (void)::madvise(at_, bytes_, MADV_HUGEPAGE);  // works if the mount has the option huge=advise
    prefer_nodes();
    if (::madvise(at_, bytes_, MADV_POPULATE_WRITE) == 0) {
        return true;
    }
    errno = errno == EFAULT ? ENOSPC : errno;
    add_problem(problems, path_,
                fmt::format("cannot allocate {} bytes: {}; readers may still map the memory of an "
                            "earlier start",
                            bytes_, std::strerror(errno)),
                Remedy::retry);
    return false;
}

/// The control thread allocates the pages of all cores, so it says on which node each should be.
/// The kernel takes another node if that has no page left.
void MemoryFile::prefer_nodes() {
    std::uint64_t at = sizeof(pinstrike_header) + plan_.cores.size() * sizeof(pinstrike_core);
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
        pinstrike_core core{};
        const std::uint64_t end = lay_out(core, plan_.shape, at);
        const std::uint64_t begin = core.entries.at / page_bytes_ * page_bytes_;
        at = end;
        std::bitset<nodes_max> mask;
        if (plan_.nodes[i] < 0 || static_cast<std::size_t>(plan_.nodes[i]) >= nodes_max) {
            continue;
        }
        mask.set(static_cast<std::size_t>(plan_.nodes[i]));
        // Advice only: a kernel or container without NUMA policies has this call refused.
        (void)::syscall(SYS_mbind, at_ + begin, end - begin, MPOL_PREFERRED, &mask, nodes_max + 1,
                        0);
    }
}

pinstrike_header& MemoryFile::header() const {
    return *reinterpret_cast<pinstrike_header*>(at_);  // tidy: mapped memory
}

pinstrike_core& MemoryFile::core_header(std::size_t index) const {
    auto* const cores =
        reinterpret_cast<pinstrike_core*>(at_ + sizeof(pinstrike_header));  // tidy: mapped memory
    return cores[index];
}

void MemoryFile::write_header() {
    pinstrike_header& header = this->header();
    std::memcpy(header.magic, PINSTRIKE_MAGIC, sizeof header.magic);
    header.byte_order = PINSTRIKE_BYTE_ORDER;
    header.major = PINSTRIKE_LAYOUT_MAJOR;
    header.minor = PINSTRIKE_LAYOUT_MINOR;
    header.layout_hash = layout_hash();
    header.file_bytes = bytes_;
    header.header_bytes = sizeof(pinstrike_header);
    header.core_bytes = sizeof(pinstrike_core);
    header.cores_count = static_cast<std::uint32_t>(plan_.cores.size());
    header.state = PINSTRIKE_STARTING;
    header.start_ns = start_ns_;
    header.trade_date = plan_.trade_date;
    header.sharding = plan_.by_underlying ? 1 : 0;
    header.number_last = plan_.number_last;
    plan_.feed.copy(header.feed, sizeof header.feed - 1);
    std::string{version}.copy(header.build, sizeof header.build - 1);
    std::uint64_t at = sizeof(pinstrike_header) + plan_.cores.size() * sizeof(pinstrike_core);
    for (std::size_t i = 0; i < plan_.cores.size(); ++i) {
        pinstrike_core& core = core_header(i);
        plan_.cores[i].copy(core.name, sizeof core.name - 1);
        at = lay_out(core, plan_.shape, at);
    }
}

/// Replaces the link as a whole, so that a reader finds the old file or the new one.
bool MemoryFile::link(Problems& problems) {
    const std::filesystem::path link{link_};
    const std::string before = target_of(link_);
    const std::string fresh = beside(link.parent_path(), plan_.feed, "new");
    ::unlink(fresh.c_str());
    const std::filesystem::path file{path_};
    // Beside the link, the name alone is right in every container that has the folder.
    const std::string target =
        file.parent_path() == link.parent_path() ? file.filename().string() : path_;
    if (::symlink(target.c_str(), fresh.c_str()) != 0 ||
        ::rename(fresh.c_str(), link_.c_str()) != 0) {
        add_problem(problems, link_, reason("cannot create the link to the published memory"),
                    remedy_of(errno));
        return false;
    }
    linked_ = true;
    if (!before.empty()) {
        ::unlink(before.c_str());
    }
    return true;
}

/// A start that failed before link() has no readers. It may not have the page of the header, so it
/// writes nothing. A file that was never live is removed, even if the plan keeps files.
MemoryFile::~MemoryFile() {
    const bool stays = linked_ && plan_.kept && header().state == PINSTRIKE_LIVE;
    if (linked_) {
        end();
    }
    if (at_ != nullptr) {
        ::munmap(at_, bytes_);
    }
    if (file_.valid() && !stays) {
        ::unlink(path_.c_str());
        if (target_of(link_) == path_) {
            ::unlink(link_.c_str());
        }
    }
    if (name_.taken() && !linked_ && ::access(link_.c_str(), F_OK) != 0 && errno == ENOENT) {
        ::unlink(link_.c_str());  // create() removed its file, so it names no feed any more
    }
}

/// Gives ids to the latest series too, and tells the readers.
void MemoryFile::end() {
    for (std::size_t core = 0; core < plan_.cores.size(); ++core) {
        give_ids(core, 1, used_records(core));
    }
    std::atomic_ref<std::uint32_t>{header().state}.store(PINSTRIKE_ENDED,
                                                         std::memory_order_release);
    ++seen_tails_;  // so that waiting readers learn of the end
    wake_readers();
}

/// In the service's folder of state, which a restart of the host does not empty; otherwise beside
/// the link.
std::string MemoryFile::ids_path() const {
    const char* const states =
        ::secure_getenv("STATE_DIRECTORY");  // by systemd: FOLDER[:FOLDER...]
    const std::string folder = states != nullptr && *states != '\0'
                                   ? std::string{states, std::strcspn(states, ":")}
                                   : std::filesystem::path{link_}.parent_path().string();
    return beside(folder, plan_.feed, "ids");
}

CoreMemory MemoryFile::core(std::size_t index) {
    return {core_header(index), at_};
}

void MemoryFile::set_live() {
    std::atomic_ref<std::uint32_t>{header().state}.store(PINSTRIKE_LIVE, std::memory_order_release);
}

/// The word rises before the wake-up. A reader reads the word before it looks at the streams and
/// sleeps only if the word is still the same, so it misses no record for longer than a call.
void MemoryFile::wake_readers() {
    std::uint64_t tails = 0;
    for (std::size_t i = 0; i < plan_.cores.size(); ++i) {
        tails += stream_records(i);
    }
    if (tails == std::exchange(seen_tails_, tails)) {
        return;
    }
    std::uint32_t& wake = header().wake;
    std::atomic_ref<std::uint32_t>{wake}.fetch_add(1, std::memory_order_release);
    const long woken = ::syscall(SYS_futex, &wake, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    // Relaxed: one thread adds, and no data depends on the count.
    woken_.fetch_add(woken > 0 ? static_cast<std::uint64_t>(woken) : 0, std::memory_order_relaxed);
}

std::vector<std::string> MemoryFile::remarks() const {
    const int error = ids_ ? ids_->error() : 0;
    if (error == 0) {
        return {};
    }
    return {
        fmt::format("{}: ids of series that are not on the day's list change at a restart, "
                    "because they cannot be written to a file: {}",
                    plan_.feed, std::strerror(error))};
}

/// Acquire: whoever wakes readers for these records does so after they were written.
std::uint64_t MemoryFile::stream_records(std::size_t core) const {
    return std::atomic_ref<std::uint64_t>{core_header(core).tail}.load(std::memory_order_acquire);
}

/// Looks at a few series of the directory at each call, so that a pass over two million takes about
/// two seconds.
void MemoryFile::give_ids() {
    constexpr std::size_t series_each_call = 1024;
    std::size_t budget = 4 * series_each_call;
    for (std::size_t core = 0; core < plan_.cores.size(); ++core) {  // the latest records first
        std::size_t& known = pass_.known[core];
        const std::size_t count = std::min(budget, complete_records(core) - known);
        give_ids(core, known, known + count);
        known += count;
        budget -= count;
    }
    // A record that a removed series had may have another series now, so all are looked at in turn.
    const std::size_t end = pass_.known[pass_.core];
    const std::size_t count = std::min(series_each_call, end - std::min(pass_.record, end));
    give_ids(pass_.core, pass_.record, pass_.record + count);
    pass_.record += count;
    if (pass_.record >= end) {
        pass_.record = 1;
        pass_.core = (pass_.core + 1) % plan_.cores.size();
    }
}

/// One past the last record of a core's directory that a series has or had.
std::size_t MemoryFile::used_records(std::size_t core) const {
    const std::atomic_ref<std::uint32_t> count{core_header(core).series_count};
    return count.load(std::memory_order_acquire) + 1;
}

/// The same without a last record that its core is writing now.
std::size_t MemoryFile::complete_records(std::size_t core_index) const {
    const std::size_t end = used_records(core_index);
    const auto series = CoreMemory{core_header(core_index), at_}.span<pinstrike_series>(
        core_header(core_index).series);
    const std::atomic_ref<std::uint64_t> name{series[end - 1].name};
    const bool is_known = end - 1 < pass_.known[core_index];
    return is_known || name.load(std::memory_order_acquire) != 0 ? end : end - 1;
}

/// Gives ids to the series of some records of a core.
void MemoryFile::give_ids(std::size_t core_index, std::size_t first, std::size_t end) {
    if (!plan_.gives_ids) {
        return;
    }
    const CoreMemory memory = core(core_index);
    const auto series = memory.span<pinstrike_series>(memory.core().series);
    for (pinstrike_series& one : series.subspan(first, end - first)) {
        const std::atomic_ref<std::uint32_t> id{one.id};
        const std::atomic_ref<std::uint64_t> name{one.name};
        const std::uint64_t named = name.load(std::memory_order_acquire);
        if (named == 0 || id.load(std::memory_order_relaxed) != 0) {
            continue;
        }
        const feed::SeriesKey key{
            named, std::atomic_ref<std::int64_t>{one.strike_e8}.load(std::memory_order_relaxed)};
        // The core may replace the series at any time. An id that it sets itself stays, and one
        // that was given to the series before is taken back; the new series gets its own in a later
        // pass.
        std::uint32_t none = 0;
        std::uint32_t given = ids_->id_of(key);
        const bool set = id.compare_exchange_strong(none, given, std::memory_order_acq_rel);
        if (set && (name.load(std::memory_order_acquire) != named ||
                    std::atomic_ref<std::int64_t>{one.strike_e8}.load(std::memory_order_relaxed) !=
                        key.strike_e8)) {
            (void)id.compare_exchange_strong(given, 0, std::memory_order_acq_rel);
        }
    }
}

namespace {

/// The folder of the package's user is not searched: a process of another user follows no links
/// there.
std::string hint_for(const std::string& feed, const std::string& folder) {
    const std::string packaged = fmt::format("{}/{}", published_shm_folder, feed);
    const bool exists = folder != published_shm_folder && !target_of(packaged).empty();
    return exists ? fmt::format("; {} is the service's: sudo -u pinstrike pinstrike forget {}",
                                packaged, feed)
                  : "";
}

}  // namespace

bool forget_memory(const std::string& feed, Problems& problems) {
    const std::string folder = publish_folder(problems);
    if (folder.empty()) {
        return false;
    }
    if (!can_publish_as(feed, problems)) {
        return false;
    }
    const std::string link = folder + '/' + feed;
    const auto refuse = [&] {
        add_problem(problems, link, "a process publishes under this name; stop it first",
                    Remedy::retry);
        return false;
    };
    NameLock name;  // a start has no writer's lock on its file before it is created
    const NameLock::Result locked = name.take(beside(folder, feed, "lock"), problems);
    if (locked != NameLock::Result::taken) {
        return locked == NameLock::Result::held ? refuse() : false;
    }
    std::vector<std::string> files = files_of(folder, feed);
    std::ranges::move(files_of(huge_file_folder(), feed), std::back_inserter(files));
    if (const std::string target = target_of(link); !target.empty()) {
        files.push_back(target);  // may lie in a hugetlbfs that was mounted elsewhere
    }
    if (files.empty()) {
        add_problem(problems, link,
                    "no memory is published or left under this name" + hint_for(feed, folder));
        return false;
    }
    if (std::ranges::any_of(files, has_writer)) {
        return refuse();
    }
    for (const std::string& file : files) {
        ::unlink(file.c_str());
    }
    ::unlink(link.c_str());
    ::unlink(beside(folder, feed, "ids").c_str());
    return true;
}

}  // namespace pinstrike::actors
