"""Compares thumbnails with a Lanczos filter in double precision over the whole image, as Tintype decodes it."""

import argparse
import os
import sys
import tempfile

import numpy as np
from PIL import Image

from .command import Refused, Tintype, print_table

LEAST = 50.0
SIZES = ((1593, 1193), (1600, 1200), (1601, 1200), (799, 1201), (1023, 767))
TARGETS = (100, 317, 64)
FORMATS = {
    "jpeg": ("jpg", {"quality": 92}),
    "jpeg 4:4:4": ("jpg", {"quality": 92, "subsampling": 0}),
    "jpeg progressive": ("jpg", {"quality": 92, "progressive": True}),
    "png": ("png", {"compress_level": 1}),
    "png with alpha": ("png", {"compress_level": 1}),
    "webp": ("webp", {"quality": 92, "method": 0}),
    "avif": ("avif", {"quality": 90, "speed": 9}),
}


def photograph(width, height, has_alpha):
    """Noise whose power falls with the square of the frequency, as in photographs, with a few sharp edges."""
    random = np.random.default_rng(width * 10_000 + height)
    fy = np.fft.fftfreq(height)[:, None]
    fx = np.fft.rfftfreq(width)[None, :]
    weight = 1 / np.maximum(np.hypot(fx, fy), 1 / max(width, height)) ** 1.2
    y, x = np.mgrid[0:height, 0:width]
    edges = ((x // 97 + y // 131) % 2) * 0.06 + (np.hypot(x - width / 2, y - height / 2) < height / 3) * 0.1
    planes = []
    for _ in range(4 if has_alpha else 3):
        phases = np.exp(2j * np.pi * random.random(weight.shape))
        noise = np.fft.irfft2(weight * phases, (height, width))
        planes.append(0.4 + 0.15 * noise / noise.std() + edges)
    pixels = np.rint(np.clip(np.stack(planes, -1), 0, 1) * 255).astype(np.uint8)
    return Image.fromarray(pixels, "RGBA" if has_alpha else "RGB")


def weights(source, target):
    """Row by row, the shares of source samples in a target sample: Lanczos with three lobes, stretched to the scale."""
    scale = source / target
    stretch = max(1, scale)
    centers = (np.arange(target) + 0.5) * scale
    distance = (np.arange(source)[None, :] + 0.5 - centers[:, None]) / stretch
    taps = np.where(np.abs(distance) < 3, np.sinc(distance) * np.sinc(distance / 3), 0)
    return taps / taps.sum(1, keepdims=True)


def lanczos(pixels, width, height):
    down = np.tensordot(weights(pixels.shape[0], height), pixels, (1, 0))
    return np.tensordot(weights(pixels.shape[1], width), down, (1, 1)).transpose(1, 0, 2)


def premultiplied(path):
    pixels = np.asarray(Image.open(path).convert("RGBA")).astype(float)
    pixels[..., :3] *= pixels[..., 3:] / 255
    return pixels


def decibels(a, b):
    error = ((a - b) ** 2).mean()
    return 99.0 if error == 0 else min(99.0, 10 * np.log10(255**2 / error))


def shift(seen, wanted):
    """How many pixels the thumbnail lies to the right of and below where it belongs, by least squares over its slopes."""
    across, down = np.gradient(wanted[..., :3], axis=1), np.gradient(wanted[..., :3], axis=0)
    slopes = np.stack([-across.ravel(), -down.ravel()], 1)
    found, *_ = np.linalg.lstsq(slopes, (seen - wanted)[..., :3].ravel(), rcond=None)
    return found


def check(tintype, folder, name, size, target):
    """The cells of a row, and whether it is as it should be."""
    ending, options = FORMATS[name]
    source, full, small = (os.path.join(folder, file) for file in (f"source.{ending}", "full.png", "small.png"))
    title = f"{name} {size[0]}x{size[1]} to {target}"
    try:
        tintype.convert(source, small, "--resize", f"{target}x{target}")
    except Refused as error:
        return [title, "", "", "", f"refused: {error}"], False
    seen = premultiplied(small)
    height, width = seen.shape[:2]
    if any(abs(side - whole * target / max(size)) >= 1 for side, whole in zip((width, height), size)):
        return [title, "", "", "", f"{width}x{height}"], False
    wanted = np.clip(np.rint(lanczos(premultiplied(full), width, height)), 0, 255)
    ratio = decibels(seen, wanted)
    right, below = shift(seen, wanted)
    passed = ratio >= LEAST
    return [title, f"{ratio:.1f}", f"{right:+.3f}", f"{below:+.3f}", "" if passed else "too far"], passed


def main():
    parser = argparse.ArgumentParser(prog="scripts/thumbnail-accuracy")
    parser.add_argument("--only", metavar="TEXT", help="check cases of formats whose names contain this")
    parser.add_argument("--tintype", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    tintype, rows, failed = Tintype(options.tintype), [], 0
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            for name, (ending, settings) in FORMATS.items():
                if options.only and options.only not in name:
                    continue
                source = os.path.join(folder, f"source.{ending}")
                photograph(*size, name == "png with alpha").save(source, **settings)
                tintype.convert(source, os.path.join(folder, "full.png"))
                for target in TARGETS:
                    row, passed = check(tintype, folder, name, size, target)
                    rows.append(row)
                    failed += not passed
    print_table(["thumbnail", "dB", "right", "below", ""], rows)
    print(f"\n{len(rows)} thumbnails, {failed} failed; at least {LEAST:g} dB are asked for. "
          "Shifts are in pixels of the thumbnail.")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
