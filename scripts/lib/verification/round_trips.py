"""Converts the files of a corpus to every format, and compares the results with Pillow's reading of the sources."""

import argparse
import csv
import multiprocessing
import os
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass, replace

import numpy as np

from . import reading
from .command import Refused, Tintype, print_table


@dataclass(frozen=True)
class Target:
    name: str
    ending: str
    options: tuple = ()
    is_lossless: bool = True
    # Levels of alpha: none, two, or all.
    alpha: str = "all"
    has_frames: bool = False
    # The unit of durations, in milliseconds.
    tick: float = 1
    # The largest mean difference of areas of 8 x 8 pixels, for formats with loss.
    area_limit: float = 3.5

    def holds(self, picture):
        if picture.is_animated:
            if not self.has_frames:
                return False
        if self.alpha == "none":
            return not picture.has_alpha
        return self.alpha == "all" or not picture.has_partial_alpha


TARGETS = [
    Target("png", "png", has_frames=True),
    Target("tiff", "tiff"),
    Target("bmp", "bmp"),
    Target("webp lossless", "webp", ("--lossless",), has_frames=True),
    Target("avif lossless", "avif", ("--lossless",), has_frames=True),
    Target("jxl lossless", "jxl", ("--lossless",), has_frames=True),
    Target("jpeg", "jpeg", is_lossless=False, alpha="none"),
    Target("webp", "webp", is_lossless=False, has_frames=True),
    Target("avif", "avif", is_lossless=False, has_frames=True),
    Target("jxl", "jxl", is_lossless=False, has_frames=True),
    Target("heic", "heic", is_lossless=False),
    Target("gif", "gif", is_lossless=False, alpha="two", has_frames=True, tick=10, area_limit=5),
]

# Formats that Pillow and its companions do not read.
UNREAD = ("svg", "pdf", "raw")
# Shorter delays are played as 100 ms.
SHORTEST_DELAY = 11


def limits(picture, target, is_profile_converted):
    """The largest mean difference and the largest difference of a pixel, of 255; `None` for no limit."""
    if picture.compression:
        # Decoders differ in how they enlarge chroma and round.
        return 2.5, None
    if is_profile_converted:
        # Pillow converts profiles in 8 bits.
        return 1.0, 8
    # Pillow cuts 16 bits to 8, and premultiplied colors are rounded once.
    return 0.6, 2


def premultiplied(frame):
    pixels = frame.astype(np.float32)
    pixels[..., :3] *= pixels[..., 3:] / 255
    return pixels


def areas(pixels):
    """Means of 8 x 8 pixels; what is left over at the edges belongs to the last areas."""
    rows = np.arange(0, max(1, pixels.shape[0] - 7), 8)
    columns = np.arange(0, max(1, pixels.shape[1] - 7), 8)
    sums = np.add.reduceat(np.add.reduceat(pixels.astype(float), rows, axis=0), columns, axis=1)
    heights = np.diff([*rows, pixels.shape[0]])
    widths = np.diff([*columns, pixels.shape[1]])
    return sums / (heights[:, None] * widths)[..., None]


def collapsed(picture):
    """The same animation without frames that equal the one before: encoders may leave them out and add up their durations."""
    frames, durations = [], []
    for frame, duration in zip(picture.frames, shown(picture.durations)):
        if frames and np.array_equal(frames[-1], frame):
            durations[-1] += duration
        else:
            frames.append(frame)
            durations.append(duration)
    return replace(picture, frames=frames, durations=durations)


def shown(durations):
    return [100 if duration < SHORTEST_DELAY else duration for duration in durations]


def is_inherent(frame, target, area):
    """Whether another program's encoder of the format loses about as much of the frame."""
    other = reading.reencoded(frame, target.name)
    if other is None:
        return False
    lost = np.abs(areas(premultiplied(frame)[..., :3]) - areas(premultiplied(other)[..., :3])).mean()
    return area <= 1.5 * lost + 1


def is_inherent_in_alpha(frame, target, mean):
    """Whether another program's encoder of the format loses about as much of the frame's alpha."""
    other = reading.reencoded(frame, target.name)
    return other is not None and mean <= 1.5 * np.abs(frame[..., 3].astype(float) - other[..., 3]).mean() + 1


def differences(source, result, target, decided):
    """Sentences about what is wrong; and the mean and largest difference of colors."""
    problems = []
    if len(source.frames) != len(result.frames):
        source, result = collapsed(source), collapsed(result)
    if len(source.frames) != len(result.frames) and "frames" not in decided:
        problems.append(f"{len(result.frames)} frames instead of {len(source.frames)}")
    if source.is_animated and result.is_animated and "durations" not in decided:
        # Where the unit is coarse, frames may be longer and shorter by turns, so that the whole keeps its time.
        late = np.cumsum(result.durations[:len(source.frames)]) - np.cumsum(shown(source.durations)[:len(result.frames)])
        # Pillow rounds durations to milliseconds, half a one for each frame.
        slack = max(1, target.tick / 2) + 0.51 * np.arange(1, len(late) + 1)
        if (np.abs(late) > slack).any():
            number = int(np.argmax(np.abs(late) > slack))
            problems.append(
                f"frame {number} lasts {result.durations[number]:g} ms instead of {source.durations[number]:g}, "
                f"and ends {late[number]:+g} ms late")
    mean_limit, pixel_limit = limits(source, target, source.has_profile or result.has_profile)
    mean, largest = 0.0, 0.0
    for number, (before, after) in enumerate(zip(source.frames, result.frames)):
        if before.shape != after.shape:
            problems.append(f"{after.shape[1]}x{after.shape[0]} instead of {before.shape[1]}x{before.shape[0]}")
            break
        if number > 0 and "frames" in decided:
            break
        a, b = premultiplied(before), premultiplied(after)
        difference = np.abs(a - b)
        alpha, colors = difference[..., 3], difference[..., :3]
        if "alpha" not in decided:
            exact = target.is_lossless or target.alpha == "two"
            if alpha.max() > 1 if exact else alpha.mean() > 2 and not is_inherent_in_alpha(before, target, alpha.mean()):
                problems.append(f"frame {number}: alpha differs by {alpha.mean():.2f} on average, {alpha.max():.0f} at most")
                break
        if "colors" in decided or source.is_high_dynamic_range:
            continue
        mean, largest = max(mean, float(colors.mean())), max(largest, float(colors.max()))
        if target.is_lossless:
            if colors.mean() > mean_limit or pixel_limit and colors.max() > pixel_limit:
                problems.append(f"frame {number}: colors differ by {colors.mean():.2f} on average, {colors.max():.0f} at most")
                break
        else:
            area = float(np.abs(areas(a[..., :3]) - areas(b[..., :3])).mean())
            limit = target.area_limit + (1.5 if source.compression else 0)
            if area > limit and not is_inherent(before, target, area):
                problems.append(f"frame {number}: areas of 8 x 8 pixels differ by {area:.2f} on average")
                break
    return problems, mean, largest


@dataclass
class Result:
    path: str
    format: str
    target: str = ""
    keeps_color: bool = False
    # passed, failed, decided, unread
    outcome: str = "passed"
    note: str = ""
    mean: float = 0
    largest: float = 0


def check(job):
    """All conversions of a file."""
    root, path, format_name, decided, program, targets = job
    source = os.path.join(root, path)
    if "skip" in decided:
        return [Result(path, format_name, outcome="decided")]
    try:
        picture = reading.read(source)
    except reading.Unreadable as error:
        return [Result(path, format_name, outcome="unread", note=str(error))]
    tintype, results = Tintype(program), []
    with tempfile.TemporaryDirectory() as folder:
        for target in TARGETS:
            if targets and target.name not in targets or not target.holds(picture):
                continue
            # Where a source states no colors, there is nothing to keep.
            ways = (False, True) if picture.has_profile or target.name == "png" else (False,)
            for keeps_color in ways:
                result = Result(path, format_name, target.name, keeps_color)
                results.append(result)
                output = os.path.join(folder, f"result.{target.ending}")
                try:
                    tintype.convert(source, output, *target.options, *(["--keep-color"] if keeps_color else []))
                    seen = reading.read(output)
                    problems, result.mean, result.largest = differences(picture, seen, target, decided)
                except Refused as error:
                    problems = [f"refused: {error}"]
                except reading.Unreadable as error:
                    problems = [f"Pillow does not read the result: {error}"]
                if problems:
                    result.outcome, result.note = "failed", "; ".join(problems)
                elif decided or picture.is_high_dynamic_range:
                    result.outcome = "decided"
    return results


def decisions(path):
    """What is not compared for which files, and why, as the list says."""
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
    for line in lines:
        if len(line) != 3 or not set(line[1].split(",")) <= {"skip", "colors", "alpha", "frames", "durations"}:
            sys.exit(f"{path}: a line that is no file, aspects and reason: {line}")
    return {line[0]: line[1].split(",") for line in lines}


def sources(folder, only, sample):
    with open(os.path.join(folder, "MANIFEST.tsv"), encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if row["expect"] == "ok"]
    rows = [row for row in rows if not only or only in row["path"]]
    if sample and sample < len(rows):
        readable = [row for row in rows if row["format"] not in UNREAD]
        rows = [readable[i * len(readable) // sample] for i in range(min(sample, len(readable)))]
    return rows


def main():
    parser = argparse.ArgumentParser(prog="scripts/round-trips")
    parser.add_argument("folder", help="a folder with a MANIFEST.tsv")
    parser.add_argument("--sample", type=int, metavar="N", help="check N files from all over the list")
    parser.add_argument("--only", metavar="TEXT", help="check files whose paths contain this")
    parser.add_argument("--target", action="append", choices=[t.name for t in TARGETS], help="convert to this alone")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N")
    parser.add_argument("--tintype", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    decided = decisions(os.path.join(os.path.dirname(__file__), "decisions.tsv"))
    rows = sources(options.folder, options.only, options.sample)
    drawings = [row for row in rows if row["format"] in UNREAD]
    jobs = [
        (options.folder, row["path"], row["format"], decided.get(row["path"], []), options.tintype, options.target)
        for row in rows if row["format"] not in UNREAD
    ]
    results = []
    with multiprocessing.Pool(options.jobs) as pool:
        for number, found in enumerate(pool.imap_unordered(check, jobs), 1):
            results += found
            for result in found:
                if result.outcome in ("failed", "unread"):
                    report(result)
            if number % 100 == 0:
                print(f"{number} of {len(jobs)} files", file=sys.stderr, flush=True)
    print_summary(results, len(drawings))
    sys.exit(any(result.outcome in ("failed", "unread") for result in results))


def report(result):
    if result.outcome == "unread":
        print(f"{result.path}: not read by Pillow, and not in decisions.tsv: {result.note}", flush=True)
    else:
        kept = " --keep-color" if result.keeps_color else ""
        print(f"{result.path} to {result.target}{kept}: {result.note}", flush=True)


def print_summary(results, drawings):
    by_format, by_target = defaultdict(list), defaultdict(list)
    for result in results:
        by_format[result.format].append(result)
        if result.target:
            by_target[result.target].append(result)
    print()
    print_table(
        ["source", "files", "conversions", "passed", "decided", "failed"],
        [summary_row(name, group) for name, group in sorted(by_format.items())] + [summary_row("all", results)])
    print()
    lossless = {target.name for target in TARGETS if target.is_lossless}
    print_table(
        ["target", "conversions", "failed", "mean", "largest"],
        [target_row(t.name, by_target[t.name], t.name in lossless) for t in TARGETS if by_target[t.name]])
    if drawings:
        print(f"\n{drawings} drawings, which Pillow does not read, were left out.")


def summary_row(name, group):
    counts = Counter(result.outcome for result in group)
    files = len({result.path for result in group})
    conversions = sum(1 for result in group if result.target)
    return [name, files, conversions, counts["passed"], counts["decided"], counts["failed"] + counts["unread"]]


def target_row(name, group, is_lossless):
    passed = [result for result in group if result.outcome == "passed"]
    failed = sum(result.outcome == "failed" for result in group)
    if not is_lossless or not passed:
        return [name, len(group), failed, "", ""]
    return [
        name, len(group), failed, f"{np.mean([result.mean for result in passed]):.3f}",
        f"{max(result.largest for result in passed):.0f}"]


if __name__ == "__main__":
    main()
