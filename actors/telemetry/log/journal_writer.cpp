// path: cold
#include "actors/telemetry/log/journal_writer.h"

#include <fmt/format.h>
#include <sys/socket.h>

namespace pinstrike::actors {

bool JournalWriter::write(int priority, std::string_view code, std::string_view subject,
                          std::string_view message) const {
    const std::string entry = fmt::format(
        "PRIORITY={}\nSYSLOG_IDENTIFIER=pinstrike\nPINSTRIKE_CODE={}\nPINSTRIKE_SUBJECT={}\n"
        "MESSAGE={}\n",
        priority, code, subject, message);
    return ::send(socket_.get(), entry.data(), entry.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
           static_cast<ssize_t>(entry.size());
}

}  // namespace pinstrike::actors
