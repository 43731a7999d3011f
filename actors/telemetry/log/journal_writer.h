// path: cold
//
// Entries for systemd's journal as fields, so that they are found by code and subject:
//
//     journalctl -u pinstrike@opra PINSTRIKE_CODE=gap_declared PINSTRIKE_SUBJECT="line 3"
//
// The native protocol is a datagram of "FIELD=value" lines, documented and stable (systemd.io,
// "Native Journal Protocol"). Its library would wait where the journal is slow; this does not.
#pragma once

#include <string>
#include <string_view>

namespace pinstrike::actors {

class JournalWriter {
  public:
    static constexpr const char* usual_socket = "/run/systemd/journal/socket";

    /// Connects; where nobody listens, takes() is false. Open it before rights are dropped.
    explicit JournalWriter(const std::string& socket = usual_socket);
    ~JournalWriter();

    JournalWriter(const JournalWriter&) = delete;
    JournalWriter& operator=(const JournalWriter&) = delete;

    [[nodiscard]] bool takes() const { return socket_ >= 0; }

    /// None of the texts has a newline. False: the journal had no room, or has gone.
    [[nodiscard]] bool write(int priority, std::string_view code, std::string_view subject,
                             std::string_view message) const;

  private:
    int socket_ = -1;
};

}  // namespace pinstrike::actors
