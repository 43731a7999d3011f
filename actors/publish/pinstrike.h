// path: hot
/*
 * The layout of the memory that a Pinstrike feed publishes, and the functions that read it.
 *
 * A feed publishes the state of every series, and optionally every event, in one memory file. Any
 * number of programs read it without a lock, and no reader writes to it. C11 and C++; no
 * dependency. The comments here describe each field; README.md says how they work together.
 *
 * Integers are in the byte order of the host. All times are nanoseconds since the Unix epoch.
 */
#ifndef PINSTRIKE_H
#define PINSTRIKE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Layout -------------------------------------------------------------------------------- */

#define PINSTRIKE_MAGIC "PINSTRK"
#define PINSTRIKE_LAYOUT_MAJOR 1 /* a reader accepts its own major version only */
#define PINSTRIKE_LAYOUT_MINOR 0 /* and any minor version: newer ones only use reserved bytes */
#define PINSTRIKE_BYTE_ORDER 0x01020304u

/* One side of the best bid and offer. `said` holds, from its lowest byte: participant, denominator
 * code, marks (pinstrike_mark). */
struct pinstrike_side {
    uint64_t value;    /* price in the lower half, size in the upper half */
    uint32_t sequence; /* number of the message that stated the side */
    uint32_t said;
};

enum pinstrike_mark {
    PINSTRIKE_KNOWN = 1,     /* a quote stated the side; else it is unknown */
    PINSTRIKE_STALE = 2,     /* a gap came after the statement */
    PINSTRIKE_LATE = 4,      /* stated late: stale while a number after it is missing */
    PINSTRIKE_PRESENT = 8,   /* the side has a best quote */
    PINSTRIKE_ELSEWHERE = 16 /* `sequence` is of another line or an earlier numbering */
};

/* A stamp says which event of its core a value includes, and when that event was received:
 *
 *   bits 17 to 63   the event's place: milliseconds since pinstrike_core.base_ms in the upper 32
 *                   bits, and in the lower 15 a count within the millisecond. Places of one core
 *                   rise by at least one with each event. They wrap after 49 days, so two stamps
 *                   are compared by the sign of their difference.
 *   bit 16          the value is being written
 *   bits 0 to 15    number of a line (entries only)
 */
#define PINSTRIKE_STAMP_WRITING ((uint64_t)1 << 16)
#define PINSTRIKE_STAMP_PLACE ((uint64_t)1 << 17) /* the distance of two successive places */
#define PINSTRIKE_STAMP_MS ((uint64_t)1 << 32)    /* the distance of two milliseconds */

/* A slot of the table. An empty slot has no series (name 0). */
struct pinstrike_entry {
    uint64_t name;     /* pinstrike_key.name */
    int64_t strike_e8; /* pinstrike_key.strike_e8 */
    struct pinstrike_side bid;
    struct pinstrike_side offer;
    uint64_t stamp;  /* up to which the entry includes the events of its line, and its line */
    uint32_t quotes; /* quotes since the start of day */
    uint32_t record; /* index into trades and series, and in the upper bits pinstrike_entry_bit */
};

enum pinstrike_entry_bit {
    PINSTRIKE_INDEX = 0x1FFFFFFF, /* the bits of the index */
    PINSTRIKE_TRADES = 0x20000000 /* the trade record has trades or open interest */
    /* The two highest bits count starts of day until an announced series is removed. */
};

/* The trades and the open interest of a series. */
struct pinstrike_trades {
    uint64_t volume; /* contracts */
    int32_t open;
    int32_t high;
    int32_t low;
    int32_t last;
    uint32_t last_size;
    uint32_t trades; /* reports other than cancels */
    uint32_t open_interest;
    uint32_t last_sequence;
    uint32_t open_sequence;
    uint32_t open_interest_sequence;
    char open_code;
    char high_code;
    char low_code;
    char last_code;
    char last_participant;
    char last_type;
    uint16_t flags; /* pinstrike_trade_flag, and bits of the writer alone */
    uint32_t covered_sequence;
    uint32_t excess_cancelled; /* contracts: cancelled beyond `volume`, of reports from before the
                                  start of the feed */
};

enum pinstrike_trade_flag {
    PINSTRIKE_HAS_OPEN = 1,
    PINSTRIKE_HAS_RANGE = 2, /* high and low */
    PINSTRIKE_HAS_LAST = 4,
    PINSTRIKE_HAS_OPEN_INTEREST = 8,
    PINSTRIKE_COVERED = 2048,          /* includes state of a peer, up to covered_sequence; */
    PINSTRIKE_COVERED_ELSEWHERE = 4096 /* on a line that it left or in an earlier numbering */
};

#define PINSTRIKE_MISSING_UNKNOWN UINT32_MAX

/* What happened to a line. Each event concerns all series whose stamp is older. */
struct pinstrike_line {
    uint64_t version; /* odd while the other fields are written */
    uint64_t changed; /* stamp of the latest of the four events */
    uint64_t day;     /* stamps of the last start of day, */
    uint64_t flush;   /* of the last flush of quotes that came in order, */
    /* of the last late flush in this numbering; without one, of the flush before `flush` */
    uint64_t late_flush;
    uint64_t gap;
    uint32_t late_flush_sequence; /* highest number of a late flush; later quotes stay */
    uint32_t missing_last;        /* no number after it, nor before missing_first, is missing */
    uint32_t missing;             /* how many are; PINSTRIKE_MISSING_UNKNOWN: some */
    uint32_t missing_first;
};

/* 64 slots of the table. An entry never leaves its group. */
struct pinstrike_group {
    uint32_t version;   /* odd while a rare operation changes an entry of the group */
    uint32_t displaced; /* entries that are in neither slot of their hash */
};

/* The directory: one record for each series of the table, by pinstrike_entry.record. */
struct pinstrike_series {
    uint64_t name; /* 0: unused */
    int64_t strike_e8;
    uint32_t id;   /* position in the day's list of series, from 1; 0: not yet assigned */
    uint32_t root; /* index of its pinstrike_root, from 1; 0: the table of roots was full */
    uint32_t next; /* next series of the same root; 0: the last */
    uint32_t previous;
};

/* A slot of the table of roots, which is indexed by hash and searched linearly. */
struct pinstrike_root {
    uint64_t symbol;   /* five ASCII bytes, padded with spaces, in the low 40 bits; 0: empty */
    uint32_t first;    /* the latest series of the root */
    uint32_t count;    /* its series */
    uint32_t removals; /* odd while a series is removed from the list */
    uint32_t reserved;
};

/* Where an array begins, in bytes from the start of the file, and its number of elements. */
struct pinstrike_array {
    uint64_t at;
    uint64_t count;
};

/* One actor core. Its own thread writes it. */
struct pinstrike_core {
    char name[32];
    struct pinstrike_array lines;   /* pinstrike_line, by line number */
    struct pinstrike_array entries; /* pinstrike_entry */
    struct pinstrike_array groups;  /* pinstrike_group */
    struct pinstrike_array trades;  /* pinstrike_trades */
    struct pinstrike_array series;  /* pinstrike_series; the first is unused */
    struct pinstrike_array roots;   /* pinstrike_root; count is a power of two */
    struct pinstrike_array stream;  /* records of 64 bytes; count is a power of two, or 0: none */
    uint64_t base_ms;               /* since the Unix epoch, of all stamps of this core; changes if
                                       the first event had a wrong time of receipt */
    uint8_t reserved0[40];
    /* 192: written a thousand times a second */
    int64_t alive_ns;      /* when the core last ran its timers */
    uint32_t series_count; /* records of the directory that were ever used */
    uint8_t reserved1[52];
    /* 256: written once for each batch of events */
    uint64_t intent; /* position in the stream that the writer is going to reach */
    uint8_t reserved2[56];
    /* 320: */
    uint64_t tail_version; /* odd while the next four are written */
    uint64_t tail;         /* position: records written so far */
    uint64_t tail_stamp;   /* stamp of the last event before `tail` */
    uint64_t tail_ms;      /* its milliseconds since base_ms, without wrap */
    uint64_t tail_changes; /* changes of the state that no event of the stream caused */
    uint8_t reserved3[24];
};

enum pinstrike_state { PINSTRIKE_STARTING = 0, PINSTRIKE_LIVE = 1, PINSTRIKE_ENDED = 2 };

/* The first bytes of the file. The cores' headers follow it. */
struct pinstrike_header {
    char magic[8];
    uint32_t byte_order;
    uint16_t major;
    uint16_t minor;
    uint64_t layout_hash; /* of the sizes and offsets of all structs */
    uint64_t file_bytes;
    uint32_t header_bytes;
    uint32_t core_bytes;
    uint32_t cores_count;
    uint32_t state; /* pinstrike_state */
    char feed[32];
    char build[32];
    int64_t start_ns;
    uint32_t trade_date;  /* as 20261127, of the start; 0: captures are replayed */
    uint32_t sharding;    /* 0: by series, 1: by underlying */
    uint64_t number_last; /* the highest number of a message on a line; 1 follows it */
    uint8_t reserved0[56];
    /* 192: written by the thread that wakes readers */
    uint32_t wake; /* raised after the stream of a core grew; a futex */
    uint8_t reserved1[60];
};

/* ---- Reading ------------------------------------------------------------------------------- */

/* Several threads may call all functions at the same time for different objects, and a feed and
 * each of its streams are different objects. One object is for one thread at a time. Errors are
 * returned as NULL, a negative count or a state, with a sentence from pinstrike_error(). */

/* The sentence about the latest error of the calling thread. */
const char* pinstrike_error(void);

/* A feed that this program is attached to. */
typedef struct pinstrike_feed pinstrike_feed;

/* Attaches to a feed by its name. NULL: nothing is published under this name, the file has another
 * layout or is damaged, or it may not be read.
 *
 * The link NAME is looked for in /dev/shm/pinstrike, then in /dev/shm/pinstrike-bridge (feeds of
 * other hosts), then in /dev/shm/pinstrike-UID; or only in the folder of the environment variable
 * PINSTRIKE_FOLDER. */
pinstrike_feed* pinstrike_open(const char* name);
/* May be called before the feed's streams are closed, which continue. */
void pinstrike_close(pinstrike_feed* feed);

/* The names of the feeds that are published on this host, separated by newlines. Returns the length
 * of the whole text, of which at most `bytes` - 1 characters and a terminating 0 are written. */
size_t pinstrike_feeds(char* names, size_t bytes);

enum pinstrike_condition {
    PINSTRIKE_FEED_LIVE,     /* values are current */
    PINSTRIKE_FEED_STARTING, /* the cores are not yet running */
    PINSTRIKE_FEED_STUCK,    /* a core ran no timer for a second */
    PINSTRIKE_FEED_DEAD,     /* the process is gone without an end */
    PINSTRIKE_FEED_ENDED     /* the feed was stopped */
};

/* The condition of the feed now. It costs one system call. */
enum pinstrike_condition pinstrike_condition_of(pinstrike_feed* feed);

/* "live", "starting", "stuck", "dead" or "ended". */
const char* pinstrike_condition_name(enum pinstrike_condition condition);

/* Attaches to a newer start of the same feed, if there is one that is live or has ended. Returns 1
 * if it did, 0 if there is none, -1 if there is one that cannot be read, for example because its
 * layout needs a newer library (pinstrike_error() says why). Until then the old values stay
 * readable. When the feed is dead or has ended, pinstrike_chain(), pinstrike_get() and
 * pinstrike_id() do this by themselves, and so does each stream in pinstrike_poll() and
 * pinstrike_wait() (PINSTRIKE_RESTARTED, or an error if the newer start cannot be read). */
int pinstrike_reattach(pinstrike_feed* feed);

/* The time of the start that the feed is attached to, its trade date (20261127; neither it nor the
 * list of series changes before the next start), and the name. */
int64_t pinstrike_start_ns(const pinstrike_feed* feed);
uint32_t pinstrike_trade_date(const pinstrike_feed* feed);
const char* pinstrike_name(const pinstrike_feed* feed);

/* A series of one session. */
struct pinstrike_key {
    char root[6];        /* as OPRA sends it, without padding; SPX and SPXW are two roots */
    char right;          /* 'C' or 'P' */
    uint8_t gth;         /* 1: of the GTH session, whose series are others */
    uint32_t expiration; /* as 20261218 */
    uint32_t id;         /* position in the day's list of series, from 1; 0: not assigned (yet) */
    int64_t strike_e8;   /* in units of 1e-8 */
};

enum pinstrike_side_state {
    PINSTRIKE_SIDE_UNKNOWN, /* no quote stated the side yet */
    PINSTRIKE_SIDE_FRESH,
    PINSTRIKE_SIDE_STALE /* messages were lost after the quote that stated it */
};

/* One side of the best bid and offer. */
struct pinstrike_best {
    int32_t price; /* in units of 10^-decimals */
    uint32_t size; /* contracts */
    uint8_t decimals;
    char participant; /* ' ': there is no best quote on this side */
    uint8_t present;
    uint8_t state;     /* pinstrike_side_state */
    uint32_t sequence; /* number of the message that stated it; 0 if it was on another line */
};

struct pinstrike_price {
    int32_t value;
    uint8_t decimals;
    uint8_t present;
    uint8_t reserved[2];
};

enum pinstrike_old {
    PINSTRIKE_CURRENT,
    PINSTRIKE_OLD,       /* the writer is gone, the value may not be current */
    PINSTRIKE_UNREADABLE /* the writer stopped while it wrote the value: only the key is valid */
};

/* The state of a series. */
struct pinstrike_value {
    struct pinstrike_key key;
    struct pinstrike_best bid;
    struct pinstrike_best offer;
    struct pinstrike_price open;
    struct pinstrike_price high;
    struct pinstrike_price low;
    struct pinstrike_price last;
    uint32_t last_size;
    char last_participant;
    char last_type;
    uint16_t line;   /* of the latest message */
    uint64_t volume; /* contracts */
    uint32_t trades; /* reports other than cancels */
    uint32_t quotes; /* quotes since the start of day */
    uint32_t open_interest;
    uint8_t has_open_interest;
    uint8_t old; /* pinstrike_old */
    uint16_t core;
    int64_t changed_ns; /* receipt of the latest message, to the millisecond; 0: unknown */
    uint64_t stamp;     /* of that message, comparable within one core (pinstrike_stamp_after()) */
};

/* Which series a call is about. All conditions must hold; a zeroed filter means all series. */
struct pinstrike_filter {
    const char* const* roots; /* roots_count of them; NULL: all */
    size_t roots_count;
    const uint32_t* ids; /* ids_count of them; NULL: all */
    size_t ids_count;
    uint32_t expiration_from; /* as 20261218, inclusive; 0: no limit */
    uint32_t expiration_to;
    int64_t strike_from_e8; /* inclusive; 0: no limit */
    int64_t strike_to_e8;
    char right;   /* 'C', 'P', or 0: both */
    char session; /* 'R' regular, 'G' GTH, or 0: both */
    /* Streams only. Each core has the events of lines. 0: they come once, from the first core, and
     * from each core only its own losses (causes 2 and 4). 1: they come from each core, so that
     * `stamp` says which series of this core they concern. */
    uint8_t line_events_of_each_core;
    /* Chains and snapshots only. 1: also the series that the day's list or a series map announced
     * and that have no message yet. Their values have key, line, core and stamp alone. */
    uint8_t announced;
};

/* Whether stamp `a` is newer than stamp `b` of the same core. */
static inline int pinstrike_stamp_after(uint64_t a, uint64_t b) {
    return a != b && a - b < (uint64_t)1 << 63;
}

/* Reads the state of all series of a filter that the feed lists (those with a message since the
 * start of day, which is a control message on each line; see also pinstrike_filter.announced),
 * sorted by root, expiration, strike, right and session. Each series is consistent in itself;
 * different series may be of different moments. Writes at most `max` values and returns how many
 * there are; negative: an error. */
ptrdiff_t pinstrike_chain(pinstrike_feed* feed, const struct pinstrike_filter* filter,
                          struct pinstrike_value* values, size_t max);

/* The state of one series. 1: found; 0: the feed does not list it; -1: an error. key.id is not
 * read. */
int pinstrike_get(pinstrike_feed* feed, const struct pinstrike_key* key,
                  struct pinstrike_value* value);

/* The id of a series, also of one that is only announced. 0: it has none (yet). key.id is not read.
 */
uint32_t pinstrike_id(pinstrike_feed* feed, const struct pinstrike_key* key);

/* Events of a feed, each once and, for each core, in the order of its line; those with
 * PINSTRIKE_IS_LATE came late. */
typedef struct pinstrike_stream pinstrike_stream;

/* Begins with the state of the series of a filter, which pinstrike_snapshot() returns, and
 * continues with each later event of these series and with events of lines. Together they have
 * each message exactly once. An event of a line concerns the series of its core whose stamp is
 * older. The filter is copied. NULL: the feed has no stream, or an error. */
pinstrike_stream* pinstrike_subscribe(pinstrike_feed* feed, const struct pinstrike_filter* filter);
void pinstrike_unsubscribe(pinstrike_stream* stream);

/* The state with which the stream began: all series of the filter. After PINSTRIKE_MISSED and
 * PINSTRIKE_RENEWED it is the state of the series of that event's core, and after
 * PINSTRIKE_RESTARTED again that of all series; a series that is not in it has no state any more.
 * If a core has thousands of series, their state comes in parts: while of.missed.more is 1, another
 * part follows with a later PINSTRIKE_STATE. Events of a series that came before its part are
 * included in the part and do not come. It belongs to the latest call of pinstrike_poll().
 * Parameters and result as of pinstrike_chain(). */
ptrdiff_t pinstrike_snapshot(pinstrike_stream* stream, struct pinstrike_value* values, size_t max);

enum pinstrike_kind { /* the kinds of events, as the writer numbers them */
                      PINSTRIKE_QUOTE = 1,
                      PINSTRIKE_TRADE = 2,
                      PINSTRIKE_OPEN_INTEREST = 3,
                      PINSTRIKE_END_OF_DAY = 4,
                      PINSTRIKE_SERIES_MAP = 5,
                      PINSTRIKE_UNDERLYING = 6,
                      PINSTRIKE_TEXT = 7,
                      PINSTRIKE_CONTROL = 24,
                      PINSTRIKE_GAP = 25,
                      PINSTRIKE_LINE_STATE = 26,
                      PINSTRIKE_LINE_MARK =
                          27, /* all numbers up to `sequence` were delivered or declared lost */
                      PINSTRIKE_STATE = 252,   /* another part of a state that is read again */
                      PINSTRIKE_RENEWED = 253, /* the state of a core changed by state of a peer,
                                                  not by events; it was read again */
                      PINSTRIKE_MISSED = 254,  /* the reader was too slow: the records of.missed of
                                                  a core are lost; its state was read again */
                      PINSTRIKE_RESTARTED =
                          255 /* the feed started anew; the state was read again */
};

enum pinstrike_flag {
    PINSTRIKE_IS_LATE = 1,        /* its number had been declared lost; newer ones came before */
    PINSTRIKE_BEFORE_DAY = 2,     /* late, and from before the line's last start of day */
    PINSTRIKE_BEFORE_FLUSH = 4,   /* late, and from before the line's last flush of quotes */
    PINSTRIKE_RETRANSMITTED = 8,  /* from a retransmission or another host */
    PINSTRIKE_INFERRED = 16,      /* a control message that was lost, inferred from its effect */
    PINSTRIKE_FROM_FILE = 32,     /* a series map of the day's file: without number and times */
    PINSTRIKE_WITHOUT_NUMBER = 64 /* the venue gives it no number, and each copy is delivered */
};

/* One event. The fields of an OPRA message have their names and units from the specification. Of
 * `of`, only the member of the kind is valid; a quote leaves the other bytes as they were. */
struct pinstrike_record {
    uint8_t kind;  /* pinstrike_kind */
    uint8_t flags; /* pinstrike_flag */
    uint16_t line;
    char participant;
    char type;
    char indicator;
    uint8_t decimals;  /* of the prices */
    uint64_t sequence; /* number of the message on its line; 0: none */
    uint16_t core;
    uint8_t has_key;
    uint8_t has_best; /* `bid` and `offer` are valid: after each quote of a followed series */
    struct pinstrike_key key;
    int64_t exchange_ns;
    int64_t receive_ns;
    uint64_t stamp;

    union {
        struct {
            int32_t bid;
            uint32_t bid_size;
            int32_t offer;
            uint32_t offer_size;
        } quote;

        struct {
            int32_t price;
            uint32_t size;
            uint32_t reference;
        } trade;

        struct {
            uint32_t contracts;
        } open_interest;

        struct {
            uint32_t volume; /* contracts */
            uint32_t open_interest;
            int32_t open;
            int32_t high;
            int32_t low;
            int32_t last;
            int32_t net_change;
            int32_t bid;
            int32_t offer;
            int64_t underlying; /* in units of 10^-underlying_decimals */
            uint8_t underlying_decimals;
        } end_of_day;

        struct {
            uint16_t line; /* carries the series on this day */
        } series_map;

        struct {
            char symbol[6];
            int32_t value;
            int32_t bid; /* type I */
            int32_t offer;
        } underlying;

        struct {
            const char* text; /* valid until the next call for this stream */
            size_t bytes;
        } text;

        struct {
            uint64_t first; /* numbers, inclusive */
            uint64_t last;
            uint64_t messages;
            uint8_t cause; /* 0 lost on both streams, 1 undecodable, 2 ring full, 3 found again,
                              4 not carried by a bridge: no event has them, the state does */
        } gap;

        struct {
            uint8_t forgets; /* 0 nothing, 1 quotes, 2 the day */
            uint8_t ends_day;
        } control;

        struct {
            uint8_t state; /* 0 up, 1 a stream is silent, 2 a stream is down, 3 the line is down */
            char stream;   /* 'A', 'B', or ' ': the line as a whole */
        } line_state;

        struct {
            uint64_t first; /* positions in the core's stream, inclusive */
            uint64_t last;
            uint8_t more; /* also of PINSTRIKE_RENEWED and PINSTRIKE_STATE: 1 if the state of more
                             series of the core follows */
        } missed;
    } of;
    struct pinstrike_best bid; /* the best that follows from the quote */
    struct pinstrike_best offer;
};

/* Writes at most `max` events that have arrived and returns how many; 0: none has; negative: an
 * error. It returns after one batch, so it may return fewer events than have arrived. */
ptrdiff_t pinstrike_poll(pinstrike_stream* stream, struct pinstrike_record* records, size_t max);

/* Sleeps until events for this stream have arrived, or for `timeout_ns`. 1: pinstrike_poll() has
 * events; 0: the time is over; -1: the feed has ended or died, and no newer start is there (it
 * returns at once, so sleep before you call it again); -2: an error. */
int pinstrike_wait(pinstrike_stream* stream, int64_t timeout_ns);

#ifdef __cplusplus
}
#endif

#endif
