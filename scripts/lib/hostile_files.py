"""Measures what the command takes for each file of a folder, and prints a table; see scripts/hostile-files."""

import argparse
import os
import resource
import sys
import tempfile
import time

MAXIMUM_SECONDS = 5
MAXIMUM_MEGABYTES = 500
# Far over the bounds, so that a file over them is measured and the machine survives.
ADDRESS_SPACE = 8 << 30
WORKER = "tintype-worker"


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def worker_megabytes(program):
    """Returns the peak memory so far of the processes that decode for a program, in MB."""
    peak = 0
    try:
        threads = os.listdir(f"/proc/{program}/task")
    except OSError:
        return 0
    for thread in threads:
        for child in read(f"/proc/{program}/task/{thread}/children").split():
            fields = dict(line.split(":", 1) for line in read(f"/proc/{child}/status").splitlines() if ":" in line)
            if fields.get("Name", "").strip() == WORKER:
                peak = max(peak, int(fields.get("VmHWM", "0 kB").split()[0]) / 1024)
    return peak


def run(arguments):
    """Runs a program; returns its time, its peak memory and that of its workers in MB, exit status or signal, and last line of errors."""
    began = time.monotonic()
    peak = 0
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
        own = 0
        while True:
            ended, status, usage = os.wait4(child, os.WNOHANG)
            if ended:
                break
            peak = max(peak, worker_megabytes(child))
            fields = read(f"/proc/{child}/status").split("VmHWM:")
            own = max(own, int(fields[1].split()[0]) / 1024 if len(fields) > 1 else 0)
            time.sleep(0.005)
        errors.seek(0)
        lines = errors.read().decode(errors="replace").strip().splitlines()
    # The system counts a program together with the workers that it has waited for: the larger peak of them.
    if peak == 0:
        own = max(own, usage.ru_maxrss / 1024)
    else:
        peak = max(peak, usage.ru_maxrss / 1024 if usage.ru_maxrss / 1024 > own else 0)
    outcome = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    return time.monotonic() - began, own, peak, outcome, lines[-1] if lines else ""


def files(paths, part):
    """Returns the files in folders whose name has a part."""
    for path in paths:
        for folder, _, names in sorted(os.walk(path)):
            yield from (os.path.join(folder, name) for name in sorted(names) if part in name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tintype", required=True)
    parser.add_argument("--part", default="")
    parser.add_argument("--over", action="store_true", help="print only the files over the bounds, and the largest numbers")
    parser.add_argument("folders", nargs="+")
    options = parser.parse_args()
    bad = count = 0
    largest = {"s": (0, ""), "MB of the program": (0, ""), "MB of a worker": (0, "")}
    print("| file | command | time | program | worker | outcome |")
    print("| --- | --- | ---: | ---: | ---: | --- |")
    with tempfile.TemporaryDirectory() as output:
        out = os.path.join(output, "out.webp")
        for path in files(options.folders, options.part):
            name = os.path.basename(path)
            for label, arguments in [
                ("info", ["info", path]),
                ("convert", ["convert", path, os.path.join(output, "out.png"), "--first-frame"]),
                ("resized", ["convert", path, out, "--resize", "100x100"]),
            ]:
                seconds, program, worker, outcome, reason = run([options.tintype] + arguments)
                failed = seconds > MAXIMUM_SECONDS or max(program, worker) > MAXIMUM_MEGABYTES or outcome not in (0, 1)
                failed = failed or (".twin." in name and outcome != 0)
                bad += failed
                count += 1
                for unit, value in zip(largest, (seconds, program, worker)):
                    largest[unit] = max(largest[unit], (value, f"{name}, {label}"))
                if options.over and not failed:
                    continue
                text = "image" if outcome == 0 else reason.replace(path + ": ", "").replace("tintype: ", "")
                if outcome not in (0, 1):
                    text = str(outcome)
                mark = " **over**" if failed else ""
                numbers = f"{seconds:.2f} s | {program:.0f} MB | {worker:.0f} MB"
                print(f"| {name} | {label} | {numbers} | {text[:110]}{mark} |", flush=True)
    numbers = "; ".join(f"{value:.2f} {unit} ({name})" for unit, (value, name) in largest.items())
    print(f"\n{count} commands, at most: {numbers}")
    if bad:
        print(f"{bad} over the bounds of {MAXIMUM_SECONDS} s and {MAXIMUM_MEGABYTES} MB", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
