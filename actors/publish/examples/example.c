/* Prints the chain of a root once, then its trades until the feed ends: example FEED ROOT */
#include <inttypes.h>
#include <pinstrike.h>
#include <stdio.h>

int main(int argc, char** argv) {
    pinstrike_feed* feed = argc == 3 ? pinstrike_open(argv[1]) : NULL;
    if (feed == NULL) {
        fprintf(stderr, "%s\n", argc == 3 ? pinstrike_error() : "usage: example FEED ROOT");
        return 1;
    }
    static struct pinstrike_value values[20000];
    const char* roots[] = {argv[2]};
    const struct pinstrike_filter filter = {.roots = roots, .roots_count = 1};
    const ptrdiff_t count = pinstrike_chain(feed, &filter, values, 20000);
    for (ptrdiff_t i = 0; i < count && i < 20000; ++i) {
        printf("%s %" PRIu32 " %c %.3f  bid %" PRId32 " offer %" PRId32 "\n", values[i].key.root,
               values[i].key.expiration, values[i].key.right, (double)values[i].key.strike_e8 / 1e8,
               values[i].bid.price, values[i].offer.price);
    }
    pinstrike_stream* stream = pinstrike_subscribe(feed, &filter);
    static struct pinstrike_record records[256];
    while (stream != NULL && pinstrike_wait(stream, 1000000000) >= 0) {
        const ptrdiff_t events = pinstrike_poll(stream, records, 256);
        for (ptrdiff_t i = 0; i < events; ++i)
            if (records[i].kind == PINSTRIKE_TRADE)
                printf("trade of %" PRIu32 "\n", records[i].of.trade.size);
    }
}
