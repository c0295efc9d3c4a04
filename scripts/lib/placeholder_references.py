"""Prints the expectations of the tests of ThumbHash: an independent implementation in double precision, from its description.

    python3 scripts/lib/placeholder_references.py
"""

import base64
import math


def indices(nx, ny):
    return [(x, y) for y in range(ny) for x in range(nx) if (x or y) and x * ny < nx * (ny - y)]


def decode(data):
    head = int.from_bytes(data[:3], "little")
    side = int.from_bytes(data[3:5], "little")
    alpha = head >> 23
    constants = [(head & 63) / 63, (head >> 6 & 63) / 31.5 - 1, (head >> 12 & 63) / 31.5 - 1,
                 (data[5] & 15) / 15 if alpha else 1]
    scales = [(head >> 18 & 31) / 31, (side >> 3 & 63) / 63 * 1.25, (side >> 9 & 63) / 63 * 1.25,
              (data[5] >> 4) / 15 if alpha else 0]
    long, short, landscape = 5 if alpha else 7, side & 7, side >> 15
    nx, ny = (long, short) if landscape else (short, long)
    ratio = nx / ny
    width, height = (32, round(32 / ratio)) if ratio > 1 else (round(32 * ratio), 32)
    nibbles = [n for byte in data[6 if alpha else 5:] for n in (byte & 15, byte >> 4)]
    shapes = [(max(3, nx), max(3, ny)), (3, 3), (3, 3)] + ([(5, 5)] if alpha else [])
    channels = []
    for shape, scale in zip(shapes, scales):
        found = indices(*shape)
        channels.append([(x, y, (nibbles.pop(0) / 7.5 - 1) * scale) for x, y in found])

    def pixel(x, y):
        sums = list(constants)
        for index, channel in enumerate(channels):
            for i, j, factor in channel:
                sums[index] += 2 * factor * math.cos(math.pi * i * (x + 0.5) / width) * math.cos(math.pi * j * (y + 0.5) / height)
        light, p, q, opacity = sums
        blue = light - 2 / 3 * p
        red = (3 * light - blue + q) / 2
        return [round(min(max(value, 0), 1), 4) for value in (red, red - q, blue, opacity)]

    return width, height, pixel


def encode(width, height, pixels):
    """Encodes straight RGBA from 0 to 1."""
    opacity = sum(p[3] for p in pixels)
    average = [sum(p[i] * p[3] for p in pixels) / opacity for i in range(3)]
    alpha = opacity < width * height
    limit = 5 if alpha else 7
    nx, ny = (max(1, math.floor(limit * side / max(width, height) + 0.5)) for side in (width, height))
    planes = [[], [], [], []]
    for p in pixels:
        r, g, b = (average[i] * (1 - p[3]) + p[i] * p[3] for i in range(3))
        for plane, value in zip(planes, ((r + g + b) / 3, (r + g) / 2 - b, r - g, p[3])):
            plane.append(value)

    def wave(plane, i, j):
        return sum(plane[x + y * width] * math.cos(math.pi * i * (x + 0.5) / width) * math.cos(math.pi * j * (y + 0.5) / height)
                   for y in range(height) for x in range(width)) / (width * height)

    def channel(plane, shape):
        factors = [wave(plane, *index) for index in indices(*shape)]
        scale = max(map(abs, factors))
        if scale < 1e-6:  # rounding errors
            return wave(plane, 0, 0), [0 for _ in factors], 0
        return wave(plane, 0, 0), [0.5 + 0.5 * f / scale for f in factors], scale

    def rounded(value):
        return math.floor(value + 0.5)

    l = channel(planes[0], (max(3, nx), max(3, ny)))
    p, q = channel(planes[1], (3, 3)), channel(planes[2], (3, 3))
    a = channel(planes[3], (5, 5)) if alpha else (1, [], 1)
    landscape = width > height
    head = (rounded(63 * l[0]) | rounded(31.5 + 31.5 * p[0]) << 6 | rounded(31.5 + 31.5 * q[0]) << 12
            | rounded(31 * l[2]) << 18 | alpha << 23)
    side = (ny if landscape else nx) | rounded(63 * p[2]) << 3 | rounded(63 * q[2]) << 9 | landscape << 15
    data = head.to_bytes(3, "little") + side.to_bytes(2, "little")
    if alpha:
        data += bytes([rounded(15 * a[0]) | rounded(15 * a[2]) << 4])
    nibbles = [rounded(15 * f) for f in l[1] + p[1] + q[1] + a[1]] + [0]
    return data + bytes(nibbles[i] | nibbles[i + 1] << 4 for i in range(0, len(nibbles) - 1, 2))


def picture(width, height):
    """The picture of the tests: waves in 8 bits."""
    return [((x * 7 + y * 3) % 256 / 255, (x * x // 4 + y * 5) % 256 / 255, (x * 2 + y * y // 3) % 256 / 255, 1)
            for y in range(height) for x in range(width)]


def main():
    for text in ["3OcRJYB4d3h/iIeHeEh3eIhw+j2w", "1QcSHQRnh493V4dIh4eXh1h4kJUI", "XAgKOYZAJbV2d4eHT3n3l4g="]:
        width, height, pixel = decode(base64.b64decode(text))
        print(text, width, height, pixel(0, 0), pixel(width - 1, height // 2), pixel(width // 3, height - 1))
    for width, height in [(40, 30), (31, 47), (90, 12), (16, 100)]:
        print(width, height, base64.b64encode(encode(width, height, picture(width, height))).decode())
    slope = [(0.8, 0.4, 0.2, 1 if x < 13 + y * y // 40 else 0) for y in range(30) for x in range(40)]
    data = encode(40, 30, slope)
    width, height, pixel = decode(data)
    print("slope", base64.b64encode(data).decode(), width, height, pixel(0, 0), pixel(width - 1, 0))


main()
