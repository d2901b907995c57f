# tests/eval/run.py - spintag itself, through its command line only, in a state directory of its own.

import json
import os
import shutil
import subprocess
import tempfile
import time

from tools import Progress

FILES_A_CALL = 200


def track_name(source):
    return os.path.splitext(os.path.basename(source))[0]


class Spintag:
    """One program and one catalogue.

    @param index  a snapshot to answer from; None = the catalogue in the state directory
    """

    def __init__(self, program, state, index=None):
        self._program, self._state, self._index = os.path.abspath(program), os.path.abspath(state), index
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SPINTAG_")}
        # Root's and a unit's state is in STATE_DIRECTORY, anybody else's under XDG_STATE_HOME.
        self._environment = {**kept, "XDG_STATE_HOME": self._state,
                             "STATE_DIRECTORY": os.path.join(self._state, "spintag")}

    def _call(self, words, each=lambda line: None):
        """Runs it; each line of JSON goes to `each`. Returns wall seconds, CPU seconds, peak bytes, status, what it
        said on stderr."""
        with tempfile.TemporaryFile() as said:
            begin = time.monotonic()
            process = subprocess.Popen([self._program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=said, env=self._environment)
            with process.stdout as lines:
                for line in lines:
                    if line.startswith(b"{"):
                        each(json.loads(line))
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            wall_s = time.monotonic() - begin
            said.seek(0)
            text = said.read().decode(errors="replace").strip()
        if process.returncode not in (0, 1):  # 1: some of the files failed, and each is named
            raise RuntimeError(f"spintag {words[0]}: status {process.returncode}: {text[-800:]}")
        return {"wall_s": wall_s, "cpu_s": usage.ru_utime + usage.ru_stime, "peak_bytes": usage.ru_maxrss * 1024,
                "status": process.returncode, "said": text[-800:]}

    def version(self):
        return subprocess.run([self._program, "--version"], capture_output=True, text=True, check=True).stdout.strip()

    def ingest(self, wavs, reuse):
        """The catalogue is these files and no other. Returns what it cost; {} if the one that is there was kept."""
        told = os.path.join(self._state, "catalogue.txt")
        wanted = "".join(os.path.abspath(wav) + "\n" for wav in wavs)
        if reuse and os.path.exists(told):
            with open(told, encoding="utf-8") as file:
                if file.read() == wanted:
                    return {}
        shutil.rmtree(self._state, ignore_errors=True)
        os.makedirs(os.path.join(self._state, "spintag"))
        progress, summary, failed = Progress("ingested", len(wavs)), {}, []

        def take(line):
            if line.get("event") == "summary":
                summary.update(line)
                return
            progress.step()
            if line.get("event") == "failed":
                failed.append(f"{line.get('source')}: {line.get('reason')}")

        cost = self._call(["ingest", "--json", *map(os.path.abspath, wavs)], take)
        if failed or cost["status"]:
            raise RuntimeError("spintag ingest: " + ("; ".join(failed) or cost["said"]))
        with open(told, "w", encoding="utf-8") as file:
            file.write(wanted)
        cost["audio_s"] = summary.get("audio_s", 0.0)
        return cost

    def export_index(self, path):
        """A snapshot of the catalogue. Returns its bytes."""
        self._call(["catalog", "export", "--index", path])
        return os.path.getsize(path)

    def identify(self, files, what, threshold=None):
        """(answers by file, cost). An answer is identify's object, as --json writes it."""
        answers, total = {}, {"wall_s": 0.0, "cpu_s": 0.0, "peak_bytes": 0, "files": len(files)}
        options = ["--json"]
        if self._index:
            options += ["--index", os.path.abspath(self._index)]
        if threshold is not None:
            options += ["--threshold", f"{threshold:g}"]
        progress = Progress(what, len(files))
        for begin in range(0, len(files), FILES_A_CALL):
            some = files[begin:begin + FILES_A_CALL]
            cost = self._call(["identify", *options, *some], lambda line: answers.update({line["file"]: line}))
            progress.step(len(some))
            for name in ("wall_s", "cpu_s"):
                total[name] += cost[name]
            total["peak_bytes"] = max(total["peak_bytes"], cost["peak_bytes"])
            silent = [file for file in some if file not in answers]
            if silent:
                raise RuntimeError(f"spintag identify said nothing of {len(silent)} files, first of {silent[0]}: "
                                   + cost["said"])
        return answers, total


def best_match(answer):
    """The match that spintag is surest of; None for no match."""
    return max(answer["matches"], key=lambda match: (match["confidence"], match["score"]), default=None)


FIELDS = ("clip", "condition", "parts", "length_s", "number", "source", "truth", "truth_offset_s", "answer", "offset_s",
          "offset_error_s", "truth_speed", "speed", "speed_error", "truth_pitch", "pitch", "pitch_error", "confidence",
          "others", "coherence", "elapsed_s", "low_answer", "low_confidence", "error")


def offset_error(answer, offset_s, truth, truth_offset_s):
    """Answered less true place of the clip's first sample in the recording; None for a wrong answer."""
    for name, place_s in zip(truth.split("|"), truth_offset_s.split("|")):
        if name and name == answer:
            return offset_s - float(place_s)
    return None


def place_of(match):
    """Where the clip's first sample is in the recording, seconds."""
    return match["track_start_s"] - match["start_s"] * match["speed"]


def not_the_truth(clip, answer, low_answer):
    """{name: place_of} of everything that was named and is not the clip's recording; of what was named without a
    threshold only what spintag half believes."""
    matches = list(answer["matches"])
    if (low := best_match(low_answer)) and low["confidence"] >= 0.1:
        matches.append(low)
    return {track_name(match["source"]): place_of(match) for match in reversed(matches)
            if track_name(match["source"]) not in clip.truth.split("|")}


def row_of(clip, answer, low_answer, coherence=None):
    """One row of results.csv. speed_error and pitch_error are relative to the truth; all errors are of right answers
    only. `others` are further tracks that spintag named in the same clip.
    @param coherence  {name: coherence.py's figure} of names that are not the clip's recording"""
    row = dict.fromkeys(FIELDS, "")
    row["coherence"] = "|".join(f"{name}={value:.1f}" for name, value in sorted((coherence or {}).items()))
    row.update(clip=os.path.basename(clip.file), condition=clip.condition, parts=clip.parts,
               length_s=f"{clip.length_s:g}", number=clip.number, source=clip.source, truth=clip.truth,
               truth_offset_s=clip.truth_offset_s, elapsed_s=f"{answer['elapsed_s']:.6f}",
               error=answer.get("error", "") or low_answer.get("error", ""))
    if clip.truth:
        row.update(truth_speed=f"{clip.truth_speed:.6f}", truth_pitch=f"{clip.truth_pitch:.6f}")
    match = best_match(answer)
    if match:
        offset_s = place_of(match)
        name = track_name(match["source"])
        others = {track_name(other["source"]) for other in answer["matches"]} - {name}
        row.update(answer=name, offset_s=f"{offset_s:.3f}", speed=f"{match['speed']:.6f}",
                   pitch=f"{match['pitch']:.6f}", confidence=repr(match["confidence"]), others="|".join(sorted(others)))
        error_s = offset_error(name, offset_s, clip.truth, clip.truth_offset_s)
        if error_s is not None:
            row.update(offset_error_s=f"{error_s:.3f}", speed_error=f"{match['speed'] / clip.truth_speed - 1:.6f}",
                       pitch_error=f"{match['pitch'] / clip.truth_pitch - 1:.6f}")
    low = best_match(low_answer)
    if low:
        row.update(low_answer=track_name(low["source"]), low_confidence=repr(low["confidence"]))
    return row
