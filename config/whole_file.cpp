// path: cold
#include "config/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace pinstrike {
namespace {

namespace fs = std::filesystem;

constexpr mode_t permissions = 07777;

/// The mode of the existing file at `path`, or the default mode of a new file.
mode_t mode_for(const std::string& path) {
    struct stat there {};

    if (::stat(path.c_str(), &there) == 0) {
        return there.st_mode & permissions;
    }
    const mode_t mask = ::umask(0);
    ::umask(mask);
    constexpr mode_t for_all = 0666;
    return for_all & ~mask;
}

/// Returns 0 or the errno.
int sync(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return errno;
    }
    // On some file systems fsync of a folder fails with EINVAL, because they have nothing to sync.
    const int error = ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
    ::close(descriptor);
    return error;
}

}  // namespace

bool is_written_directly(const std::string& path) {
    // /dev/stdout may refer to a regular file. A rename would replace that file, and not write to
    // the open one.
    const bool by_descriptor =
        (path.starts_with("/dev/") && !path.starts_with("/dev/shm/")) || path.starts_with("/proc/");
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    return by_descriptor || (fs::exists(status) && !fs::is_regular_file(status));
}

WholeFile::WholeFile(const std::string& path, bool for_owner_only) : path_(path) {
    if (is_written_directly(path)) {
        where_ = path;
        return;
    }
    std::error_code ignored;
    if (const fs::path real = fs::canonical(path, ignored); !real.empty()) {
        path_ = real.string();
        if (::access(path_.c_str(), W_OK) != 0) {
            error_ = errno;
            return;
        }
    }
    // The temporary file keeps the extension because it selects the format.
    const fs::path place{path_};
    const std::string name = place.filename().string();
    std::string beside = (place.parent_path() / (".XXXXXX." + name)).string();
    const int descriptor = ::mkstemps(beside.data(), static_cast<int>(name.size() + 1));
    if (descriptor < 0) {
        error_ = errno;
        return;
    }
    where_ = std::move(beside);
    made_ = true;
    if (!for_owner_only) {  // mkstemps made it so
        error_ = ::fchmod(descriptor, mode_for(path_)) == 0 ? 0 : errno;
    }
    ::close(descriptor);
}

WholeFile::~WholeFile() {
    if (made_) {
        ::unlink(where_.c_str());
    }
}

bool WholeFile::commit() {
    if (made_ && error_ == 0) {
        error_ = sync(where_);
    }
    if (made_ && error_ == 0) {
        error_ = ::rename(where_.c_str(), path_.c_str()) == 0 ? 0 : errno;
        made_ = error_ != 0;
        const fs::path folder = fs::path{path_}.parent_path();
        // A failure is ignored, because it does not undo the rename.
        static_cast<void>(sync(folder.empty() ? "." : folder.string()));
    }
    errno = error_;
    return error_ == 0;
}

bool write_whole(const std::string& path, const std::function<bool(std::FILE*)>& put) {
    if (path == "-") {
        return put(stdout) && std::fflush(stdout) == 0;
    }
    WholeFile whole{path};
    if (whole.error() != 0) {
        errno = whole.error();
        return false;
    }
    std::FILE* file = std::fopen(whole.where().c_str(), "w");
    if (file == nullptr) {
        return false;
    }
    const int error = put(file) && std::fflush(file) == 0 ? 0 : errno;
    if (std::fclose(file) == 0 && error == 0) {
        return whole.commit();
    }
    errno = error != 0 ? error : errno;
    return false;
}

}  // namespace pinstrike
