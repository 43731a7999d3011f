// path: cold
//
// A client that logs in over a socket and reads records.
#pragma once

#include "tests/actors/gateway/client_socket.h"
#include "tests/actors/gateway/session_scene.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors::gateway::test {

class LiveClient {
  public:
    /// `lines` are sent with the answer to the challenge.
    LiveClient(std::uint16_t port, std::string lines) : socket_(port), lines_(std::move(lines)) {}

    /// Reads what has arrived. The texts of all records so far.
    std::vector<std::string> read() {
        socket_.read();
        const std::string& text = socket_.text();
        const std::size_t greeting = text.find('\n', text.find("\ncram=") + 1);
        if (text.find("\ncram=") == std::string::npos || greeting == std::string::npos) {
            return {};
        }
        if (!lines_.empty()) {
            const std::string challenge = text.substr(greeting - challenge_bytes, challenge_bytes);
            socket_.send("auth=" + answer_of(challenge, first_key) +
                         "|dataset=OPRA.PILLAR|encoding=dbn\n" + std::exchange(lines_, ""));
        }
        const std::size_t begin =
            std::min(text.size(), text.find('\n', greeting + 1)) + 1 + feed::dbn::metadata_bytes;
        std::vector<std::string> texts;
        if (begin < text.size()) {
            const auto bytes = std::as_bytes(std::span{text}.subspan(begin));
            for (const ReadRecord& record :
                 split_records({bytes.begin(), bytes.end()}).value_or(std::vector<ReadRecord>{})) {
                texts.push_back(record.text());
            }
        }
        return texts;
    }

    [[nodiscard]] bool ended() const { return socket_.ended(); }

  private:
    Socket socket_;
    std::string lines_;
};

}  // namespace pinstrike::actors::gateway::test
