// path: cold
//
// Text to standard error that neither stops nor holds up who writes it: a full disk, a closed pipe
// or one that nobody empties costs the text, not the program.
#pragma once

#include <cstdint>
#include <string_view>

namespace pinstrike::actors {

class LineWriter {
  public:
    explicit LineWriter(int descriptor) : descriptor_(descriptor) {}

    /// Whole lines. False: not all of it was written, since the descriptor failed or took nothing
    /// for `patience_ms`. Expects that SIGPIPE is ignored.
    [[nodiscard]] bool write(std::string_view text, int patience_ms = 0);

  private:
    [[nodiscard]] bool put(std::string_view text, int patience_ms);

    int descriptor_;
    bool torn_ = false;  ///< the last line was cut off: the next begins on one of its own
};

/// Does the journal of systemd read this descriptor? It tells by JOURNAL_STREAM, "device:inode",
/// which children inherit though their output may go elsewhere.
[[nodiscard]] bool is_journal(int descriptor);

}  // namespace pinstrike::actors
