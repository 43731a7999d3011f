// path: cold
#include "actors/command/output_file.h"

#include "actors/command/print_problems.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace pinstrike::command {

bool write_text(const std::string& path, const std::string& text) {
    std::FILE* file = path == "-" ? stdout : std::fopen(path.c_str(), "w");
    bool written = file != nullptr;
    written = written && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    written = written && std::fflush(file) == 0;
    if (file != nullptr && file != stdout) {
        written = std::fclose(file) == 0 && written;
    }
    if (!written) {
        std::perror(("pinstrike: " + path).c_str());
    }
    return written;
}

bool can_write(const std::string& path) {
    if (path.empty() || path == "-") {
        return true;
    }
    constexpr unsigned for_all = 0666;
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, for_all);
    if (file >= 0) {
        ::close(file);
        return true;
    }
    if (errno == ENXIO) {  // a pipe that nobody reads yet
        return true;
    }
    complain("{}: {}", path, std::strerror(errno));
    return false;
}

}  // namespace pinstrike::command
