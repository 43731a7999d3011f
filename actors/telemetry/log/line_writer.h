// path: cold
//
// Writes text to a descriptor without stopping or blocking the caller. If the disk is full, or
// the pipe is closed or not read, the text is lost.
#pragma once

#include <string_view>

namespace pinstrike::actors {

class LineWriter {
  public:
    explicit LineWriter(int descriptor) : descriptor_(descriptor) {}

    /// Writes whole lines. False: a part was not written, because the descriptor failed or accepted
    /// nothing for `patience_ms`. SIGPIPE must be ignored.
    [[nodiscard]] bool write(std::string_view text, int patience_ms = 0);

  private:
    [[nodiscard]] bool put(std::string_view text, int patience_ms);

    int descriptor_;
    bool torn_ = false;  ///< the last line was cut off, so the next starts a new one
};

/// Whether the descriptor goes to systemd's journal. JOURNAL_STREAM has the "device:inode" of the
/// journal's stream; child processes inherit the variable even if their output goes elsewhere.
[[nodiscard]] bool is_journal(int descriptor);

}  // namespace pinstrike::actors
