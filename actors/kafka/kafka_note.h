// path: cold
//
// What the Kafka producer reports to its log.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace pinstrike::actors::kafka {

enum class KafkaNote : std::uint8_t {
    opened,
    missed,
    dropped,
    failed,
    uncertain,
    brokers_down,
    brokers_back,
    library_error,
    feed_attached,
    feed_lost,
};

/// Receives an entry of the log on the thread of the process: its subject and its text.
using NoteKafka = std::function<void(KafkaNote note, std::string subject, std::string sentence)>;

}  // namespace pinstrike::actors::kafka
