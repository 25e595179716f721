"""damage.py VECTORS FOLDER: weights files with one fault each, made of the sound ones in VECTORS. Prints a line for each:
its name in FOLDER, a tab, and what a reader must say (an extended regular expression). Where nothing else is said the
checksum is right, so that the fault itself must be found."""

import struct
import sys
from pathlib import Path

vectors, folder = Path(sys.argv[1]), Path(sys.argv[2])


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def changed(data, offset, *values, layout="<h", seal=True):
    data = bytearray(data)
    for index, value in enumerate(values):
        struct.pack_into(layout, data, offset + index * struct.calcsize(layout), value)
    return bytes(data[:-4]) + struct.pack("<I", crc32c(data[:-4])) if seal else bytes(data)


def write(name, data, says):
    (folder / f"{name}.weights").write_bytes(data)
    print(f"{name}\t{says}")


net, table = ((vectors / f"{kind}.weights").read_bytes() for kind in ("net", "table"))
rules = struct.unpack_from("<H", net, 28)[0]
payload = 40 + rules
tests = payload + 15684

write("empty", b"", "no weights file")
write("text", b"hello\n", "no weights file")
write("other-magic", changed(net, 6, 0x0A, layout="<B"), "no weights file")
write("cut-in-the-magic", net[:5], "no weights file")
write("cut-in-the-header", net[:20], "cut short")
write("cut-in-the-payload", net[:16000], "cut short")
write("cut-by-a-byte", net[:-1], "cut short")
write("a-byte-too-long", net + b"\0", "too long")
write("other-version", changed(net, 8, 2), "format version")
write("other-kind", changed(net, 10, 9), "kind")
write("other-size", changed(net, 12, len(net) + 1, layout="<I"), "cut short|too long")
write("other-dimensions", changed(net, 18, 64), "dimensions")
write("no-test-positions", changed(net, 30, 0), "dimensions")
write("other-payload", changed(net, 32, 15000, layout="<I"), "dimensions")
write("endless-provenance", changed(net, 36, 0xFFFFFFFF, layout="<I"), "dimensions")
write("endless-rules", changed(net, 28, 0xFFFF, layout="<H"), "dimensions")
write("hidden-shift-of-a-table", changed(table, 23, 4, layout="<B"), "dimensions")
write("wrong-checksum", net[:-4] + struct.pack("<I", 0x12345678), "damaged")
write("flipped-bit", changed(net, 5000, net[5000] ^ 1, layout="<B", seal=False), "damaged")
write("shift-15", changed(net, 22, 15, layout="<B"), "out of range|too large|from 0 to 14")
write("negative-scale", changed(net, 24, -1, layout="<i"), "out of range|too large|negative")
write("unit-too-large", changed(net, payload, 32767), "too large|could leave")
write("output-too-large", changed(net, tests - 4, 2**31 - 1, layout="<i"), "too large|could leave")
write("table-too-large", changed(table, payload + 2, 700), "too large|could leave")
write("changed-weight", changed(net, tests - 4, struct.unpack_from("<i", net, tests - 4)[0] + 8192, layout="<i"),
      "do(es)? not come out|do not give the scores")
write("changed-score", changed(net, tests + 15, 31999, layout="<i"), "do(es)? not come out|do not give the scores")
write("seeds-from-nowhere", changed(net, tests, net[tests] + 1, layout="<B"), "position|do not give the scores")
write("nobody-to-move", changed(net, tests + 14, 2, layout="<B"), "position|do not give the scores")
