// path: cold
#pragma once

#include "config/counter.h"
#include "config/rows.h"

namespace pinstrike::actors::kafka {

// clang-format off
#define PINSTRIKE_KAFKA_COUNTS(ROW) \
    ROW(made, records, "records made for the topic") \
    ROW(acknowledged, records, "of these, those that the brokers have stored, each exactly once") \
    ROW(failed, records, \
        "of these, those that are certainly not in the topic: the brokers refused them, or could " \
        "not be reached in time") \
    ROW(uncertain, records, \
        "of these, those that may be in the topic: sent, and neither acknowledged nor refused") \
    ROW(dropped, records, "of these, those dropped because the queue was full") \
    ROW(messages, messages, "messages that the brokers have stored, with statements of loss")
// clang-format on

/// What became of the records of a topic. Of a record whose message waits, only `made` has counted.
PINSTRIKE_ROWS(KafkaCount, PINSTRIKE_KAFKA_COUNTS)

using KafkaCounters = Counters<KafkaCount, KafkaCount_count>;

}  // namespace pinstrike::actors::kafka
