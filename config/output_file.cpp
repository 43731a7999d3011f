// path: cold
#include "config/output_file.h"

#include "config/print_problems.h"
#include "config/whole_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace pinstrike {
bool write_text(const std::string& path, const std::string& text) {
    const bool written = write_whole(path, [&text](std::FILE* file) {
        return std::fwrite(text.data(), 1, text.size(), file) == text.size();
    });
    if (!written) {
        complain("{}: {}", path == "-" ? "standard output" : path, std::strerror(errno));
    }
    return written;
}

bool can_write(const std::string& path) {
    if (path.empty() || path == "-") {
        return true;
    }
    int error = 0;
    if (is_written_directly(path)) {
        // A pipe is not opened, because its reader would take the close for the end of the data.
        error = ::access(path.c_str(), W_OK) == 0 ? 0 : errno;
    } else {
        error = WholeFile{path}.error();
    }
    if (error != 0) {
        complain("{}: {}", path, std::strerror(error));
    }
    return error == 0;
}

bool overwrites_none(const std::vector<std::string>& outputs, std::vector<std::string> inputs) {
    bool good = true;
    for (const std::string& output : outputs) {
        if (output.empty() || output == "-" || is_written_directly(output)) {
            continue;
        }
        for (const std::string& input : inputs) {
            std::error_code ignored;  // the output may not exist yet
            const std::string path = input == "-" ? "/dev/stdin" : input;
            if (output == path || std::filesystem::equivalent(output, path, ignored)) {
                complain("{}: found {} again, expected another file: it would be overwritten",
                         output, input);
                good = false;
            }
        }
        inputs.push_back(output);
    }
    return good;
}

}  // namespace pinstrike
