#!/usr/bin/python3
# tests/eval/score.py - results.csv in, table.md out: how much is recognised, what is wrongly named, how exactly.
"""usage: score.py results.csv > table.md      (reads info.json beside it, if there: what was run, what it cost)"""

import csv
import dataclasses
import json
import math
import os
import statistics
import sys

Z95 = 1.959964  # standard normal, two-sided 95 %
LEAST_COHERENCE = 20.0  # from here on a recording is in a clip beyond doubt; coherence.py says what is usual


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A row of results.csv, judged."""

    clip: str
    source: str  # what it was cut from, in the catalogue or not
    condition: str
    parts: frozenset
    length_s: float
    truth: tuple  # tracks that are right; none for a clip of nothing known
    answer: str
    others: tuple
    coherence: dict  # coherence.py's figure of tracks that were named and are not in `truth`
    confidence: float
    low_answer: str  # what was answered at a threshold of (nearly) nothing
    low_confidence: float
    errors: dict  # offset_error_s, speed_error, pitch_error, those that are known
    elapsed_s: float
    error: str

    def is_heard(self, name):
        """Is that recording in the clip? It is if the clip was cut from it, or if it agrees to the sample."""
        return name in self.truth or self.coherence.get(name, 0) >= LEAST_COHERENCE

    @property
    def right(self):
        return bool(self.truth and self.answer) and self.is_heard(self.answer)

    @property
    def low_right(self):
        return bool(self.low_answer) and self.is_heard(self.low_answer)

    @property
    def false_tags(self):
        """Tracks that were named and are not there. A clip may have more than one, and a right answer beside."""
        return [name for name in (self.answer, *self.others) if name and not self.is_heard(name)]

    @property
    def shared_tags(self):
        """Tracks that were named, are not what the clip was cut from, and are in it all the same."""
        return [name for name in (self.answer, *self.others) if name not in self.truth and name and self.is_heard(name)]


def outcome(row):
    def split(text):
        return tuple(name for name in text.split("|") if name)

    def number(name):
        return float(row.get(name) or 0)

    figures = (pair.rsplit("=", 1) for pair in split(row.get("coherence", "")))
    return Outcome(
        clip=row["clip"], source=row["source"], condition=row["condition"], parts=frozenset(row["parts"].split("+")),
        length_s=number("length_s"), truth=split(row["truth"]), answer=row["answer"], others=split(row["others"]),
        coherence={name: float(value) for name, value in figures}, confidence=number("confidence"),
        low_answer=row["low_answer"], low_confidence=number("low_confidence"), elapsed_s=number("elapsed_s"),
        errors={name: float(row[name]) for name in ("offset_error_s", "speed_error", "pitch_error") if row[name]},
        error=row["error"])


def load(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [outcome(row) for row in csv.DictReader(file)]


def wilson(right, count):
    """95 % interval of a share. E. B. Wilson, "Probable Inference ...", JASA 22, 1927:
    (p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)."""
    if not count:
        return 0.0, 1.0
    share, z2n = right / count, Z95 * Z95 / count
    middle = share + z2n / 2
    half = Z95 * math.sqrt(share * (1 - share) / count + z2n / (4 * count))
    return max(0.0, (middle - half) / (1 + z2n)), min(1.0, (middle + half) / (1 + z2n))


def most_expected(events, probability=0.95):
    """Upper limit of a Poisson mean after seeing that many: the mean at which so few have a chance of 5 %
    (F. Garwood, Biometrika 28, 1936): sum over k <= events of m^k e^-m / k! = 1 - probability."""
    low, high = 0.0, 10.0 + 3.0 * events
    for _ in range(80):
        mean = (low + high) / 2
        term = chance = math.exp(-mean)
        for k in range(1, events + 1):
            term *= mean / k
            chance += term
        low, high = (mean, high) if chance > 1 - probability else (low, mean)
    return high


def percentile(values, share):
    """Nearest rank: the least value that at least `share` of them do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def recall_text(outcomes):
    if not outcomes:
        return "-"
    right, count = sum(o.right for o in outcomes), len(outcomes)
    low, high = wilson(right, count)
    return f"{100 * right / count:.0f} % [{100 * low:.0f}..{100 * high:.0f}]"


def markdown(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


def in_order(values):
    return list(dict.fromkeys(values))


def length_text(length_s):
    return f"{length_s:g} s"


def recall_table(outcomes, parts, groups=()):
    """A line a condition, then a line for each of `groups`: (name, which outcomes)."""
    chosen = [o for o in outcomes if o.truth and o.parts & parts]
    if not chosen:
        return ""
    lengths = sorted({o.length_s for o in chosen})

    def line(name, some):
        columns = [[o for o in some if o.length_s == length_s] for length_s in lengths]
        wrong = sum(bool(o.false_tags) for o in some)
        return [name, max(map(len, columns)), *map(recall_text, columns), wrong or ""]

    rows = [line(name, [o for o in chosen if o.condition == name]) for name in in_order(o.condition for o in chosen)]
    rows += [line(f"**{name}**", some) for name, belongs in groups if (some := [o for o in chosen if belongs(o)])]
    return markdown(["condition", "clips", *map(length_text, lengths), "wrongly named"], rows)


def negatives_table(outcomes):
    nothing = [o for o in outcomes if not o.truth]

    def line(name, length, some):
        hours = sum(o.length_s for o in some) / 3600
        false, shared = (sum(bool(tags) for tags in kind) for kind in
                         ([o.false_tags for o in some], [o.shared_tags for o in some]))
        return [name, length, len(some), f"{hours:.3f}", false, f"{false / hours:.2f}",
                f"{most_expected(false) / hours:.2f}", shared or ""]

    rows = [line(condition, length_text(length_s), [o for o in nothing if (o.condition, o.length_s) ==
                                                   (condition, length_s)])
            for condition, length_s in in_order((o.condition, o.length_s) for o in nothing)]
    if not nothing:
        return "Nothing was asked.\n"
    rows.append(line("**all of it**", "", nothing))
    return markdown(["nothing known", "length", "clips", "hours", "false tags", "an hour", "at most (95 %)",
                     "heard all the same"], rows)


def false_tags_list(outcomes):
    rows = [[o.clip, "/".join(o.truth) or "nothing", name, f"{o.confidence:.6f}" if name == o.answer else "",
             o.coherence.get(name, "")] for o in outcomes for name in o.false_tags]
    return markdown(["clip", "is", "named", "confidence", "coherence"], rows) if rows else "None.\n"


def shared_tags_list(outcomes):
    rows = []
    tags = [(o.source, name, o) for o in outcomes for name in o.shared_tags]
    for source, name in in_order((source, name) for source, name, _ in tags):
        some = [o for other_source, other, o in tags if (other_source, other) == (source, name)]
        rows.append([source, name, len(some), f"{min(o.coherence[name] for o in some):.1f}", some[0].clip])
    return markdown(["cut from", "heard, and named", "clips", "least coherence", "first clip"], rows) if rows else ""


def errors_table(outcomes, family_of):
    """Median and 95th percentile of the absolute errors of right answers."""
    rows = []
    kinds = (("offset_error_s", 1000, "ms"), ("speed_error", 100, "%"), ("pitch_error", 100, "%"))
    right = [o for o in outcomes if o.right and o.parts & {"usual", "hard"}]
    for family in [*in_order(family_of(o.condition) for o in right), "all"]:
        some = [o for o in right if family in ("all", family_of(o.condition))]
        cells = []
        for name, scale, unit in kinds:
            values = [abs(o.errors[name]) * scale for o in some if name in o.errors]
            digits = 0 if unit == "ms" else 3
            cells.append(f"{statistics.median(values):.{digits}f} / {percentile(values, 0.95):.{digits}f} {unit}"
                         if values else "-")
        far = sum(abs(o.errors.get("offset_error_s", 0)) > 0.5 for o in some)
        rows.append([family, len(some), *cells, far or ""])
    return markdown(["family", "right answers", "offset", "speed", "pitch", "offset wrong by > 0.5 s"], rows)


def cost_lines(info):
    lines, ingest = [], info.get("ingest") or {}
    if ingest.get("audio_s"):
        lines.append(f"Ingest: {ingest['audio_s'] / 3600:.2f} h in {ingest['wall_s']:.1f} s "
                     f"({ingest['audio_s'] / ingest['wall_s']:.0f} times real time), "
                     f"{ingest['cpu_s']:.1f} CPU seconds, {ingest['peak_bytes'] / 2**20:.0f} MiB.")
    if info.get("index_bytes"):
        minutes = info["catalogue_s"] / 60
        lines.append(f"Index: {info['index_bytes'] / 2**20:.2f} MiB, "
                     f"{info['index_bytes'] / 1024 / minutes * 4:.1f} KiB for 4 minutes.")
    for name, what in (("identify", "Identify"), ("identify_low", "Identify down to confidence 0")):
        cost = info.get(name)
        if cost and cost["files"]:
            cpu_ms, wall_ms = (1000 * cost[name] / cost["files"] for name in ("cpu_s", "wall_s"))
            lines.append(f"{what}: {cost['files']} clips, {cpu_ms:.0f} ms of CPU and {wall_ms:.0f} ms a clip, "
                         f"{cost['peak_bytes'] / 2**20:.0f} MiB.")
    return "\n".join(f"- {line}" for line in lines) + "\n" if lines else "Not measured.\n"


def table(outcomes, info=None, family_of=lambda condition: condition):
    """All of table.md."""
    info = info or {}
    pools = [(name, lambda o, part=part: part in o.parts) for name, part in
             (("all usual", "usual"), ("all hard", "hard"))]
    families = in_order(family_of(o.condition) for o in outcomes if o.truth)
    pools[:0] = [(name, lambda o, name=name: family_of(o.condition) == name) for name in families
                 if len({o.condition for o in outcomes if o.truth and o.parts & {"usual", "hard"}
                         and family_of(o.condition) == name}) > 1]
    sections = ["# Recognition\n", info.get("what", "")]
    sections += ["## Recall: share of clips whose recording is named [95 % interval]\n",
                 recall_table(outcomes, {"usual", "hard"}, pools)]
    for part, title in (("snr", "Recall against noise"), ("length", "Recall against length")):
        if text := recall_table(outcomes, {part}):
            sections += [f"## {title}\n", text]
    sections += ["## False tags on what is not in the catalogue\n", negatives_table(outcomes),
                 "## Every false tag\n", false_tags_list(outcomes)]
    if shared := shared_tags_list(outcomes):
        sections += ["## Recordings that were named because they are heard in others\n", shared]
    sections += [
                 "## Errors of right answers: median / 95 %\n", errors_table(outcomes, family_of)]
    if failed := [o for o in outcomes if o.error]:
        sections += ["## Clips that could not be heard\n",
                     markdown(["clip", "why"], [[o.clip, o.error] for o in failed])]
    sections += ["## Cost\n", cost_lines(info)]
    if info.get("programmes"):
        sections += ["## Programmes\n", markdown(info["programmes"]["head"], info["programmes"]["rows"])]
    return "\n".join(text for text in sections if text)


def family_of_condition(condition):
    """As degradations.py sorts them; a condition that it does not know is its own family."""
    try:
        from degradations import CONDITIONS
    except ImportError:  # scoring needs nothing but the standard library
        return condition
    return CONDITIONS[condition].family if condition in CONDITIONS else condition


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    beside = os.path.join(os.path.dirname(os.path.abspath(arguments[0])), "info.json")
    info = {}
    if os.path.exists(beside):
        with open(beside, encoding="utf-8") as file:
            info = json.load(file)
    print(table(load(arguments[0]), info, family_of_condition), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
