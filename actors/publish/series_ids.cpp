// path: cold
#include "actors/publish/series_ids.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <type_traits>
#include <utility>

namespace pinstrike::actors {
namespace {

/// The head of the file. Behind it are the series, the first with the id `listed` + 1.
struct Head {
    std::array<char, 8> magic{'P', 'S', 'I', 'D', 'S', '0', '0', '1'};
    std::uint32_t trade_date = 0;
    std::uint32_t listed = 0;

    friend bool operator==(const Head&, const Head&) = default;
};

static_assert(sizeof(Head) == 16 && std::is_trivially_copyable_v<Head>);

/// A write that is cut short states no error: the file system is full.
template <class T>
bool write_one(int descriptor, const T& value) {
    errno = ENOSPC;
    return ::write(descriptor, &value, sizeof value) == static_cast<ssize_t>(sizeof value);
}

}  // namespace

SeriesIds::SeriesIds(std::string file, std::uint32_t trade_date,
                     std::vector<feed::SeriesKey> listed)
    : listed_(std::move(listed)) {
    if (file.empty() || trade_date == 0) {
        return;
    }
    constexpr mode_t mode = S_IRUSR | S_IWUSR | S_IRGRP;
    file_ =
        nic::FileDescriptor{::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode)};
    Head head;
    const bool same =
        file_.valid() &&
        ::read(file_.get(), &head, sizeof head) == static_cast<ssize_t>(sizeof head) &&
        head == Head{.trade_date = trade_date, .listed = listed_count()};
    if (same) {
        read_kept();
    } else {
        begin_file(trade_date);
    }
}

/// The last series may be cut, if the process was killed; it is written again.
void SeriesIds::read_kept() {
    feed::SeriesKey key;
    while (::read(file_.get(), &key, sizeof key) == static_cast<ssize_t>(sizeof key)) {
        ids_.try_emplace(key, listed_count() + static_cast<std::uint32_t>(ids_.size()) + 1);
    }
    const auto end = static_cast<off_t>(sizeof(Head) + ids_.size() * sizeof key);
    if (::ftruncate(file_.get(), end) != 0 || ::lseek(file_.get(), end, SEEK_SET) != end) {
        give_up();
    }
}

/// Keeps no more ids, for the reason in `errno`.
void SeriesIds::give_up() {
    error_.store(errno, std::memory_order_relaxed);  // relaxed: no data depends on it
    file_ = nic::FileDescriptor{};
}

void SeriesIds::begin_file(std::uint32_t trade_date) {
    const bool begun =
        file_.valid() && ::ftruncate(file_.get(), 0) == 0 &&
        ::lseek(file_.get(), 0, SEEK_SET) == 0 &&
        write_one(file_.get(), Head{.trade_date = trade_date, .listed = listed_count()});
    if (!begun) {
        give_up();
    }
}

/// The book sets the ids of the list itself, when it announces the series. It forgets a series that
/// has no message for a day, which may come again.
std::uint32_t SeriesIds::id_of(const feed::SeriesKey& key) {
    const auto found = std::ranges::lower_bound(listed_, key, feed::comes_before);
    if (found != listed_.end() && *found == key) {
        return static_cast<std::uint32_t>(found - listed_.begin()) + 1;
    }
    const auto [at, fresh] =
        ids_.try_emplace(key, listed_count() + static_cast<std::uint32_t>(ids_.size()) + 1);
    if (fresh && file_.valid() && !write_one(file_.get(), key)) {
        give_up();
    }
    return at->second;
}

}  // namespace pinstrike::actors
