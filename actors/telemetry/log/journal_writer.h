// path: cold
//
// Entries for systemd's journal as fields, so that they are found by code and subject:
//
//     journalctl -u pinstrike@opra PINSTRIKE_CODE=gap_declared PINSTRIKE_SUBJECT="line 3"
//
// The native protocol is a datagram of "FIELD=value" lines, documented and stable (systemd.io,
// "Native Journal Protocol"). systemd's library would block while the journal is slow, and this
// class does not.
#pragma once

#include <string>
#include <string_view>

namespace pinstrike::actors {

class JournalWriter {
  public:
    static constexpr const char* usual_socket = "/run/systemd/journal/socket";

    /// Connects. If no journal listens, takes() is false. To be made before rights are dropped.
    explicit JournalWriter(const std::string& socket = usual_socket);
    ~JournalWriter();

    JournalWriter(const JournalWriter&) = delete;
    JournalWriter& operator=(const JournalWriter&) = delete;

    [[nodiscard]] bool takes() const { return socket_ >= 0; }

    /// The texts must not contain newlines. False: the journal's socket is full or gone.
    [[nodiscard]] bool write(int priority, std::string_view code, std::string_view subject,
                             std::string_view message) const;

  private:
    int socket_ = -1;
};

}  // namespace pinstrike::actors
