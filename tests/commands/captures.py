"""Small captures for tests of commands: OPRA blocks, frames of any link layer, pcap and pcapng.

The traffic is invented: line 4 at 09:30 in New York, a start of day and quotes of two series.
"""

import struct

START_NS = 1_700_058_600 * 10**9  # 2023-11-15 14:30:00Z, a trading day
ERSPAN, ERSPAN_3, ETHERNET, IPV4 = 0x88BE, 0x22EB, 0x6558, 0x0800


def header(participant, category, kind=" ", indicator=" ", transaction=7, reference=9):
    return (participant + category + kind + indicator).encode() + struct.pack(
        ">II", transaction, reference)


def short_quote(symbol="SPY", strike=4500, bid=100):
    return (header("C", "q", " ", "F") + symbol.ljust(4).encode() + bytes((ord("A"), 19, 24))
            + struct.pack(">5H", strike, bid, 10, 110, 11))


def long_quote(symbol="SPXW", code="A", strike=45000):
    return (header("C", "k", " ", "F") + symbol.ljust(5).encode() + b"\0" + bytes((ord("A"), 19, 24))
            + code.encode() + struct.pack(">i", strike) + b"B"
            + struct.pack(">iIiI", 100, 10, 110, 11))


def start_of_day():
    return header("O", "H", "C", " ", 0, 0)


def block(messages, sequence, ts_ns=START_NS):
    body = b"".join(messages)
    size = 21 + len(body)
    padding = size & 1
    head = struct.pack(">BHccBIBII", 6, size + padding, b"O", b" ", 0, sequence, len(messages),
                       ts_ns // 10**9, ts_ns % 10**9)
    whole = head + b"\0\0" + body + b"\0" * padding
    return whole[:19] + struct.pack(">H", sum(whole) & 0xFFFF) + whole[21:]


def traffic(blocks=20, line_gap_ns=1_000_000, start_ns=START_NS):
    """[(time, block)]: a start of day, then blocks of two quotes, a millisecond apart."""
    out = [(start_ns - line_gap_ns,
            block([start_of_day()], 0, start_ns - line_gap_ns))]
    for i in range(blocks):
        time_ns = start_ns + i * line_gap_ns
        quotes = [short_quote(bid=100 + i, strike=4500 + 10 * j) for j in range(2)]
        out.append((time_ns, block(quotes, 1 + 2 * i, time_ns)))
    return out


def internet_checksum(data):
    data += b"\0" * (len(data) & 1)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(content, protocol=17, source=(162, 69, 44, 4), group=(224, 0, 204, 4), fragment=0,
         options=b""):
    words = 5 + len(options) // 4
    head = struct.pack(">BBHHHBBH4s4s", 0x40 | words, 0xB8, words * 4 + len(content), 1, fragment,
                       119, protocol, 0, bytes(source), bytes(group)) + options
    return head[:10] + struct.pack(">H", internet_checksum(head)) + head[12:] + content


def udp(payload, port=45004, checksum=0):
    return struct.pack(">HHHH", port, port, 8 + len(payload), checksum) + payload


def udp_checksum(payload, source=(162, 69, 44, 4), group=(224, 0, 204, 4)):
    """Of a datagram between these addresses."""
    sent = udp(payload)
    pseudo = bytes(source) + bytes(group) + struct.pack(">BBH", 0, 17, len(sent))
    return internet_checksum(pseudo + sent) or 0xFFFF


def datagram(payload, stream="A", **options):
    """A frame of line 4, on stream A or B."""
    network = 204 if stream == "A" else 206
    return ipv4(udp(payload), source=(162, 69, 44 if stream == "A" else 52, 4),
                group=(224, 0, network, 4), **options)


def ethernet(packet, tags=b""):
    addresses = bytes.fromhex("01005e00cc04020000000001")
    return addresses + tags + struct.pack(">H", 0x0800) + packet


def gre(inner, protocol, flags=0, extra=b""):
    content = struct.pack(">HH", flags, protocol) + extra + inner
    return ethernet(ipv4(content, 47, (192, 0, 2, 1), (192, 0, 2, 2)))


def pcap(path, records, link=1, order="<", snapshot_bytes=65535):
    """records: (time, bytes) or (time, bytes, length on the wire); nanoseconds."""
    with open(path, "wb") as file:
        file.write(struct.pack(order + "IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, snapshot_bytes, link))
        for time_ns, data, *length in records:
            file.write(struct.pack(order + "IIII", time_ns // 10**9, time_ns % 10**9, len(data),
                                   length[0] if length else len(data)) + data)


def pcapng_option(code, value):
    return struct.pack("<HH", code, len(value)) + value + b"\0" * (-len(value) % 4)


def pcapng_block(kind, body):
    size = 12 + len(body)
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


def pcapng_section():
    return pcapng_block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))


def pcapng_interface(link=1, snapshot_bytes=65535, options=b""):
    end = struct.pack("<HH", 0, 0) if options else b""
    return pcapng_block(1, struct.pack("<HHI", link, 0, snapshot_bytes) + options + end)


def pcapng_packet(interface, time, data):
    head = struct.pack("<IIIII", interface, time >> 32, time & 0xFFFFFFFF, len(data), len(data))
    return pcapng_block(6, head + data + b"\0" * (-len(data) % 4))


def pcapng_simple_packet(data):
    return pcapng_block(3, struct.pack("<I", len(data)) + data + b"\0" * (-len(data) % 4))
