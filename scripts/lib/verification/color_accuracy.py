"""Makes images with known colors in every way that the formats state them, and compares what Tintype decodes."""

import argparse
import os
import sys
import tempfile
from dataclasses import dataclass

import numpy as np

from . import color_cases, files
from .command import Refused, Tintype, print_table
from .references import LittleCMS

MEAN_LIMIT, LARGEST_LIMIT = 0.5, 3
# Profiles with tables are converted with LittleCMS's grid of 33 points, as other programs do; in dark colors it is that far off.
LARGEST_LIMIT_OF_TABLES = 16


@dataclass
class Result:
    name: str
    mean: float = 0
    largest: float = 0
    note: str = ""

    @property
    def failed(self):
        largest = LARGEST_LIMIT_OF_TABLES if "table" in self.name else LARGEST_LIMIT
        return bool(self.note) or self.mean > MEAN_LIMIT or self.largest > largest


def compare(name, seen, expected, blocks):
    """Differences of 255. Of blocks only the middle is compared, which no chroma from beside reaches."""
    if seen.shape != expected.shape:
        return Result(name, note=f"{seen.shape[1]}x{seen.shape[0]} instead of {expected.shape[1]}x{expected.shape[0]}")
    difference = np.abs(seen - expected) * 255
    if blocks:
        height, width = difference.shape[:2]
        difference = difference.reshape(height // 8, 8, width // 8, 8, 3)[:, 2:6, :, 2:6]
    return Result(name, float(difference.mean()), float(difference.max()))


def check(case, tintype, lcms, folder):
    """A result each for the conversion to sRGB in 8 bits, with --keep-color, and with --keep-depth, where they apply."""
    ways = [("", [])]
    if case.keeps_color:
        ways.append(("--keep-color", ["--keep-color"]))
    if case.is_deep:
        ways.append(("--keep-depth", ["--keep-depth"]))
    for way, options in ways:
        name = f"{case.name} {way}".strip()
        output = os.path.join(folder, "result.png")
        try:
            tintype.convert(case.path, output, *options)
        except Refused as error:
            yield Result(name, note=f"refused: {error}")
            continue
        seen, depth, profile = files.read_png(output)
        if profile:
            seen = lcms.to_srgb(seen, "RGB ", profile)
        result = compare(name, seen, case.expected, case.blocks)
        if way == "--keep-depth" and depth != 16:
            result.note = "8 bits instead of 16"
        yield result


def main():
    parser = argparse.ArgumentParser(prog="scripts/color-accuracy")
    parser.add_argument("--only", metavar="TEXT", help="check cases whose names contain this")
    parser.add_argument("--tintype", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    tintype, lcms = Tintype(options.tintype), LittleCMS()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for case in color_cases.all_cases(folder, lcms, options.only):
            results += check(case, tintype, lcms, folder)
    print_table(
        ["case", "mean", "largest", ""],
        [[r.name, f"{r.mean:.3f}", f"{r.largest:.2f}", (r.note or "too far") if r.failed else ""] for r in results])
    failed = sum(result.failed for result in results)
    print(f"\n{len(results)} cases, {failed} failed; allowed are {MEAN_LIMIT} on average and {LARGEST_LIMIT} at most, of 255 "
          f"({LARGEST_LIMIT_OF_TABLES} with tables)")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
