/* Prints the chain of a root, then its trades until the feed ends: example FEED ROOT */
#include <inttypes.h>
#include <pinstrike.h>
#include <stdio.h>
static double dollars(const struct pinstrike_best* side) {
    const double unit[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
    return side->price / unit[side->decimals < 9 ? side->decimals : 0];
}

int main(int argc, char** argv) {
    pinstrike_feed* feed = argc == 3 ? pinstrike_open(argv[1]) : NULL;
    const struct pinstrike_filter filter = {.roots = (const char*[]){argv[argc - 1]},
                                            .roots_count = 1};
    pinstrike_stream* stream = feed == NULL ? NULL : pinstrike_subscribe(feed, &filter);
    if (stream == NULL)
        return fprintf(stderr, "%s\n", argc == 3 ? pinstrike_error() : "example FEED ROOT") != 0;
    static struct pinstrike_value chain[20000];
    ptrdiff_t left = pinstrike_snapshot(stream, chain, 20000);
    for (const struct pinstrike_value* one = chain; left-- > 0 && one < chain + 20000; ++one)
        printf("%s %" PRIu32 " %c %.3f  bid %.2f offer %.2f\n", one->key.root, one->key.expiration,
               one->key.right, (double)one->key.strike_e8 / 1e8, dollars(&one->bid),
               dollars(&one->offer));
    static struct pinstrike_record records[256];
    while (pinstrike_wait(stream, 1000000000) >= 0)
        for (ptrdiff_t i = 0, events = pinstrike_poll(stream, records, 256); i < events; ++i)
            if (records[i].kind == PINSTRIKE_TRADE)
                printf("trade of %" PRIu32 "\n", records[i].of.trade.size);
            else if (records[i].kind >= PINSTRIKE_STATE) /* values above are no longer current */
                printf("%td series read again\n", pinstrike_snapshot(stream, NULL, 0));
}
