"""Colors in double precision: curves, primaries, and YCbCr matrices, from the standards' own numbers."""

import numpy as np

# Code points of ITU-T H.273, table 2: x and y of red, green, blue and white.
D65 = (0.3127, 0.3290)
PRIMARIES = {
    1: ((0.64, 0.33), (0.30, 0.60), (0.15, 0.06), D65),
    4: ((0.67, 0.33), (0.21, 0.71), (0.14, 0.08), (0.310, 0.316)),
    5: ((0.64, 0.33), (0.29, 0.60), (0.15, 0.06), D65),
    6: ((0.630, 0.340), (0.310, 0.595), (0.155, 0.070), D65),
    7: ((0.630, 0.340), (0.310, 0.595), (0.155, 0.070), D65),
    9: ((0.708, 0.292), (0.170, 0.797), (0.131, 0.046), D65),
    11: ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060), (0.314, 0.351)),
    12: ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060), D65),
}
# Table 3: what is a plain power. The curves of cameras (1, 6, 14, 15) are shown like sRGB, as browsers do.
GAMMAS = {4: 2.2, 5: 2.8, 8: 1.0}
HIGH_DYNAMIC_RANGE = (16, 18)
# Table 4: the shares of red and blue in luma.
LUMA = {1: (0.2126, 0.0722), 5: (0.299, 0.114), 6: (0.299, 0.114), 9: (0.2627, 0.0593)}


def srgb_light(value):
    return np.where(value <= 0.04045, value / 12.92, ((np.maximum(value, 0) + 0.055) / 1.055) ** 2.4)


def srgb_value(light):
    return np.where(light <= 0.0031308, light * 12.92, 1.055 * np.maximum(light, 0) ** (1 / 2.4) - 0.055)


def to_xyz(primaries):
    """The matrix from linear components to XYZ (SMPTE RP 177)."""
    columns = np.array([(x / y, 1, (1 - x - y) / y) for x, y in primaries]).T
    return columns[:, :3] * np.linalg.solve(columns[:, :3], columns[:, 3])


def bradford(white, to):
    """The matrix that adapts XYZ from one white to another (ICC.1, annex E)."""
    cone = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
    return np.linalg.solve(cone, np.diag(cone @ to / (cone @ white)) @ cone)


def xyz_of_white(point):
    x, y = point
    return np.array([x / y, 1, (1 - x - y) / y])


def linear_to_srgb(light, primaries):
    """sRGB values from 0 to 1 of linear light in other primaries; what is out of gamut is clipped."""
    adapt = bradford(xyz_of_white(primaries[3]), xyz_of_white(D65))
    matrix = np.linalg.solve(to_xyz(PRIMARIES[1]), adapt @ to_xyz(primaries))
    return srgb_value(np.clip(light @ matrix.T, 0, 1))


def code_points_to_srgb(values, primaries, transfer):
    """sRGB values from 0 to 1 of values from 0 to 1 with the code points; `None` for high dynamic range."""
    if transfer in HIGH_DYNAMIC_RANGE:
        return None
    power = GAMMAS.get(transfer)
    points = PRIMARIES.get(primaries, PRIMARIES[1])
    if power is None and points == PRIMARIES[1]:
        return values
    light = np.clip(values, 0, 1) ** power if power else srgb_light(values)
    return linear_to_srgb(light, points)


def levels(depth, full):
    """Black and white of luma, and the extent of chroma, as numbers of the depth."""
    if full:
        return 0, 2**depth - 1, 2**depth - 1
    step = 2 ** (depth - 8)
    return 16 * step, 235 * step, 224 * step


def rgb_to_planes(rgb, matrix, depth, full):
    """Y, Cb and Cr, or G, B and R for the identity matrix (0), rounded to numbers of the depth. `rgb` is from 0 to 1."""
    black, white, extent = levels(depth, full)
    if matrix == 0:
        return [np.rint(black + rgb[..., i] * (white - black)).astype(np.uint16) for i in (1, 2, 0)]
    red, blue = LUMA[matrix]
    luma = red * rgb[..., 0] + (1 - red - blue) * rgb[..., 1] + blue * rgb[..., 2]
    cb = (rgb[..., 2] - luma) / (2 * (1 - blue))
    cr = (rgb[..., 0] - luma) / (2 * (1 - red))
    planes = [black + luma * (white - black), 2 ** (depth - 1) + cb * extent, 2 ** (depth - 1) + cr * extent]
    return [np.clip(np.rint(plane), 0, 2**depth - 1).astype(np.uint16) for plane in planes]


def planes_to_rgb(planes, matrix, depth, full):
    """Values from 0 to 1 of planes of the same size; one plane is gray."""
    black, white, extent = levels(depth, full)
    luma = (planes[0].astype(float) - black) / (white - black)
    if len(planes) == 1:
        return np.clip(np.stack([luma] * 3, -1), 0, 1)
    if matrix == 0:
        green, blue, red = [(plane.astype(float) - black) / (white - black) for plane in planes]
        return np.clip(np.stack([red, green, blue], -1), 0, 1)
    kr, kb = LUMA[matrix]
    cb = (planes[1].astype(float) - 2 ** (depth - 1)) / extent
    cr = (planes[2].astype(float) - 2 ** (depth - 1)) / extent
    red = luma + 2 * (1 - kr) * cr
    blue = luma + 2 * (1 - kb) * cb
    green = (luma - kr * red - kb * blue) / (1 - kr - kb)
    return np.clip(np.stack([red, green, blue], -1), 0, 1)
