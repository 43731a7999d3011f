// path: cold
//
// Follows a feed to its end, also beyond the death of its writer, and prints what it got: the state
// with which the stream began or went on, each event behind it, and the last values.
//
//     follow_c FEED
#include "print_feed.h"
#include <stdlib.h>
#include <threads.h>

enum { series_max = 100000, batch_records = 300 };

static struct pinstrike_value values[series_max];
static struct pinstrike_record records[batch_records];

static void stop(const char* what) {
    fprintf(stderr, "%s: %s\n", what, pinstrike_error());
    exit(1);
}

static void pause_a_moment(void) {
    const struct timespec moment = {.tv_sec = 0, .tv_nsec = 5000000};
    thrd_sleep(&moment, NULL);
}

static void print_values(const char* word, ptrdiff_t count) {
    if (count < 0 || count > series_max) {
        stop("values");
    }
    for (ptrdiff_t i = 0; i < count; ++i) {
        print_value(word, &values[i]);
    }
}

// A feed cannot be followed before it is live, or if its writer died in the middle of a write.
static pinstrike_stream* attach(const char* name, pinstrike_feed** feed) {
    for (int tries = 0; tries < 12000; ++tries) {
        *feed = pinstrike_open(name);
        pinstrike_stream* const stream = *feed == NULL ? NULL : pinstrike_subscribe(*feed, NULL);
        if (stream != NULL) {
            return stream;
        }
        pinstrike_close(*feed);
        pause_a_moment();
    }
    stop("no feed to follow");
    return NULL;
}

static void take_batch(pinstrike_stream* stream) {
    const ptrdiff_t count = pinstrike_poll(stream, records, batch_records);
    if (count < 0) {
        stop("poll");
    }
    for (ptrdiff_t i = 0; i < count; ++i) {
        print_record(&records[i]);
        if (records[i].kind >= PINSTRIKE_STATE) {
            print_values("state", pinstrike_snapshot(stream, values, series_max));
        }
    }
}

// True if the latest start has ended: behind its last event nothing more comes.
static int has_ended(pinstrike_feed* feed) {
    return pinstrike_reattach(feed) == 0 && pinstrike_condition_of(feed) == PINSTRIKE_FEED_ENDED;
}

int main(int argc, char** argv) {
    if (argc != 2) {
        return 2;
    }
    pinstrike_feed* feed = NULL;
    pinstrike_stream* const stream = attach(argv[1], &feed);
    print_values("state", pinstrike_snapshot(stream, values, series_max));
    for (int ended = 0, over = 0; !ended || !over;) {
        ended = has_ended(feed);
        const int result = pinstrike_wait(stream, 100000000);
        over = result == -1;
        if (result == 1) {
            take_batch(stream);
        } else if (result == -2) {
            stop("wait");
        } else if (over) {
            pause_a_moment();
        }
    }
    print_values("chain", pinstrike_chain(feed, NULL, values, series_max));
    pinstrike_unsubscribe(stream);
    pinstrike_close(feed);
    return 0;
}
