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

#include "actors/host/service/datagram_socket.h"
#include "nic/file_descriptor.h"

#include <string>
#include <string_view>

namespace pinstrike::actors {

class JournalWriter {
  public:
    static constexpr const char* usual_socket = "/run/systemd/journal/socket";

    /// Connects. If no journal listens, takes() is false. To be made before rights are dropped.
    explicit JournalWriter(const std::string& socket = usual_socket)
        : socket_(connected_datagram_socket(socket)) {}

    [[nodiscard]] bool takes() const { return socket_.valid(); }

    /// The texts must not contain newlines. False: the journal's socket is full or gone.
    [[nodiscard]] bool write(int priority, std::string_view code, std::string_view subject,
                             std::string_view message) const;

  private:
    nic::FileDescriptor socket_;
};

}  // namespace pinstrike::actors
