"""LittleCMS and libheif, called directly."""

import ctypes
import ctypes.util

import numpy as np

# lcms2.h: TYPE_RGB_DBL and the like: FLOAT_SH(1), COLORSPACE_SH, CHANNELS_SH, and 0 bytes for doubles.
_KINDS = {"GRAY": (3, 1), "RGB ": (4, 3), "CMYK": (6, 4), "Lab ": (10, 3)}
_NOCACHE, _NOOPTIMIZE = 0x40, 0x100
_RELATIVE_COLORIMETRIC = 1


def _library(name):
    found = ctypes.util.find_library(name)
    if not found:
        raise SystemExit(f"lib{name} is missing")
    return ctypes.CDLL(found)


def _kind(space):
    number, channels = _KINDS[space]
    return 1 << 22 | number << 16 | channels << 3, channels


class LittleCMS:
    """Conversion to sRGB, relative colorimetric, in double precision without LittleCMS's shortcuts."""

    def __init__(self):
        self.library = _library("lcms2")
        for name in ("cmsOpenProfileFromMem", "cmsCreate_sRGBProfile", "cmsCreateTransform", "cmsCreateLab4Profile"):
            getattr(self.library, name).restype = ctypes.c_void_p

    def to_srgb(self, values, space, profile=None):
        """Values from 0 to 1 of values of a space: from 0 to 1, CMYK as ink from 0 to 1, Lab as itself.

        - Parameter profile: nothing for Lab of the profile connection space.
        """
        source = ctypes.c_void_p(
            self.library.cmsOpenProfileFromMem(profile, len(profile)) if profile
            else self.library.cmsCreateLab4Profile(None))
        target = ctypes.c_void_p(self.library.cmsCreate_sRGBProfile())
        kind, channels = _kind(space)
        transform = ctypes.c_void_p(self.library.cmsCreateTransform(
            source, kind, target, _kind("RGB ")[0], _RELATIVE_COLORIMETRIC, _NOCACHE | _NOOPTIMIZE))
        if not transform.value:
            raise SystemExit(f"LittleCMS makes no transform from {space}")
        given = np.ascontiguousarray(values, np.float64).reshape(-1, channels) * (100 if space == "CMYK" else 1)
        result = np.empty((len(given), 3))
        self.library.cmsDoTransform(
            transform, given.ctypes.data_as(ctypes.c_void_p), result.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_uint32(len(given)))
        self.library.cmsDeleteTransform(transform)
        return np.clip(result, 0, 1).reshape(*np.shape(values)[:-1], 3)


class _Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("subcode", ctypes.c_int), ("message", ctypes.c_char_p)]


class _Options(ctypes.Structure):
    """The beginning of heif_encoding_options."""

    _fields_ = [
        ("version", ctypes.c_uint8), ("save_alpha", ctypes.c_uint8), ("workaround", ctypes.c_uint8),
        ("two_color_boxes", ctypes.c_uint8), ("output_nclx", ctypes.c_void_p), ("leaves_nclx_out", ctypes.c_uint8)]


class _CodePoints(ctypes.Structure):
    """The beginning of heif_color_profile_nclx."""

    _fields_ = [
        ("version", ctypes.c_uint8), ("primaries", ctypes.c_int), ("transfer", ctypes.c_int), ("matrix", ctypes.c_int),
        ("full_range", ctypes.c_uint8)]


class LibHEIF:
    """Encodes planes as they are, without loss, as HEIC."""

    _CHROMA = {"400": 0, "420": 1, "422": 2, "444": 3}

    def __init__(self):
        self.library = _library("heif")
        for name in (
                "heif_image_create", "heif_image_add_plane", "heif_image_set_nclx_color_profile",
                "heif_image_set_raw_color_profile", "heif_context_get_encoder_for_format", "heif_encoder_set_lossless",
                "heif_encoder_set_parameter_string", "heif_context_encode_image", "heif_context_write_to_file"):
            getattr(self.library, name).restype = _Error
        for name in (
                "heif_context_alloc", "heif_nclx_color_profile_alloc", "heif_encoding_options_alloc",
                "heif_image_get_plane"):
            getattr(self.library, name).restype = ctypes.c_void_p

    def _call(self, name, *arguments):
        error = getattr(self.library, name)(*arguments)
        if error.code:
            raise RuntimeError(f"{name}: {error.message.decode()}")

    def write(self, path, planes, layout, depth, code_points=None, full=True, profile=None):
        """- Parameters:
        - layout: 444, 422, 420 or 400.
        - code_points: primaries, transfer and matrix.
        """
        height, width = planes[0].shape
        image, encoder = ctypes.c_void_p(), ctypes.c_void_p()
        space = 2 if layout == "400" else 0
        self._call("heif_image_create", width, height, space, self._CHROMA[layout], ctypes.byref(image))
        for channel, plane in enumerate(planes):
            self._add(image, channel, plane, depth)
        options = self.library.heif_encoding_options_alloc()
        if code_points:
            nclx = self.library.heif_nclx_color_profile_alloc()
            fields = _CodePoints.from_address(nclx)
            fields.primaries, fields.transfer, fields.matrix = code_points
            fields.full_range = full
            self._call("heif_image_set_nclx_color_profile", image, ctypes.c_void_p(nclx))
            _Options.from_address(options).output_nclx = nclx
            _Options.from_address(options).leaves_nclx_out = 0
        if profile:
            self._call("heif_image_set_raw_color_profile", image, b"prof", profile, ctypes.c_size_t(len(profile)))
        context = ctypes.c_void_p(self.library.heif_context_alloc())
        self._call("heif_context_get_encoder_for_format", context, 1, ctypes.byref(encoder))
        self._call("heif_encoder_set_lossless", encoder, 1)
        if layout != "400":
            self._call("heif_encoder_set_parameter_string", encoder, b"chroma", layout.encode())
        self._call("heif_context_encode_image", context, image, encoder, ctypes.c_void_p(options), None)
        self._call("heif_context_write_to_file", context, path.encode())
        self.library.heif_encoder_release(encoder)
        self.library.heif_image_release(image)
        self.library.heif_context_free(context)

    def _add(self, image, channel, plane, depth):
        height, width = plane.shape
        self._call("heif_image_add_plane", image, channel, width, height, depth)
        stride = ctypes.c_int()
        base = self.library.heif_image_get_plane(image, channel, ctypes.byref(stride))
        rows = np.ascontiguousarray(plane, np.uint8 if depth == 8 else np.dtype("<u2"))
        for y in range(height):
            ctypes.memmove(base + y * stride.value, rows[y].ctypes.data, rows[y].nbytes)
