"""Makes the thumbnails of Benchmarks/CodecRatios with Pillow, OpenCV and libvips, on one thread each, and prints a table of all.

Reads lines of `FILE<tab>KIND<tab>bare loop<tab>dB<tab>Tintype<tab>dB` from standard input, and measures as soon as each one comes.
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
SIDE = 400


def pillow(path):
    with PIL.Image.open(path) as image:
        size = image.size
        scale = SIDE / max(size)
        target = (round(size[0] * scale), round(size[1] * scale))
        # The smallest decode that is at least twice as large.
        image.draft("RGB", (2 * target[0], 2 * target[1]))
        image.resize(target, PIL.Image.Resampling.LANCZOS)


def opencv(path):
    # Half the size at least, so that the filter has something to do.
    for flag, eighths in [
        (cv2.IMREAD_REDUCED_COLOR_8, 1), (cv2.IMREAD_REDUCED_COLOR_4, 2), (cv2.IMREAD_REDUCED_COLOR_2, 4)]:
        if eighths * SIZES[path] >= 8 * 2 * SIDE:
            break
    else:
        flag = cv2.IMREAD_COLOR
    image = cv2.imread(path, flag)
    scale = SIDE / max(image.shape[:2])
    target = (round(image.shape[1] * scale), round(image.shape[0] * scale))
    cv2.resize(image, target, interpolation=cv2.INTER_AREA)


def vips(path):
    pyvips.Image.thumbnail(path, SIDE, height=SIDE).write_to_memory()


TOOLS = {"Pillow": pillow, "OpenCV": opencv, "libvips": vips}
SIZES = {}


def processor_time(work, path):
    times = []
    for number in range(ROUNDS + 1):
        start = time.process_time()
        work(path)
        # The first round fills caches.
        if number > 0:
            times.append((time.process_time() - start) * 1000)
    return statistics.median(times)


def main():
    pyvips.cache_set_max(0)
    cv2.setNumThreads(1)
    print(f"Thumbnails of {SIDE} px, one thread, CPU ms: median of {ROUNDS}; dB to a reduction in floating point. Pillow "
          f"{PIL.__version__}, OpenCV {cv2.__version__}, libvips {pyvips.version(0)}.{pyvips.version(1)}\n")
    print("| picture | bare loop in C | dB | Tintype | ratio | dB | " + " | ".join(TOOLS) + " |")
    print("| --- " * (6 + len(TOOLS)) + "|")
    sums = {}
    for line in sys.stdin:
        path, kind, bare, bare_decibels, own, decibels = line.rstrip("\n").split("\t")
        with PIL.Image.open(path) as image:
            SIZES[path] = max(image.size)
        times = [float(bare), float(own)] + [processor_time(work, path) for work in TOOLS.values()]
        sums.setdefault(kind, []).append(times)
        print(f"| {os.path.basename(path)} | {row(times, bare_decibels and f'{float(bare_decibels):.1f}', f'{float(decibels):.1f}')}")
    for kind, times in sums.items():
        print(f"| {kind}, mean | {row([statistics.mean(column) for column in zip(*times)], '', '')}")


def row(times, bare_decibels, decibels):
    cells = [f"{times[0]:.1f}", bare_decibels, f"{times[1]:.1f}", f"{times[1] / times[0]:.2f}", decibels]
    return " | ".join(cells + [f"{time:.1f}" for time in times[2:]]) + " |"


main()
