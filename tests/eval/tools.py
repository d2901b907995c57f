# tests/eval/tools.py - what the evaluation needs from the system, asked for by name before any work begins.
"""Standard library only, so that this can be asked on a box where nothing else is installed."""

import importlib
import shutil
import subprocess
import sys

PROGRAM_PACKAGES = {
    "ffmpeg": "ffmpeg",
    "ffprobe": "ffmpeg",
    "fpcalc": "libchromaprint-tools",
    "sox": "sox",
    "rubberband": "rubberband-cli",
    "espeak-ng": "espeak-ng",
}
MODULE_PACKAGES = {
    "numpy": "python3-numpy",
    "scipy.signal": "python3-scipy",
    "soundfile": "python3-soundfile",
    "matplotlib": "python3-matplotlib",
}


def missing(programs, modules=tuple(MODULE_PACKAGES)):
    """[(what, Debian package, why)] of what is not there; a module that cannot be loaded is not there."""
    found = [(name, PROGRAM_PACKAGES[name], "not found") for name in sorted(programs) if not shutil.which(name)]
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception as error:  # a half-installed module raises anything; its text is told
            found.append(("Python module " + name, MODULE_PACKAGES[name], str(error).splitlines()[0]))
    return found


def message(found):
    lines = [f"{name} is missing ({why}): Debian package {package}" for name, package, why in found]
    packages = " ".join(sorted({package for _, package, _ in found}))
    return "\n".join(lines + [f"  apt-get install {packages}"])


def demand(programs, modules=tuple(MODULE_PACKAGES)):
    """Ends the program with status 2 and the packages to install unless everything is there."""
    found = missing(programs, modules)
    if found:
        print(message(found), file=sys.stderr)
        sys.exit(2)


def call(command):
    """Runs a program; what it said is in the error when it fails. Returns what it printed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()[-500:]
        raise RuntimeError(f"{' '.join(str(word) for word in command)}: status {done.returncode}: {said}")
    return done.stdout


class Progress:
    """`what 120/1400` on stderr: rewritten on a terminal, one line each tenth otherwise."""

    def __init__(self, what, total):
        self._what, self._total, self._done, self._told = what, total, 0, -1

    def step(self, count=1):
        self._done += count
        tenth = self._done * 10 // max(1, self._total)
        if sys.stderr.isatty():
            end = "\n" if self._done >= self._total else ""
            print(f"\r{self._what} {self._done}/{self._total}", end=end, file=sys.stderr, flush=True)
        elif tenth != self._told:
            self._told = tenth
            print(f"{self._what} {self._done}/{self._total}", file=sys.stderr, flush=True)
