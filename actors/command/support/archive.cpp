// path: cold
#include "actors/command/support/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>

namespace pinstrike::actors::support {

namespace {

struct FreeArchive {
    void operator()(archive* writer) const { archive_write_free(writer); }
};

struct FreeEntry {
    void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

using Writer = std::unique_ptr<archive, FreeArchive>;

bool add_file(archive* writer, const std::string& name, const std::string& text) {
    constexpr unsigned owner_reads = 0600;
    const std::unique_ptr<archive_entry, FreeEntry> entry{archive_entry_new()};
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(text.size()));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), owner_reads);
    archive_entry_set_mtime(entry.get(), std::time(nullptr), 0);
    return archive_write_header(writer, entry.get()) == ARCHIVE_OK &&
           archive_write_data(writer, text.data(), text.size()) ==
               static_cast<la_ssize_t>(text.size());
}

bool write_all(int file, const std::string& folder, const std::vector<ArchiveFile>& files,
               std::string& complaint) {
    const Writer writer{archive_write_new()};
    bool written = archive_write_add_filter_gzip(writer.get()) == ARCHIVE_OK &&
                   archive_write_set_format_pax_restricted(writer.get()) == ARCHIVE_OK &&
                   archive_write_open_fd(writer.get(), file) == ARCHIVE_OK;
    for (const ArchiveFile& each : files) {
        written = written && add_file(writer.get(), folder + "/" + each.name, each.text);
    }
    written = written && archive_write_close(writer.get()) == ARCHIVE_OK;
    if (!written) {
        const char* said = archive_error_string(writer.get());
        complaint = said != nullptr ? said : "it cannot be written";
        // The message of the library does not always name the cause of a failed write, such as a
        // full disk.
        if (const int error = archive_errno(writer.get()); error > 0) {
            complaint += fmt::format(" ({})", std::strerror(error));
        }
    }
    return written;
}

}  // namespace

bool write_archive(const std::string& path, const std::string& folder,
                   const std::vector<ArchiveFile>& files, std::string& complaint) {
    std::string partial = path + ".XXXXXX";
    const int file = ::mkstemp(partial.data());
    if (file < 0) {
        complaint = std::strerror(errno);
        return false;
    }
    bool written = write_all(file, folder, files, complaint);
    if (written && ::fsync(file) != 0) {
        complaint = std::strerror(errno);
        written = false;
    }
    ::close(file);
    if (written && ::rename(partial.c_str(), path.c_str()) != 0) {
        complaint = std::strerror(errno);
        written = false;
    }
    if (!written) {
        ::unlink(partial.c_str());
    }
    return written;
}

}  // namespace pinstrike::actors::support
