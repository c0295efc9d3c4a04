"""Does the work of Benchmarks/TransformRatios with Pillow, libvips and OpenCV, on one thread each, and prints a table of all.

Reads the times of Tintype as lines of `OPERATION<tab>median<tab>least` from standard input.
"""

import os
import statistics
import sys
import time

os.environ["VIPS_CONCURRENCY"] = "1"

import cv2
import numpy
import PIL.Image
import PIL.ImageFilter
import PIL.ImageOps
import pyvips

ROUNDS = int(os.environ.get("ROUNDS", "7"))
SIZE = (4000, 3000)


def picture():
    x, y = numpy.meshgrid(numpy.arange(SIZE[0]), numpy.arange(SIZE[1]))
    noise = numpy.random.default_rng(1).integers(0, 32, x.shape)
    channels = [x * 200 // SIZE[0] + noise, y * 200 // SIZE[1] + noise, (x ^ y) & 255, numpy.full(x.shape, 255)]
    return numpy.ascontiguousarray(numpy.stack(channels, -1).astype(numpy.uint8))


def processor_time(work):
    times = []
    for number in range(ROUNDS + 1):
        start = time.process_time()
        work()
        # The first round fills caches.
        if number > 0:
            times.append((time.process_time() - start) * 1000)
    return statistics.median(times)


def saturation(amount):
    """The matrix of a change of saturation, for rows of red, green and blue."""
    luma = numpy.array([0.2126, 0.7152, 0.0722])
    return numpy.eye(3) * amount + numpy.outer(numpy.ones(3), luma) * (1 - amount)


def peers(pixels):
    cv2.setNumThreads(1)
    # RGBX, because Pillow premultiplies and divides RGBA around each operation.
    pillow = PIL.Image.fromarray(pixels[..., :3]).convert("RGBX")
    rgb = PIL.Image.fromarray(numpy.ascontiguousarray(pixels[..., :3]))
    vips = pyvips.Image.new_from_memory(pixels.tobytes(), *SIZE, 4, "uchar").copy(interpretation="srgb").copy_memory()
    matrix = numpy.eye(4)
    matrix[:3, :3] = saturation(1.5)
    rows = [[*row, 0] for row in matrix[:3, :3].tolist()]
    flat = [number for row in rows for number in row]
    vips_matrix = pyvips.Image.new_from_array(matrix.tolist())
    rotation = cv2.getRotationMatrix2D((SIZE[0] / 2, SIZE[1] / 2), -30, 1)

    def vips_memory(image):
        return image.write_to_memory()

    def vips_resize(width):
        # Without a cache of earlier results.
        return vips_memory(vips.resize(width / SIZE[0], kernel="lanczos3"))

    operations = {}
    for width, height in [(800, 600), (2000, 1500)]:
        operations[f"resize to {width}x{height}"] = {
            "Pillow": lambda size=(width, height): pillow.resize(size, PIL.Image.Resampling.LANCZOS),
            "libvips": lambda width=width: vips_resize(width),
            "OpenCV": lambda size=(width, height): cv2.resize(pixels, size, interpolation=cv2.INTER_AREA),
        }
    operations["crop to 2000x1500"] = {
        "Pillow": lambda: pillow.crop((1001, 703, 3001, 2203)).load(),
        "libvips": lambda: vips_memory(vips.crop(1001, 703, 2000, 1500)),
        "OpenCV": lambda: pixels[703:2203, 1001:3001].copy(),
    }
    for radius in [1.5, 5, 20]:
        operations[f"blur, radius {radius}"] = {
            "Pillow": lambda radius=radius: pillow.filter(PIL.ImageFilter.GaussianBlur(radius)),
            "libvips": lambda radius=radius: vips_memory(vips.gaussblur(radius)),
            "OpenCV": lambda radius=radius: cv2.GaussianBlur(pixels, (0, 0), radius),
        }
    operations["color matrix"] = {
        "Pillow": lambda: rgb.convert("RGB", flat),
        "libvips": lambda: vips_memory(vips.recomb(vips_matrix).cast("uchar")),
        "OpenCV": lambda: cv2.transform(pixels, matrix),
    }
    operations["flip"] = {
        "Pillow": lambda: pillow.transpose(PIL.Image.Transpose.FLIP_LEFT_RIGHT),
        "libvips": lambda: vips_memory(vips.fliphor()),
        "OpenCV": lambda: cv2.flip(pixels, 1),
    }
    operations["quarter turn"] = {
        "Pillow": lambda: pillow.transpose(PIL.Image.Transpose.ROTATE_270),
        "libvips": lambda: vips_memory(vips.rot90()),
        "OpenCV": lambda: cv2.rotate(pixels, cv2.ROTATE_90_CLOCKWISE),
    }
    operations["rotate by 30 degrees"] = {
        "Pillow": lambda: pillow.rotate(-30, PIL.Image.Resampling.BICUBIC, expand=True),
        "libvips": lambda: vips_memory(vips.similarity(angle=30, interpolate=pyvips.Interpolate.new("bicubic"))),
        "OpenCV": lambda: cv2.warpAffine(pixels, rotation, (4965, 4599), flags=cv2.INTER_CUBIC),
    }
    return operations


def main():
    own = {}
    for line in sys.stdin:
        name, median, _ = line.rstrip("\n").split("\t")
        own[name] = float(median)
    pyvips.cache_set_max(0)
    operations = peers(picture())
    tools = ["Pillow", "libvips", "OpenCV"]
    print(f"12 megapixels, 8-bit RGBA, one thread, CPU ms: median of {ROUNDS}. Pillow "
          f"{PIL.__version__}, libvips {pyvips.version(0)}.{pyvips.version(1)}.{pyvips.version(2)}, OpenCV {cv2.__version__}\n")
    print("| operation | Tintype | " + " | ".join(tools) + " | Tintype / fastest |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, mine in own.items():
        times = {tool: processor_time(work) for tool, work in operations.get(name, {}).items()}
        cells = [f"{times[tool]:.1f}" if tool in times else "" for tool in tools]
        ratio = f"{mine / min(times.values()):.2f}" if times else ""
        print(f"| {name} | {mine:.1f} | " + " | ".join(cells) + f" | {ratio} |")


main()
