// path: cold
#include "actors/command/support/archive.h"

#include "config/whole_file.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <cerrno>
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

bool write_all(const std::string& path, const std::string& folder, const std::vector<Part>& parts,
               std::string& complaint) {
    const Writer writer{archive_write_new()};
    bool written = archive_write_add_filter_gzip(writer.get()) == ARCHIVE_OK &&
                   archive_write_set_format_pax_restricted(writer.get()) == ARCHIVE_OK &&
                   archive_write_open_filename(writer.get(), path.c_str()) == ARCHIVE_OK;
    for (const Part& part : parts) {
        written = written && (!part.absent.empty() ||
                              add_file(writer.get(), folder + "/" + part.name, part.text));
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
                   const std::vector<Part>& parts, std::string& complaint) {
    WholeFile whole{path, true};
    if (whole.error() == 0 && !write_all(whole.where(), folder, parts, complaint)) {
        return false;
    }
    if (!whole.commit()) {
        complaint = std::strerror(errno);
        return false;
    }
    return true;
}

}  // namespace pinstrike::actors::support
