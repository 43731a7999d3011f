// path: cold
#include "actors/publish/reader/mapping.h"

#include "actors/publish/layout_hash.h"
#include "actors/publish/reader/error.h"
#include "actors/publish/reader/shared_words.h"
#include "feed/event/limits.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

namespace pinstrike::reader {
namespace {

constexpr std::size_t cores_max = 1024;
constexpr const char* package_folder = "/dev/shm/pinstrike";

struct Folder {
    std::string path;
    bool given = false;          ///< by the user, who trusts its owner
    const char* user = nullptr;  ///< of the packages, who may own it
};

std::vector<Folder> folders() {
    if (const char* const given = ::secure_getenv("PINSTRIKE_FOLDER"); given != nullptr) {
        return {{given, true}};
    }
    const std::string folder = package_folder;
    return {{folder, false, "pinstrike"},
            {folder + "-bridge", false, "pinstrike-bridge"},
            {folder + '-' + std::to_string(::geteuid())}};
}

/// A user of the packages; root if the host has no such user.
uid_t package_user(const char* name) {
    std::array<char, 4096> strings;

    struct passwd user {};
    struct passwd* found = nullptr;
    ::getpwnam_r(name, &user, strings.data(), strings.size(), &found);
    return found == nullptr ? 0 : user.pw_uid;
}

bool writable_by_others(const struct stat& status) {
    return (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

[[noreturn]] void fail(const std::string& path, const std::string& what) {
    throw Error(path + ": " + what);
}

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
    throw UnreadableMemory(path + ": " + what);
}

[[noreturn]] void fail_by_errno(const std::string& path, const char* what) {
    fail(path, std::string{what} + ": " + std::strerror(errno));
}

/// The link of a feed in a folder; empty: there is none. Sets the folder's owner.
std::string target_of(const Folder& folder, const std::string& feed, uid_t& owner) {
    const nic::FileDescriptor opened{::open(folder.path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (!opened.valid()) {
        return {};
    }
    std::array<char, PATH_MAX> target;
    const ssize_t length = ::readlinkat(opened.get(), feed.c_str(), target.data(), target.size());
    if (length <= 0) {
        if (errno == EACCES) {
            fail_by_errno(folder.path,
                          "this user is not in the group that may read published memory");
        }
        return {};
    }

    struct stat status {};

    if (::fstat(opened.get(), &status) != 0) {
        fail_by_errno(folder.path, "cannot examine the folder");
    }
    owner = status.st_uid;
    if (writable_by_others(status)) {
        fail(folder.path, "users other than its owner may write to the folder");
    }
    const bool of_package = folder.user != nullptr && owner == package_user(folder.user);
    if (!folder.given && owner != 0 && owner != ::geteuid() && !of_package) {
        fail(folder.path,
             "the folder belongs neither to root, nor to the package, nor to this user");
    }
    std::string path{target.data(), static_cast<std::size_t>(length)};
    return path.front() == '/' ? path : folder.path + '/' + path;
}

std::shared_ptr<const Mapping> map_file(const std::string& path, uid_t folder_owner) {
    nic::FileDescriptor file{
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)};
    if (!file.valid()) {
        if (errno == ENOENT) {
            fail(path, "no such published memory");
        }
        refuse(path, std::string{"cannot open the published memory: "} + std::strerror(errno));
    }

    struct stat status {};

    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        refuse(path, "not a file");
    }
    const uid_t owner = status.st_uid;
    if (writable_by_others(status) ||
        (owner != 0 && owner != ::geteuid() && owner != folder_owner)) {
        refuse(path, "the file belongs to another user, or other users may write to it");
    }
    const auto bytes = static_cast<std::size_t>(status.st_size);
    if (bytes < sizeof(pinstrike_header)) {
        refuse(path, "too short for published memory");
    }
    void* const mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
    if (mapped == MAP_FAILED) {
        refuse(path, std::string{"cannot map the published memory: "} + std::strerror(errno));
    }
    const std::span memory{static_cast<const std::byte*>(mapped), bytes};
    try {
        return std::make_shared<const Mapping>(std::move(file), memory);
    } catch (const Error& error) {
        refuse(path, error.what());
    }
}

void require(bool condition, const char* what) {
    if (!condition) {
        throw Error(std::string{"not the memory of a feed that this reader knows: "} + what);
    }
}

/// An array of a core, which must be in the memory as a whole.
template <class T>
std::span<const T> view(std::span<const std::byte> memory, const pinstrike_array& array) {
    constexpr std::size_t cache_line = 64;
    require(array.at % cache_line == 0 && array.at <= memory.size() &&
                array.count <= (memory.size() - array.at) / sizeof(T),
            "an array is not inside the file");
    return {reinterpret_cast<const T*>(memory.data() + array.at),  // tidy: mapped memory
            static_cast<std::size_t>(array.count)};
}

void check_counts(const CoreView& view) {
    require(view.lines.size() == feed::line_numbers, "the number of lines is wrong");
    require(!view.entries.empty() && view.entries.size() == view.groups.size() * group_slots &&
                view.entries.size() <= UINT32_MAX,
            "the size of the table is wrong");
    require(!view.series.empty() && view.series.size() == view.trades.size() &&
                view.series.size() <= PINSTRIKE_INDEX,
            "the size of the directory is wrong");
    require(std::has_single_bit(view.roots.size()), "the size of the table of roots is wrong");
    require(view.stream.empty() || std::has_single_bit(view.stream.size()),
            "the size of the stream is wrong");
}

}  // namespace

CoreView view_core(std::span<const std::byte> memory, std::size_t at, std::uint16_t index) {
    CoreView view;
    view.shared =
        reinterpret_cast<const pinstrike_core*>(memory.data() + at);  // tidy: mapped memory
    view.index = index;
    const pinstrike_core core = copy_shared(*view.shared);
    view.lines = reader::view<pinstrike_line>(memory, core.lines);
    view.entries = reader::view<pinstrike_entry>(memory, core.entries);
    view.groups = reader::view<pinstrike_group>(memory, core.groups);
    view.trades = reader::view<pinstrike_trades>(memory, core.trades);
    view.series = reader::view<pinstrike_series>(memory, core.series);
    view.roots = reader::view<pinstrike_root>(memory, core.roots);
    view.stream = reader::view<feed::Event>(memory, core.stream);
    check_counts(view);
    return view;
}

Mapping::Mapping(nic::FileDescriptor file, std::span<const std::byte> memory)
    : file_(std::move(file)), memory_(memory) {
    try {
        check();
    } catch (...) {
        ::munmap(const_cast<std::byte*>(memory.data()), memory.size());
        throw;
    }
}

Mapping::~Mapping() {
    if (file_.valid()) {
        ::munmap(const_cast<std::byte*>(memory_.data()), memory_.size());
    }
}

const pinstrike_header& Mapping::shared() const {
    return *reinterpret_cast<const pinstrike_header*>(memory_.data());  // tidy: mapped memory
}

void Mapping::check() {
    require(memory_.size() >= sizeof(pinstrike_header), "it is too short");
    const pinstrike_header header = copy_shared(shared());
    require(std::memcmp(header.magic, PINSTRIKE_MAGIC, sizeof header.magic) == 0,
            "it does not begin with PINSTRK");
    require(header.byte_order == PINSTRIKE_BYTE_ORDER, "it has another byte order");
    require(header.major == PINSTRIKE_LAYOUT_MAJOR,
            "it has another major version of the layout; install the library of the same release");
    require(header.layout_hash == actors::layout_hash() &&
                header.header_bytes == sizeof(pinstrike_header) &&
                header.core_bytes == sizeof(pinstrike_core),
            "its structs have other sizes or offsets");
    require(header.file_bytes == memory_.size(), "its size is not that of its header");
    require(header.cores_count >= 1 && header.cores_count <= cores_max &&
                sizeof header + header.cores_count * sizeof(pinstrike_core) <= memory_.size(),
            "the number of cores is wrong");
    for (std::uint32_t i = 0; i < header.cores_count; ++i) {
        cores_.push_back(view_core(memory_, sizeof header + i * sizeof(pinstrike_core),
                                   static_cast<std::uint16_t>(i)));
    }
    start_ns_ = header.start_ns;
    trade_date_ = header.trade_date;
}

bool Mapping::has_writer() const {
    if (!file_.valid()) {
        return true;
    }

    struct flock lock {};

    lock.l_type =
        F_RDLCK;  // conflicts with the writer's lock, not with those that readers can take
    lock.l_whence = SEEK_SET;
    return ::fcntl(file_.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

std::shared_ptr<const Mapping> Mapping::open(const std::string& feed) {
    constexpr std::size_t name_bytes = sizeof(pinstrike_header::feed);
    if (feed.empty() || feed.size() >= name_bytes || feed.front() == '.' ||
        feed.find('/') != std::string::npos) {
        throw Error("\"" + feed + "\" is not the name of a feed");
    }
    std::exception_ptr failure;
    for (const Folder& folder : folders()) {
        try {
            uid_t owner = 0;
            const std::string path = target_of(folder, feed, owner);
            if (!path.empty()) {
                return map_file(path, owner);
            }
        } catch (const Error&) {  // the user's own folder may have the feed all the same
            failure = failure == nullptr ? std::current_exception() : failure;
        }
    }
    if (failure != nullptr) {
        std::rethrow_exception(failure);
    }
    throw Error("no feed \"" + feed + "\" is published on this host");
}

std::vector<std::string> feed_names() {
    std::set<std::string> names;
    for (const Folder& folder : folders()) {
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator{folder.path, error}) {
            const std::string name = entry.path().filename().string();
            if (entry.is_symlink(error) && !name.starts_with('.')) {  // one that is being made
                names.insert(name);
            }
        }
    }
    return {names.begin(), names.end()};
}

}  // namespace pinstrike::reader
