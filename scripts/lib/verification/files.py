"""Writers of files whose numbers are known, and a reader of PNG that keeps 16 bits."""

import struct
import zlib

import numpy as np


def _big(values, depth):
    return np.ascontiguousarray(values, np.uint8 if depth == 8 else ">u2")


def png(path, values, depth, profile=None, chunks=()):
    """Gray or RGB. `chunks`: pairs of a name and data that come before the profile."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    height, width = values.shape[:2]
    color = 0 if values.ndim == 2 else 2
    rows = _big(values, depth).reshape(height, -1).view(np.uint8)
    filtered = np.hstack([np.zeros((height, 1), np.uint8), rows]).tobytes()
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)))
        for name, data in chunks:
            file.write(chunk(name, data))
        if profile:
            file.write(chunk(b"iCCP", b"profile\0\0" + zlib.compress(profile)))
        file.write(chunk(b"IDAT", zlib.compress(filtered)) + chunk(b"IEND", b""))


def read_png(path):
    """RGB from 0 to 1 of an opaque or transparent PNG of 8 or 16 bits that is not interlaced, and its profile."""
    with open(path, "rb") as file:
        data = file.read()
    place, packed, profile = 8, b"", None
    while place < len(data):
        length, name = struct.unpack_from(">I4s", data, place)
        body = data[place + 8:place + 8 + length]
        if name == b"IHDR":
            width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", body)
        elif name == b"IDAT":
            packed += body
        elif name == b"iCCP":
            profile = zlib.decompress(body[body.index(b"\0") + 2:])
        place += 12 + length
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[color]
    assert not interlaced and depth in (8, 16)
    step = channels * depth // 8
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, -1)
    lines = _unfiltered(rows, step)
    values = lines.view(np.uint8 if depth == 8 else ">u2").reshape(height, width, channels).astype(float)
    colors = values[..., :1].repeat(3, -1) if channels < 3 else values[..., :3]
    return colors / (2**depth - 1), depth, profile


def _unfiltered(rows, step):
    result = np.zeros((rows.shape[0], rows.shape[1] - 1), np.uint8)
    above = [0] * result.shape[1]
    for y, row in enumerate(rows):
        kind, line = row[0], row[1:].tolist()
        if kind in (1, 3, 4):
            for x in range(len(line)):
                left = line[x - step] if x >= step else 0
                up = above[x]
                if kind == 1:
                    guess = left
                elif kind == 3:
                    guess = (left + up) // 2
                else:
                    corner = above[x - step] if x >= step else 0
                    estimate = left + up - corner
                    distances = (abs(estimate - left), abs(estimate - up), abs(estimate - corner))
                    guess = (left, up, corner)[distances.index(min(distances))]
                line[x] = (line[x] + guess) & 255
        elif kind == 2:
            line = ((row[1:] + np.array(above, np.uint8)) & 255).tolist()
        result[y] = line
        above = line
    return result


def tiff(path, values, depth, photometric, profile=None):
    """One strip without compression. Photometric: 0 and 1 gray, 2 RGB, 5 CMYK, 8 CIELab, 9 ICCLab."""
    values = values[..., None] if values.ndim == 2 else values
    height, width, channels = values.shape
    data = np.ascontiguousarray(values, np.uint8 if depth == 8 else "<u2").tobytes()
    entries = [
        (256, 4, width), (257, 4, height), (258, 3, [depth] * channels), (259, 3, 1), (262, 3, photometric),
        (273, 4, 8), (277, 3, channels), (278, 4, height), (279, 4, len(data)), (284, 3, 1)]
    if profile:
        entries.append((34675, 7, profile))
    start = 8 + len(data) + len(data) % 2
    extra_start = start + 2 + 12 * len(entries) + 4
    directory, extra = struct.pack("<H", len(entries)), b""
    for tag, kind, value in entries:
        if isinstance(value, bytes):
            count, packed = len(value), value
        else:
            numbers = value if isinstance(value, list) else [value]
            count, packed = len(numbers), b"".join(struct.pack("<H" if kind == 3 else "<I", n) for n in numbers)
        if len(packed) > 4:
            directory += struct.pack("<HHII", tag, kind, count, extra_start + len(extra))
            extra += packed + bytes(len(packed) % 2)
        else:
            directory += struct.pack("<HHI", tag, kind, count) + packed.ljust(4, b"\0")
    with open(path, "wb") as file:
        file.write(b"II*\0" + struct.pack("<I", start) + data + bytes(len(data) % 2) + directory + bytes(4) + extra)


def y4m(path, planes, layout, depth, full):
    """Planes as avifenc reads them."""
    height, width = planes[0].shape
    space = {"400": "mono"}.get(layout, layout if layout != "420" or depth > 8 else "420jpeg")
    if depth > 8:
        space += ("" if layout == "400" else "p") + str(depth)
    head = f"YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C{space} XCOLORRANGE={'FULL' if full else 'LIMITED'}\nFRAME\n"
    with open(path, "wb") as file:
        file.write(head.encode())
        for plane in planes:
            file.write(np.ascontiguousarray(plane, np.uint8 if depth == 8 else "<u2").tobytes())


def subsampled(planes, layout):
    """The planes with chroma averaged over the pixels that share it."""
    if layout == "400":
        return planes[:1]
    across, down = {"444": (1, 1), "422": (2, 1), "420": (2, 2)}[layout]
    height, width = planes[0].shape
    def small(plane):
        means = plane.reshape(height // down, down, width // across, across).mean((1, 3))
        return np.rint(means).astype(np.uint16)
    return [planes[0], small(planes[1]), small(planes[2])]


def enlarged(planes, layout):
    """Chroma at the size of luma, linearly, as lying in the middle of its pixels."""
    if layout == "400":
        return planes
    across, down = {"444": (1, 1), "422": (2, 1), "420": (2, 2)}[layout]
    def large(plane):
        for axis, factor in ((0, down), (1, across)):
            if factor == 2:
                padded = np.concatenate([plane.take([0], axis), plane, plane.take([-1], axis)], axis).astype(float)
                count = plane.shape[axis]
                before, here, after = (padded.take(range(i, i + count), axis) for i in (0, 1, 2))
                pair = np.stack([0.25 * before + 0.75 * here, 0.75 * here + 0.25 * after], axis + 1)
                plane = pair.reshape([n * (2 if i == axis else 1) for i, n in enumerate(plane.shape)])
        return plane
    return [planes[0], large(planes[1]), large(planes[2])]
