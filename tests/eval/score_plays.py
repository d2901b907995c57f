#!/usr/bin/python3
# tests/eval/score_plays.py - a log of plays against what was on air.
"""usage: score_plays.py programme.csv plays.csv [--shortest SECONDS]

plays.csv is what spintag_track_file prints: track,start_s,end_s,detected_s. A play is right when its track was on air
and both overlap by half of the shorter one; a second play of the same song on air is doubled; any other is false. Songs
that are audible for less than --shortest (10 s) are not asked for, but naming them is right."""

import argparse
import csv
import dataclasses
import sys

from score import percentile

HEAD = ("songs found", "false plays", "doubled", "start error s", "end error s", "start to tag s", "tagged right")


@dataclasses.dataclass
class Report:
    asked: int = 0
    found: int = 0
    false: list = dataclasses.field(default_factory=list)  # plays
    doubled: list = dataclasses.field(default_factory=list)  # plays
    missed: list = dataclasses.field(default_factory=list)  # songs
    start_errors_s: list = dataclasses.field(default_factory=list)
    end_errors_s: list = dataclasses.field(default_factory=list)
    to_tag_s: list = dataclasses.field(default_factory=list)
    right_s: float = 0.0
    audible_s: float = 0.0


def overlap_s(one, two):
    return min(float(one["end_s"]), float(two["end_s"])) - max(float(one["start_s"]), float(two["start_s"]))


def length_s(item):
    return float(item["end_s"]) - float(item["start_s"])


def song_of(play, songs):
    """The number of the song that a play is of, None if there is none."""
    fitting = [(overlap_s(play, song), -i) for i, song in enumerate(songs) if song["track"] == play["track"]
               and overlap_s(play, song) > 0
               and overlap_s(play, song) >= 0.5 * min(length_s(play), length_s(song))]
    return -max(fitting)[1] if fitting else None


def score(truth, plays, shortest_s=10.0):
    """@param truth, plays  rows with the columns of programme.csv and plays.csv"""
    songs = [item for item in truth if item["kind"] == "song"]
    report = Report(audible_s=sum(map(length_s, songs)))
    named = set()
    for play in sorted(plays, key=lambda play: float(play["start_s"])):
        i = song_of(play, songs)
        if i is None:
            report.false.append(play)
            continue
        report.right_s += overlap_s(play, songs[i])
        if i in named:
            report.doubled.append(play)
            continue
        named.add(i)
        report.start_errors_s.append(abs(float(play["start_s"]) - float(songs[i]["start_s"])))
        report.end_errors_s.append(abs(float(play["end_s"]) - float(songs[i]["end_s"])))
        if play.get("detected_s"):
            report.to_tag_s.append(float(play["detected_s"]) - float(songs[i]["start_s"]))
    asked = [i for i, song in enumerate(songs) if length_s(song) >= shortest_s]
    report.asked, report.found = len(asked), sum(i in named for i in asked)
    report.missed = [songs[i] for i in asked if i not in named]
    return report


def cells(report):
    """One line of a table under HEAD; times are median / 95 %."""

    def both(values):
        return f"{percentile(values, 0.5):.2f} / {percentile(values, 0.95):.2f}" if values else "-"

    share = 100 * report.right_s / report.audible_s if report.audible_s else 0
    return [f"{report.found} of {report.asked}", len(report.false), len(report.doubled), both(report.start_errors_s),
            both(report.end_errors_s), both(report.to_tag_s), f"{share:.1f} %"]


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth")
    parser.add_argument("plays")
    parser.add_argument("--shortest", type=float, default=10.0)
    options = parser.parse_args()
    report = score(read(options.truth), read(options.plays), options.shortest)
    for name, value in zip(HEAD, cells(report)):
        print(f"{name}: {value}")
    for what in ("false", "doubled", "missed"):
        for item in getattr(report, what):
            print(f"{what}: {item['track']} {item['start_s']} to {item['end_s']}")


if __name__ == "__main__":
    sys.exit(main())
