"""Pictures as they are seen: frames upright in sRGB, read with Pillow, pillow-heif and djxl."""

import io
import os
import re
import subprocess
import tempfile
import warnings
from dataclasses import dataclass, field

import numpy as np
import pillow_heif
from PIL import GifImagePlugin, Image, ImageCms, ImageOps

from . import colorimetry

Image.MAX_IMAGE_PIXELS = None
GifImagePlugin.LOADING_STRATEGY = GifImagePlugin.LoadingStrategy.RGB_ALWAYS
pillow_heif.register_heif_opener(thumbnails=False)
warnings.simplefilter("ignore")
SRGB = ImageCms.createProfile("sRGB")


class Unreadable(Exception):
    """Neither Pillow nor its companions read the file."""


@dataclass
class Picture:
    """Frames of straight RGBA, 8 bits, upright, in sRGB."""

    frames: list
    durations: list = field(default_factory=list)
    has_profile: bool = False
    # Numbers that are not those of a display of standard range: their colors have no single right answer.
    is_high_dynamic_range: bool = False
    compression: str = ""

    @property
    def is_animated(self):
        return len(self.frames) > 1

    @property
    def has_alpha(self):
        return any((frame[..., 3] < 255).any() for frame in self.frames)

    @property
    def has_partial_alpha(self):
        return any(((frame[..., 3] > 0) & (frame[..., 3] < 255)).any() for frame in self.frames)


def read(path):
    """- Raises: Unreadable"""
    try:
        with open(path, "rb") as file:
            head = file.read(65_536)
        if head[:2] == b"\xff\x0a" or head[4:12] == b"JXL \r\n\x87\n":
            return _read_jxl(path)
        return _read(path, head)
    except Unreadable:
        raise
    except Exception as error:
        raise Unreadable(f"{type(error).__name__}: {error}")


def _read_jxl(path):
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "picture.apng")
        done = subprocess.run(["djxl", "--quiet", path, target], capture_output=True, text=True)
        if done.returncode != 0 or not os.path.exists(target):
            raise Unreadable("djxl: " + (done.stderr.strip().splitlines() or ["no picture"])[-1])
        with open(target, "rb") as file:
            # The picture is upright already, though its Exif block says what it was.
            picture = _read(target, file.read(65_536), is_upright=True)
        picture.compression = "jxl"
        return picture


def _read(path, head, is_upright=False):
    with Image.open(path) as image:
        kind = image.format
        count = getattr(image, "n_frames", 1)
        # Pages and sizes are no frames; a hidden first picture of an animated PNG is none either.
        numbers = range(count) if kind in ("GIF", "PNG", "WEBP", "AVIF") else range(1)
        if kind == "PNG" and image.info.get("default_image"):
            numbers = numbers[1:]
        points = _code_points(head) if kind in ("AVIF", "HEIF") else None
        if kind == "PNG":
            points = _cicp(head)
        picture = Picture([])
        picture.compression = _compression(kind, head, image)
        for number in numbers:
            # A still image is the one that the file says; others beside it are not sought.
            if len(numbers) > 1 or number > 0:
                image.seek(number)
            image.load()
            duration, profile = image.info.get("duration", 0), image.info.get("icc_profile")
            frame, converted, bright = _as_seen(image if is_upright else _upright(image), points, profile)
            picture.frames.append(frame)
            picture.durations.append(float(duration))
            picture.has_profile |= converted
            picture.is_high_dynamic_range |= bright
        return picture


def _compression(kind, head, image):
    """Whether pixels lose something: the name of a format with loss, or nothing."""
    if kind in ("JPEG", "MPO"):
        return "jpeg"
    if kind == "WEBP":
        return "webp" if b"VP8 " in head else ""
    if kind in ("AVIF", "HEIF"):
        return kind.lower()
    if kind == "TIFF" and image.info.get("compression") == "jpeg":
        return "jpeg"
    return ""


def _code_points(head):
    found = re.search(rb"colrnclx(..)(..)", head, re.DOTALL)
    return tuple(int.from_bytes(part, "big") for part in found.groups()) if found else None


def _cicp(head):
    place = head.find(b"cICP")
    return (head[place + 4], head[place + 5]) if 0 < place < len(head) - 6 else None


def reencoded(frame, name):
    """A frame as Pillow, pillow-heif or cjxl write it with a quality of 85, and read again; nothing for other formats."""
    image = Image.fromarray(frame)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"frame.{name}")
        if name == "jpeg":
            image.convert("RGB").save(path, quality=85)
        elif name in ("webp", "avif"):
            image.save(path, quality=85)
        elif name == "heic":
            image.save(path, format="HEIF", quality=85)
        elif name == "gif":
            image.convert("RGB").quantize(256, dither=Image.Dither.FLOYDSTEINBERG).save(path)
        elif name == "jxl":
            image.save(path + ".png")
            subprocess.run(["cjxl", "--quiet", "-q", "85", path + ".png", path], check=True, capture_output=True)
        else:
            return None
        return read(path).frames[0]


def _as_seen(image, points, profile):
    alpha = None
    if image.mode.startswith("I;16"):
        gray = np.asarray(image).astype(float)
        if "transparency" in image.info:
            alpha = np.where(gray == image.info["transparency"], 0, 255).astype(np.uint8)
        image = Image.fromarray(np.rint(gray / 257).astype(np.uint8), "L")
    elif image.mode in ("I", "F"):
        raise Unreadable(f"mode {image.mode}")
    if _may_be_transparent(image):
        alpha = np.asarray(image.convert("RGBA").getchannel("A"))
    colors, converted, bright = _to_srgb(image, profile, points)
    if alpha is None:
        alpha = np.full(colors.shape[:2], 255, np.uint8)
    return np.dstack([colors, alpha]), converted, bright


def _upright(image):
    try:
        return ImageOps.exif_transpose(image)
    except SyntaxError:
        # What is no Exif block states no orientation.
        return image


def _may_be_transparent(image):
    return image.mode in ("LA", "PA", "RGBA", "La", "RGBa") or "transparency" in image.info


def _to_srgb(image, profile, points):
    """The colors, whether a profile or code points changed them, and whether they have a high dynamic range."""
    if profile:
        try:
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            space = source.profile.xcolor_space.strip()
            plain = _mode_for(image, space)
            if plain is not None:
                done = ImageCms.profileToProfile(
                    plain, source, SRGB, renderingIntent=ImageCms.Intent.RELATIVE_COLORIMETRIC, outputMode="RGB")
                return np.asarray(done), True, False
        except (ImageCms.PyCMSError, OSError):
            pass
    if image.mode == "LAB":
        lab = ImageCms.createProfile("LAB")
        done = ImageCms.profileToProfile(
            image, lab, SRGB, renderingIntent=ImageCms.Intent.RELATIVE_COLORIMETRIC, outputMode="RGB")
        return np.asarray(done), True, False
    colors = np.asarray(_opaque(image))
    if points and not profile:
        seen = colorimetry.code_points_to_srgb(colors / 255.0, *points)
        if seen is None:
            return colors, True, True
        if seen is not None and not np.array_equal(seen, colors / 255.0):
            return np.rint(seen * 255).astype(np.uint8), True, False
    return colors, False, False


def _opaque(image):
    """Colors without alpha, also under pixels that are transparent."""
    if image.mode in ("RGB", "CMYK", "L", "1", "YCbCr"):
        return image.convert("RGB")
    return image.convert("RGBA").convert("RGB")


def _mode_for(image, space):
    if space == "RGB":
        return _opaque(image) if image.mode not in ("CMYK", "LAB") else None
    if space == "GRAY":
        if image.mode in ("L", "1", "LA"):
            return image.convert("L")
        # A format that has no gray gives it as RGB.
        colors = np.asarray(_opaque(image))
        same = (colors[..., 0] == colors[..., 1]).all() and (colors[..., 1] == colors[..., 2]).all()
        return Image.fromarray(np.ascontiguousarray(colors[..., 0]), "L") if same else None
    if space == "CMYK":
        return image if image.mode == "CMYK" else None
    if space == "Lab":
        return image if image.mode == "LAB" else None
    return None
