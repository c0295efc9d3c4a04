"""Measures what the command takes for each file of a folder, and prints a table; see scripts/hostile-files."""

import argparse
import os
import resource
import sys
import tempfile

MAXIMUM_SECONDS = 5
MAXIMUM_MEGABYTES = 500
# Far over the bounds, so that a file over them is measured and the machine survives.
ADDRESS_SPACE = 8 << 30


def run(arguments):
    """Runs a program; returns its processor time, peak memory in MB, exit status or signal, and last line of errors."""
    with tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 0)
            os.dup2(null, 1)
            os.dup2(errors.fileno(), 2)
            seconds = 3 * MAXIMUM_SECONDS
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.environ["SWIFT_BACKTRACE"] = "enable=no"
            try:
                os.execv(arguments[0], arguments)
            finally:
                os._exit(127)
        _, status, usage = os.wait4(child, 0)
        errors.seek(0)
        lines = errors.read().decode(errors="replace").strip().splitlines()
    outcome = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, outcome, lines[-1] if lines else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tintype", required=True)
    parser.add_argument("folder")
    parser.add_argument("part", nargs="?", default="")
    options = parser.parse_args()
    bad = 0
    print("| file | command | time | memory | outcome |")
    print("| --- | --- | ---: | ---: | --- |")
    with tempfile.TemporaryDirectory() as output:
        out = os.path.join(output, "out.webp")
        for name in sorted(os.listdir(options.folder)):
            if options.part not in name:
                continue
            path = os.path.join(options.folder, name)
            for label, arguments in [
                ("info", ["info", path]),
                ("convert", ["convert", path, os.path.join(output, "out.png"), "--first-frame"]),
                ("resized", ["convert", path, out, "--resize", "100x100"]),
            ]:
                seconds, megabytes, outcome, reason = run([options.tintype] + arguments)
                failed = seconds > MAXIMUM_SECONDS or megabytes > MAXIMUM_MEGABYTES or outcome not in (0, 1)
                failed = failed or (".twin." in name and outcome != 0)
                bad += failed
                text = "image" if outcome == 0 else reason.replace(path + ": ", "").replace("tintype: ", "")
                if outcome not in (0, 1):
                    text = str(outcome)
                mark = " **over**" if failed else ""
                print(f"| {name} | {label} | {seconds:.2f} s | {megabytes:.0f} MB | {text[:110]}{mark} |", flush=True)
    if bad:
        print(f"{bad} over the bounds of {MAXIMUM_SECONDS} s and {MAXIMUM_MEGABYTES} MB", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
