// path: cold
//
// How the readers of readers_test.py print what they got: a word and its fields, one line each, in
// C11 and C++. Characters are printed as numbers, since a blank is one of them.
#pragma once

#include "pinstrike.h"
#include <inttypes.h>
#include <stdio.h>

static inline void print_key(const struct pinstrike_key* key) {
    printf(" %s %" PRIu32 " %c %" PRId64, key->root, key->expiration, key->right, key->strike_e8);
}

static inline void print_best(const struct pinstrike_best* best) {
    printf(" %d %d %d %d %" PRIu32 " %d", best->present, best->participant, best->price,
           best->decimals, best->size, best->state);
}

static inline void print_price(const struct pinstrike_price* price) {
    printf(" %d %d %d", price->present, price->value, price->decimals);
}

static inline void print_value(const char* word, const struct pinstrike_value* value) {
    printf("%s", word);
    print_key(&value->key);
    printf(" %d %d", value->core, value->old);
    print_best(&value->bid);
    print_best(&value->offer);
    print_price(&value->open);
    print_price(&value->high);
    print_price(&value->low);
    print_price(&value->last);
    printf(" %" PRIu32 " %d %d %d %" PRIu64 " %" PRIu32 " %" PRIu32 " %d %" PRIu32 "\n",
           value->last_size, value->last_participant, value->last_type, value->line, value->volume,
           value->trades, value->quotes, value->has_open_interest, value->open_interest);
}

// A series takes four fields, and so does an event without one.
static inline void print_record(const struct pinstrike_record* record) {
    printf("event %d %d %d %" PRIu64 " %" PRId64 " %d", record->kind, record->core, record->line,
           record->sequence, record->receive_ns, record->type);
    if (record->has_key != 0) {
        print_key(&record->key);
    } else {
        printf(" - - - -");
    }
    if (record->has_best != 0) {
        print_best(&record->bid);
        print_best(&record->offer);
    }
    printf("\n");
}
