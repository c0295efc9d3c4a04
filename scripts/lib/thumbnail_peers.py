"""Makes the thumbnails of Benchmarks/CodecRatios with Pillow, OpenCV and libvips, on one thread each, and prints a table of all.

Reads lines of `FILE<tab>KIND<tab>longer side<tab>bare loop<tab>dB<tab>Tintype<tab>dB` from standard input, and measures as soon as each one
comes.
"""

import os
import statistics
import sys
import time

os.environ["VIPS_CONCURRENCY"] = "1"

import cv2
import PIL.Image
import pyvips

ROUNDS = int(os.environ.get("ROUNDS", "7"))


def pillow(path, side):
    with PIL.Image.open(path) as image:
        size = image.size
        scale = side / max(size)
        target = (round(size[0] * scale), round(size[1] * scale))
        # The smallest decode that is at least twice as large.
        image.draft("RGB", (2 * target[0], 2 * target[1]))
        image.resize(target, PIL.Image.Resampling.LANCZOS)


def opencv(path, side):
    # Half the size at least, so that the filter has something to do.
    for flag, eighths in [
        (cv2.IMREAD_REDUCED_COLOR_8, 1), (cv2.IMREAD_REDUCED_COLOR_4, 2), (cv2.IMREAD_REDUCED_COLOR_2, 4)]:
        if eighths * SIZES[path] >= 8 * 2 * side:
            break
    else:
        flag = cv2.IMREAD_COLOR
    image = cv2.imread(path, flag)
    scale = side / max(image.shape[:2])
    target = (round(image.shape[1] * scale), round(image.shape[0] * scale))
    cv2.resize(image, target, interpolation=cv2.INTER_AREA)


def vips(path, side):
    pyvips.Image.thumbnail(path, side, height=side).write_to_memory()


TOOLS = {"Pillow": pillow, "OpenCV": opencv, "libvips": vips}
SIZES = {}


def processor_time(work, path, side):
    times = []
    for number in range(ROUNDS + 1):
        start = time.process_time()
        work(path, side)
        # The first round fills caches.
        if number > 0:
            times.append((time.process_time() - start) * 1000)
    return statistics.median(times)


def main():
    pyvips.cache_set_max(0)
    cv2.setNumThreads(1)
    print(f"Thumbnails, one thread, CPU ms: median of {ROUNDS}; dB to a reduction in floating point. Pillow "
          f"{PIL.__version__}, OpenCV {cv2.__version__}, libvips {pyvips.version(0)}.{pyvips.version(1)}\n")
    print("| picture | longer side | bare loop in C | dB | Tintype | ratio | dB | " + " | ".join(TOOLS) + " |")
    print("| --- " * (7 + len(TOOLS)) + "|")
    sums = {}
    for line in sys.stdin:
        path, kind, side, bare, bare_decibels, own, decibels = line.rstrip("\n").split("\t")
        with PIL.Image.open(path) as image:
            SIZES[path] = max(image.size)
        times = [float(bare), float(own)] + [processor_time(work, path, int(side)) for work in TOOLS.values()]
        sums.setdefault(kind, []).append(times)
        print(f"| {os.path.basename(path)} | {side} px | {row(times, bare_decibels and f'{float(bare_decibels):.1f}', f'{float(decibels):.1f}')}")
    for kind, times in sums.items():
        print(f"| {kind}, mean | | {row([statistics.mean(column) for column in zip(*times)], '', '')}")


def row(times, bare_decibels, decibels):
    cells = [f"{times[0]:.1f}", bare_decibels, f"{times[1]:.1f}", f"{times[1] / times[0]:.2f}", decibels]
    return " | ".join(cells + [f"{time:.1f}" for time in times[2:]]) + " |"


main()
