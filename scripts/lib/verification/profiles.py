"""ICC profiles with known numbers (ICC.1:2010): matrices and curves, grays, and tables for RGB and CMYK."""

import struct

import numpy as np

from . import colorimetry

_D50 = np.array([0.9642, 1.0, 0.8249])

ADOBE_RGB = ((0.64, 0.33), (0.21, 0.71), (0.15, 0.06), colorimetry.D65)
PROPHOTO = ((0.7347, 0.2653), (0.1596, 0.8404), (0.0366, 0.0001), (0.3457, 0.3585))


def _fixed(values):
    return b"".join(struct.pack(">i", round(float(value) * 65536)) for value in values)


def _text(text):
    data = text.encode("utf-16-be")
    return b"mluc" + struct.pack(">IIIHHII", 0, 1, 12, 0x656E, 0x5553, len(data), 28) + data


def _xyz(values):
    return b"XYZ " + bytes(4) + _fixed(values)


def _curve(gamma):
    """A power, or the curve of sRGB for nothing."""
    if gamma is None:
        return b"para" + bytes(4) + struct.pack(">HH", 3, 0) + _fixed((2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045))
    return b"para" + bytes(4) + struct.pack(">HH", 0, 0) + _fixed((gamma,))


def _profile(space, connection, device, name, tags):
    tags = {b"desc": _text(name), b"cprt": _text("No rights reserved"), b"wtpt": _xyz(_D50), **tags}
    table, body, place = b"", b"", 128 + 4 + 12 * len(tags)
    for signature, data in tags.items():
        data += bytes(-len(data) % 4)
        table += signature + struct.pack(">II", place + len(body), len(data))
        body += data
    size = place + len(body)
    head = struct.pack(">I4sI4s4s4s", size, bytes(4), 0x04200000, device, space, connection)
    head += struct.pack(">6H", 2026, 1, 1, 0, 0, 0) + b"acsp" + bytes(4 * 7) + _fixed(_D50)
    return head.ljust(128, b"\0") + struct.pack(">I", len(tags)) + table + body


def matrix(name, primaries, gamma):
    """A display: light is the power of a number, and a matrix takes it to XYZ."""
    adapt = colorimetry.bradford(colorimetry.xyz_of_white(primaries[3]), _D50)
    columns = (adapt @ colorimetry.to_xyz(primaries)).T
    tags = {signature: _xyz(column) for signature, column in zip((b"rXYZ", b"gXYZ", b"bXYZ"), columns)}
    tags.update({signature: _curve(gamma) for signature in (b"rTRC", b"gTRC", b"bTRC")})
    return _profile(b"RGB ", b"XYZ ", b"mntr", name, tags)


def gray(name, gamma):
    return _profile(b"GRAY", b"XYZ ", b"mntr", name, {b"kTRC": _curve(gamma)})


def _lab(xyz):
    ratio = xyz / _D50
    cube = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.stack([116 * cube[..., 1] - 16, 500 * (cube[..., 0] - cube[..., 1]), 200 * (cube[..., 1] - cube[..., 2])], -1)


def _table(channels, steps, lab):
    """A table of 16 bits to Lab (lut16Type), whose Lab has 0xFF00 for 100."""
    encoded = np.stack([lab[..., 0] * 652.8, (lab[..., 1] + 128) * 256, (lab[..., 2] + 128) * 256], -1)
    grid = np.clip(np.rint(encoded), 0, 65535).astype(">u2").tobytes()
    line = struct.pack(">HH", 0, 65535)
    head = b"mft2" + bytes(4) + bytes((channels, 3, steps, 0)) + _fixed((1, 0, 0, 0, 1, 0, 0, 0, 1))
    return head + struct.pack(">HH", 2, 2) + line * channels + grid + line * 3


def _grid(channels, steps):
    axis = np.linspace(0, 1, steps)
    return np.stack(np.meshgrid(*[axis] * channels, indexing="ij"), -1)


def rgb_table(name):
    """A device whose channels run into each other, which no matrix describes."""
    values = _grid(3, 17)
    mixed = 0.85 * values**1.9 + 0.15 * np.roll(values, 1, -1) * values
    adapt = colorimetry.bradford(colorimetry.xyz_of_white(colorimetry.D65), _D50)
    xyz = mixed @ (adapt @ colorimetry.to_xyz(ADOBE_RGB)).T
    return _profile(b"RGB ", b"Lab ", b"mntr", name, {b"A2B0": _table(3, 17, _lab(xyz))})


def cmyk_table(name):
    """Inks that each take a color out of white paper."""
    ink = _grid(4, 9)
    dyes = np.array([(0.12, 0.45, 0.75), (0.70, 0.10, 0.35), (0.85, 0.80, 0.08), (0.03, 0.03, 0.03)])
    light = np.prod(1 - ink[..., None] * (1 - dyes), axis=-2)
    adapt = colorimetry.bradford(colorimetry.xyz_of_white(colorimetry.D65), _D50)
    xyz = light @ (adapt @ colorimetry.to_xyz(colorimetry.PRIMARIES[1])).T * 0.92
    return _profile(b"CMYK", b"Lab ", b"prtr", name, {b"A2B0": _table(4, 9, _lab(xyz))})


# Matrix profiles: name, primaries, gamma.
MATRICES = {
    "sRGB": ("sRGB IEC61966-2.1", colorimetry.PRIMARIES[1], None),
    "P3": ("Display P3", colorimetry.PRIMARIES[12], None),
    "AdobeRGB": ("Adobe RGB (1998)", ADOBE_RGB, 563 / 256),
    "ProPhoto": ("ProPhoto RGB", PROPHOTO, 1.8),
    "Rec2020": ("Rec. 2020", colorimetry.PRIMARIES[9], 2.4),
    "linear": ("Linear light", colorimetry.PRIMARIES[1], 1.0),
    "linear, called sRGB": ("sRGB linear", colorimetry.PRIMARIES[1], 1.0),
    "P3, called sRGB": ("sRGB display", colorimetry.PRIMARIES[12], None),
}
GRAYS = {"gray linear": 1.0, "gray 1.8": 1.8, "gray 2.2": 2.2, "gray sRGB": None}


def all_rgb():
    made = {key: matrix(*numbers) for key, numbers in MATRICES.items()}
    return {**made, "table": rgb_table("Device with a table")}


def all_gray():
    return {key: gray(key, gamma) for key, gamma in GRAYS.items()}
