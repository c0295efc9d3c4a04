"""Images with known colors, written without Tintype."""

import os
import subprocess
from dataclasses import dataclass

import numpy as np
from PIL import Image

from . import colorimetry, files, profiles
from .references import LibHEIF

BLOCK = 8


@dataclass
class Case:
    name: str
    path: str
    # sRGB from 0 to 1.
    expected: np.ndarray
    # Whether the picture is of even areas of 8 x 8 pixels.
    blocks: bool = True
    # Whether 8 bits in the source's own colors are exact, so that --keep-color can be.
    keeps_color: bool = False
    # Whether --keep-depth is to give 16 bits.
    is_deep: bool = False


def chart(deep=False, channels=3):
    """1,024 colors as blocks: a grid over the cube, grays or a dark ramp, and dark colors."""
    random = np.random.default_rng(20)
    if channels == 4:
        colors = random.random((1024, 4))
        colors[:256] = np.stack(np.meshgrid(*[np.linspace(0, 1, 4)] * 4, indexing="ij"), -1).reshape(-1, 4)
    else:
        axis = np.array([0, 32, 64, 96, 128, 160, 192, 224, 255]) / 255
        cube = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3)
        ramp = np.linspace(0, 0.1 if deep else 1, 256)[:, None].repeat(3, 1)
        colors = np.concatenate([cube, ramp, random.random((39, 3)) * 0.2])
    return colors.reshape(32, 32, channels).repeat(BLOCK, 0).repeat(BLOCK, 1)


def gray_chart(deep=False):
    values = np.linspace(0, 1, 1024) ** (2 if deep else 1)
    return values.reshape(32, 32).repeat(BLOCK, 0).repeat(BLOCK, 1)


def gradient():
    """A picture whose chroma changes from pixel to pixel, slowly enough to be known between them."""
    y, x = np.mgrid[0:256, 0:256] / 255
    wave = 0.5 + 0.3 * np.sin(x * 40) * np.cos(y * 31)
    return np.stack([wave, 0.3 + 0.4 * y, 0.5 + 0.3 * np.cos(x * 33 + y * 29)], -1)


def quantized(values, depth):
    """Numbers of the depth, and the values that they stand for."""
    most = 2**depth - 1
    numbers = np.rint(values * most).astype(np.uint16)
    return numbers, numbers / most


def all_cases(folder, lcms, only):
    """Cases whose names contain `only`, one at a time."""
    maker = Maker(folder, lcms)
    for group in (maker.png, maker.jpeg, maker.webp, maker.tiff, maker.jxl, maker.avif, maker.heic):
        for name, make in group():
            if not only or only in name:
                yield make(name)


class Maker:
    def __init__(self, folder, lcms):
        self.folder, self.lcms = folder, lcms
        self.rgb, self.gray = profiles.all_rgb(), profiles.all_gray()

    def path(self, ending):
        return os.path.join(self.folder, "source." + ending)

    def seen(self, values, space, profile):
        """What LittleCMS says, which for matrices must be what arithmetic says."""
        return self.lcms.to_srgb(values, space, profile)

    def seen_gray(self, values, profile):
        return self.lcms.to_srgb(values[..., None], "GRAY", profile)

    # PNG

    def png(self):
        for depth in (8, 16):
            for key, profile in self.rgb.items():
                yield f"PNG RGB {depth} bits, {key}", lambda name, d=depth, p=profile: self.rgb_png(name, d, p)
            for key, profile in self.gray.items():
                yield f"PNG gray {depth} bits, {key}", lambda name, d=depth, p=profile: self.gray_png(name, d, p)
        yield "PNG sRGB chunk before the profile of P3", lambda name: self.rgb_png(
            name, 8, self.rgb["P3"], [(b"sRGB", b"\0")])
        for primaries, transfer in ((12, 13), (9, 13), (1, 8), (1, 4)):
            yield f"PNG cICP {primaries}/{transfer}", lambda name, p=primaries, t=transfer: self.cicp_png(name, p, t)

    def rgb_png(self, name, depth, profile, chunks=()):
        numbers, values = quantized(chart(depth > 8), depth)
        files.png(self.path("png"), numbers, depth, profile, chunks)
        expected = self.seen(values, "RGB ", profile)
        return Case(name, self.path("png"), expected, False, keeps_color=depth == 8, is_deep=depth > 8)

    def gray_png(self, name, depth, profile):
        numbers, values = quantized(gray_chart(depth > 8), depth)
        files.png(self.path("png"), numbers, depth, profile)
        expected = self.seen_gray(values, profile)
        return Case(name, self.path("png"), expected, False, keeps_color=depth == 8, is_deep=depth > 8)

    def cicp_png(self, name, primaries, transfer):
        numbers, values = quantized(chart(), 8)
        files.png(self.path("png"), numbers, 8, chunks=[(b"cICP", bytes((primaries, transfer, 0, 1)))])
        expected = colorimetry.code_points_to_srgb(values, primaries, transfer)
        return Case(name, self.path("png"), expected, False, keeps_color=True)

    # JPEG

    def jpeg(self):
        for key in ("P3", "AdobeRGB", "ProPhoto", "Rec2020", "table"):
            for layout, sampling in (("444", 0), ("422", 1), ("420", 2)):
                if layout == "444" or key == "P3":
                    yield f"JPEG {layout}, {key}", lambda name, p=self.rgb[key], s=sampling: self.rgb_jpeg(name, p, s)
        for key in ("gray 1.8", "gray 2.2", "gray sRGB"):
            yield f"JPEG gray, {key}", lambda name, p=self.gray[key]: self.gray_jpeg(name, p)
        yield "JPEG CMYK, table", self.cmyk_jpeg

    def rgb_jpeg(self, name, profile, sampling):
        numbers, values = quantized(chart(), 8)
        image = Image.fromarray(numbers.astype(np.uint8), "RGB")
        image.save(self.path("jpg"), quality=100, subsampling=sampling, icc_profile=profile)
        # Even blocks have a DC coefficient alone, so nothing is lost but the rounding of YCbCr, and of RGB after it.
        decoded = colorimetry.planes_to_rgb(colorimetry.rgb_to_planes(values, 6, 8, True), 6, 8, True)
        return Case(name, self.path("jpg"), self.seen(np.rint(decoded * 255) / 255, "RGB ", profile))

    def gray_jpeg(self, name, profile):
        numbers, values = quantized(gray_chart(), 8)
        Image.fromarray(numbers.astype(np.uint8), "L").save(self.path("jpg"), quality=100, icc_profile=profile)
        return Case(name, self.path("jpg"), self.seen_gray(values, profile), keeps_color=True)

    def cmyk_jpeg(self, name):
        profile = profiles.cmyk_table("Ink")
        numbers, values = quantized(chart(channels=4), 8)
        image = Image.frombytes("CMYK", (256, 256), numbers.astype(np.uint8).tobytes())
        image.save(self.path("jpg"), quality=100, icc_profile=profile)
        return Case(name, self.path("jpg"), self.seen(values, "CMYK", profile), keeps_color=True)

    # WebP

    def webp(self):
        for key in ("P3", "AdobeRGB", "ProPhoto", "linear", "table"):
            yield f"WebP lossless, {key}", lambda name, p=self.rgb[key]: self.lossless_webp(name, p)
        for key in (None, "P3"):
            yield f"WebP lossy, {key or 'no profile'}", lambda name, p=key and self.rgb[key]: self.lossy_webp(name, p)

    def lossless_webp(self, name, profile):
        numbers, values = quantized(chart(), 8)
        image = Image.fromarray(numbers.astype(np.uint8), "RGB")
        image.save(self.path("webp"), lossless=True, icc_profile=profile)
        return Case(name, self.path("webp"), self.seen(values, "RGB ", profile), False, keeps_color=True)

    def lossy_webp(self, name, profile):
        """Only the coded planes say what was lost: dwebp writes them, and the matrix is done in double precision."""
        numbers, _ = quantized(chart(), 8)
        image = Image.fromarray(numbers.astype(np.uint8), "RGB")
        image.save(self.path("webp"), quality=100, icc_profile=profile)
        planes = self.path("yuv")
        run("dwebp", "-quiet", "-yuv", self.path("webp"), "-o", planes)
        data = np.fromfile(planes, np.uint8)
        split = np.split(data, (65_536, 65_536 + 16_384))
        shaped = [split[0].reshape(256, 256), split[1].reshape(128, 128), split[2].reshape(128, 128)]
        decoded = colorimetry.planes_to_rgb(files.enlarged(shaped, "420"), 6, 8, False)
        expected = self.seen(np.rint(decoded * 255) / 255, "RGB ", profile) if profile else decoded
        return Case(name, self.path("webp"), expected)

    # TIFF

    def tiff(self):
        for depth in (8, 16):
            for key in ("P3", "AdobeRGB", "ProPhoto", "linear", "table"):
                yield f"TIFF RGB {depth} bits, {key}", lambda name, d=depth, p=self.rgb[key]: self.rgb_tiff(name, d, p)
            for key in ("gray linear", "gray 1.8"):
                for photometric, note in ((1, ""), (0, ", white is 0")):
                    yield f"TIFF {key}, {depth} bits{note}", (
                        lambda name, d=depth, p=self.gray[key], f=photometric: self.gray_tiff(name, d, p, f))
            yield f"TIFF CMYK {depth} bits, table", lambda name, d=depth: self.cmyk_tiff(name, d)
            yield f"TIFF CIELab {depth} bits", lambda name, d=depth: self.lab_tiff(name, d, 8)
            yield f"TIFF ICCLab {depth} bits", lambda name, d=depth: self.lab_tiff(name, d, 9)

    def rgb_tiff(self, name, depth, profile):
        numbers, values = quantized(chart(depth > 8), depth)
        files.tiff(self.path("tif"), numbers, depth, 2, profile)
        expected = self.seen(values, "RGB ", profile)
        return Case(name, self.path("tif"), expected, False, keeps_color=depth == 8, is_deep=depth > 8)

    def gray_tiff(self, name, depth, profile, photometric):
        numbers, values = quantized(gray_chart(depth > 8), depth)
        files.tiff(
            self.path("tif"), 2**depth - 1 - numbers if photometric == 0 else numbers, depth, photometric, profile)
        expected = self.seen_gray(values, profile)
        return Case(name, self.path("tif"), expected, False, keeps_color=depth == 8, is_deep=depth > 8)

    def cmyk_tiff(self, name, depth):
        profile = profiles.cmyk_table("Ink")
        numbers, values = quantized(chart(channels=4), depth)
        files.tiff(self.path("tif"), numbers, depth, 5, profile)
        return Case(name, self.path("tif"), self.seen(values, "CMYK", profile), False, keeps_color=depth == 8)

    def lab_tiff(self, name, depth, photometric):
        """TIFF 6.0, section 23: a and b are signed; in ICCLab they begin at -128, and 16 bits have 0xFF00 for 100."""
        lightness, a, b = np.meshgrid(np.linspace(0, 100, 16), np.linspace(-60, 60, 8), np.linspace(-60, 60, 8), indexing="ij")
        lab = np.stack([lightness, a, b], -1).reshape(32, 32, 3).repeat(BLOCK, 0).repeat(BLOCK, 1)
        step = 1 if depth == 8 else 256
        scale = {(8, 8): 2.55, (16, 8): 655.35, (8, 9): 2.55, (16, 9): 652.8}[depth, photometric]
        light = np.rint(lab[..., :1] * scale)
        shift = 128 if photometric == 9 else 0
        chroma = np.rint((lab[..., 1:] + shift) * step)
        numbers = np.concatenate([light, chroma], -1).astype(np.int32) & (2**depth - 1)
        files.tiff(self.path("tif"), numbers, depth, photometric)
        exact = np.concatenate([light / scale, chroma / step - shift], -1)
        return Case(name, self.path("tif"), self.seen(exact, "Lab ", None), False)

    # JPEG XL

    def jxl(self):
        for depth in (8, 16):
            for key in ("P3", "AdobeRGB", "ProPhoto", "linear", "table"):
                yield f"JPEG XL {depth} bits, {key}", lambda name, d=depth, p=self.rgb[key]: self.coded_jxl(
                    self.rgb_png(name, d, p))
            for key in ("gray linear", "gray 1.8"):
                yield f"JPEG XL {depth} bits, {key}", lambda name, d=depth, p=self.gray[key]: self.coded_jxl(
                    self.gray_png(name, d, p))

    def coded_jxl(self, case):
        run("cjxl", "--quiet", "-d", "0", "-e", "3", case.path, self.path("jxl"))
        case.path = self.path("jxl")
        return case

    # AVIF and HEIC

    def avif(self):
        return self.coded("AVIF", self.write_avif)

    def heic(self):
        library = LibHEIF()
        return self.coded("HEIC", lambda *arguments: self.write_heic(library, *arguments))

    def coded(self, kind, write):
        """Matrices, ranges, depths and layouts; then code points, profiles, and chroma between its samples."""
        def case(**settings):
            return lambda name: self.coded_case(name, kind, write, **settings)

        for depth in (8, 10, 12):
            for full in (True, False):
                extent = f"{depth} bits, {'full' if full else 'limited'} range"
                for matrix, label in ((6, "601"), (1, "709"), (9, "2020"), (0, "identity")):
                    for layout in ("444", "422", "420") if matrix else ("444",):
                        yield f"{kind} {label} {layout}, {extent}", case(
                            depth=depth, full=full, matrix=matrix, layout=layout)
                if kind == "HEIC" or depth == 8:
                    yield f"{kind} 400, {extent}", case(depth=depth, full=full, layout="400")
            for primaries, transfer in ((12, 13), (9, 13), (1, 8), (1, 4)):
                yield f"{kind} code points {primaries}/{transfer}, {depth} bits", case(
                    depth=depth, points=(primaries, transfer))
            for key in ("P3", "ProPhoto", "table"):
                yield f"{kind} {key}, {depth} bits", case(depth=depth, profile=self.rgb[key])
            for layout in ("422", "420"):
                yield f"{kind} chroma between samples, {layout}, {depth} bits", case(
                    depth=depth, layout=layout, picture=gradient())
        for key, profile in self.gray.items():
            yield f"{kind} 400, {key}", case(layout="400", profile=profile)

    def coded_case(
        self, name, kind, write, depth=8, full=True, matrix=6, layout="444", points=(1, 13), profile=None, picture=None
    ):
        """What the planes say in double precision; decoders round to the depth before they apply a profile."""
        blocks, is_converted = picture is None, profile is not None or points != (1, 13)
        picture = chart() if blocks else picture
        if is_converted:
            # A profile makes much of the rounding of dark numbers.
            picture = 0.25 + 0.75 * picture
        if layout == "400":
            picture = gray_chart()[..., None].repeat(3, -1)
        planes = files.subsampled(colorimetry.rgb_to_planes(picture, matrix, depth, full), layout)
        write(self.path(kind.lower()), planes, layout, depth, (*points, matrix), full, profile)
        decoded = colorimetry.planes_to_rgb(files.enlarged(planes, layout), matrix, depth, full)
        if is_converted:
            decoded = quantized(decoded, depth)[1]
        if profile and layout == "400":
            expected = self.seen_gray(decoded[..., 0], profile)
        elif profile:
            expected = self.seen(decoded, "RGB ", profile)
        else:
            expected = colorimetry.code_points_to_srgb(decoded, *points)
        return Case(name, self.path(kind.lower()), expected, blocks, is_deep=depth > 8)

    def write_avif(self, path, planes, layout, depth, points, full, profile):
        files.y4m(self.path("y4m"), planes, layout, depth, full)
        options = ["--min", "0", "--max", "0", "-s", "9", "--cicp", "/".join(map(str, points))]
        if profile:
            with open(self.path("icc"), "wb") as file:
                file.write(profile)
            options += ["--icc", self.path("icc")]
        run("avifenc", *options, self.path("y4m"), path)

    def write_heic(self, library, path, planes, layout, depth, points, full, profile):
        library.write(path, planes, layout, depth, points, full, profile)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
