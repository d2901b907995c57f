#!/usr/bin/python3
# tests/eval/fit_test.py - tests fit_confidence.py on planted data, and spintag_alignment_features on made music.
# Status 77: skipped, and why.

import argparse
import csv
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest

import tools

if __name__ == "__main__":
    absent = tools.missing(set(), ("numpy", "scipy.signal", "scipy.signal", "soundfile"))
    if absent:
        print("SKIPPED\n" + tools.message(absent))
        sys.exit(77)

import numpy as np  # noqa: E402
import soundfile  # noqa: E402

import fit_confidence as fitting  # noqa: E402
from made_music import SEED, made_song  # noqa: E402

PROGRAM = None  # spintag_alignment_features
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "fingerprint")


def constants_of(path):
    """{name: value} of the constexpr numbers in a C++ source."""
    with open(os.path.join(SOURCES, path), encoding="utf-8") as file:
        return {name: float(value) for name, value in re.findall(r"constexpr double (k\w+) = (-?[\d.]+);", file.read())}


def weights_of(text, variable):
    """{name: value} of a designated initialiser in C++."""
    body = re.search(variable + r"{(.*?)}", text, re.DOTALL)[1]
    return {name: float(value) for name, value in re.findall(r"\.(\w+) = (-?[\d.]+),", body)}


def row(**told):
    """A row of features: a right alignment of a clip of recording a."""
    return {"clip": "a@0", "condition": "clean", "length_s": "10", "source": "a", "truth": "a", "truth_offset_s": "5",
            "tracks": "80", "rank": "0", "track": "a", "right": "1", "score": "60", "found_share": "0.6",
            "masking": "0.5", "missing_share": "0.3", "deficit": "1.5", "weight": 1.0, "explained_share": "0.4", "foreign_per_s": "3",
            "foreign_db": "20", "moments": "50",
            "tempo": "1.02", "pitch": "1.02", **told}


def wrong(**told):
    return row(**{"source": "b", "truth": "", "right": "0", **told})


class Fit(unittest.TestCase):
    def test_planted_weights_come_back(self):
        random = np.random.default_rng(SEED)
        planted, constant = np.array([1.3, -0.7, 0.0, 0.05]), -0.4
        features = random.standard_normal((40000, 4)) * [1, 2, 1, 10] + [0, 3, -1, 20]
        odds = features @ planted + constant
        chance = 1 / (1 + np.exp(-odds))
        right = random.random(len(odds)) < chance
        # What a maximum-likelihood fit may be off by: the inverse of Fisher's information.
        design = np.column_stack([np.ones(len(odds)), features])
        off = np.sqrt(np.diag(np.linalg.inv((design.T * (chance * (1 - chance))) @ design)))
        weights, found = fitting.fit_logistic(features, right)
        self.assertLess(abs(found - constant), 4 * off[0])
        for weight, true, error in zip(weights, planted, off[1:]):
            self.assertLess(abs(weight - true), 4 * error)
            self.assertLess(error, 0.03)

    def test_weights_are_those_of_a_table_worked_by_hand(self):
        # 30 of 40 right at 0, 10 of 40 at 1: odds of 3 and of 1/3.
        features = np.repeat([[0.0], [1.0]], 40, 0)
        right = np.tile(np.arange(40), 2) < np.repeat([30, 10], 40)
        weights, constant = fitting.fit_logistic(features, right, ridge=0)
        self.assertAlmostEqual(constant, math.log(3), 5)
        self.assertAlmostEqual(weights[0], -2 * math.log(3), 5)

    def test_a_feature_that_never_changes_weighs_nothing(self):
        random = np.random.default_rng(SEED)
        features = np.column_stack([random.standard_normal(300), np.full(300, 7.5)])
        weights, constant = fitting.fit_logistic(features, np.arange(300) % 4 > 0)
        self.assertAlmostEqual(weights[1], 0, 9)
        self.assertAlmostEqual(constant, math.log(3), 0)

    def test_separable_data_do_not_blow_up(self):
        features = np.column_stack([np.linspace(-1, 1, 200), np.cos(np.arange(200))])
        right = features[:, 0] > 0
        weights, constant = fitting.fit_logistic(features, right)
        odds = features @ weights + constant
        self.assertTrue(np.array_equal(odds > 0, right))
        # At the optimum ridge / 2 |w|^2 is at most the loss of all weights 0, n ln 2.
        bound = math.sqrt(2 * 200 * math.log(2) / fitting.RIDGE)
        self.assertLess(np.linalg.norm(weights * features.std(0)), bound)
        # Ten times the ridge, a shorter vector: the penalty is what holds it.
        tighter, _ = fitting.fit_logistic(features, right, ridge=10 * fitting.RIDGE)
        self.assertLess(np.linalg.norm(tighter), np.linalg.norm(weights))

    def test_nothing_to_tell_apart_is_said(self):
        for all_of in (True, False):
            with self.assertRaisesRegex(ValueError, "nothing to tell apart"):
                fitting.fit_logistic(np.ones((5, 2)), np.full(5, all_of))


class Folds(unittest.TestCase):
    def test_a_recording_is_in_one_fold_and_folds_are_even(self):
        groups = np.repeat(np.arange(40), np.arange(1, 41))
        folds = fitting.folds_of(np.random.default_rng(SEED).permutation(groups))
        sizes = np.bincount(folds)
        self.assertEqual(len(sizes), fitting.FOLDS)
        self.assertLessEqual(sizes.max() - sizes.min(), 1)  # the groups of one row are the last to be dealt out
        in_order = fitting.folds_of(groups)
        self.assertTrue(all(len(set(in_order[groups == group])) == 1 for group in range(40)))

    def test_what_is_known_of_a_recording_does_not_help_to_tell_it(self):
        # A feature of its own for every recording: seen ones are told perfectly, unseen ones all alike.
        groups = np.repeat(np.arange(20), 6)
        features, right = np.eye(20)[groups], groups % 2 == 0
        weights, constant = fitting.fit_logistic(features, right)
        self.assertTrue(np.array_equal(features @ weights + constant > 0, right))
        odds, folds = fitting.unseen_odds(features, right, groups), fitting.folds_of(groups)
        for fold in range(fitting.FOLDS):
            self.assertLess(np.ptp(odds[folds == fold]), 1e-9)

    def test_recordings_that_share_audio_are_one_group(self):
        rows = [row(source=source) for source in ("a", "b", "c", "a|c", "d")]
        groups = fitting.groups_of(rows, {frozenset("ab"), frozenset("bd"), frozenset("xy")}).tolist()
        self.assertEqual(groups[0], groups[1])
        self.assertEqual(groups[0], groups[3])
        self.assertEqual(groups[0], groups[4])
        self.assertNotEqual(groups[0], groups[2])


class Rows(unittest.TestCase):
    def test_only_what_says_something_takes_part(self):
        shared = {frozenset("ab")}
        for usable, one in ((True, row()), (False, row(rank="1")), (False, row(right="0")), (False, row(score="6.9")),
                            (True, row(found_share="0.99")), (True, wrong(track="c")), (False, wrong(track="a")),
                            (False, wrong(source="a", track="b")), (False, wrong(track="c", found_share="0.86")),
                            (False, wrong(track="", score="0")), (False, wrong(track="c", rank="1"))):
            self.assertEqual(fitting.is_usable(one, shared), usable, one)

    def test_recall_is_over_the_threshold_that_lets_so_many_through(self):
        right, false = np.array([5.0, 4.0, 3.0, 1.0]), np.array([0.5, 4.0, 2.0])
        for allowed, recall in ((0, 0.25), (1, 0.75), (2, 1.0), (3, 1.0)):
            self.assertEqual(fitting.recall_at(right, false, allowed), recall)

    def test_features_are_cut_where_confidence_cuts_them(self):
        known = constants_of("confidence.cpp")
        for name, here in (("kShortest", fitting.SHORTEST_S), ("kLongest", fitting.LONGEST_S),
                           ("kFaintest", fitting.FAINTEST_DB), ("kLoudest", fitting.LOUDEST_DB),
                           ("kPointsPerDecade", fitting.POINTS_PER_DECADE), ("kFullLength", fitting.FULL_LENGTH_S),
                           ("kShort", fitting.SHORT), ("kFittedTracks", fitting.FITTED_TRACKS)):
            self.assertEqual(known[name], here, name)
        # 1000 tracks: a decade above the fit, 4 points less; 20 s count as 15, 40 dB as 27.
        told = fitting.features_of(row(score="64", tracks="1000", length_s="20", foreign_db="40"))
        for value, true in zip(told, (4.0, math.log(60), math.log(15), 0.5, 0.4, 3, 27, math.log(51), 0, 0.3, 1.5)):
            self.assertAlmostEqual(value, true)
        self.assertEqual([fitting.shortness(row(length_s=at)) for at in ("1", "2.5", "5", "10")],
                         [3 * fitting.SHORT, 2.5 * fitting.SHORT, 0, 0])
        for tempo, pitch, odd in ((1, 1, 0), (1.04, 1.04, 0), (1.04, 1, 0), (1, 0.94, 0), (1.04, 0.94, 1), (0.94, 1.12, 1)):
            self.assertEqual(fitting.is_odd(tempo, pitch), odd, (tempo, pitch))

    def test_printed_constants_are_all_that_confidence_has_and_read_back(self):
        for variable, names in fitting.FITS.items():
            given = [1.5, -2, 3, 4, 5, 6, 7.25, 8, -4, -1.25][:len(names)]
            printed = weights_of("\n".join(fitting.constants_text(variable, given, -11.5, 0.1, 1.3)), variable)
            self.assertEqual([printed[name] for name in (*names, "none", "even")], [*given, -11.5, 0.1])
            # ... so that the threshold's log-odds become those of 0.999.
            self.assertAlmostEqual(printed["steepness"] * (1.3 - 0.1), math.log(999), 1)
            with open(os.path.join(SOURCES, "confidence.cpp"), encoding="utf-8") as file:
                self.assertEqual(list(weights_of(file.read(), variable)), list(printed))

    def test_rows_of_a_file_count_as_often_as_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.csv")
            with open(path, "w", encoding="utf-8") as file:
                file.write("clip,score\none,7\ntwo,8\n")
            self.assertEqual([(one["clip"], one["weight"]) for one in fitting.read_rows([path, path + ":0.3"])],
                             [("one", 1), ("two", 1), ("one", 0.3), ("two", 0.3)])

    def test_a_row_of_weight_two_is_two_rows(self):
        random = np.random.default_rng(SEED)
        features, right = random.standard_normal((60, 2)), random.random(60) < 0.5
        twice = np.arange(60) < 20
        once = fitting.fit_logistic(np.vstack([features, features[twice]]), np.concatenate([right, right[twice]]), ridge=0)
        weighed = fitting.fit_logistic(features, right, ridge=0, weight=1 + twice)
        np.testing.assert_allclose(weighed[0], once[0], atol=1e-4)
        self.assertAlmostEqual(weighed[1], once[1], 4)

    def test_false_windows_above_the_threshold_are_named_worst_first(self):
        rows = [row(), wrong(clip="one", track="c"), wrong(clip="two", track="d"), wrong(clip="three", track="e")]
        lines = fitting.left_table(rows, np.array([9.0, 1.5, 1.0, 4.0]), 1.3)[2:]
        self.assertEqual([line.split(" | ")[1] for line in lines], ["three", "one"])

    def test_planted_recordings_go_through_the_whole_report(self):
        random = np.random.default_rng(SEED)
        rows = []
        for i in range(400):
            one = row if i % 2 else wrong
            rows.append(one(source=f"s{i % 20}", score=f"{random.normal(60 if i % 2 else 30, 8):.2f}", track="z"))
        text = "\n".join(fitting.confidence_report(rows, set(), 0.1, 1.3, "kPeaksAlone"))
        self.assertIn("// 200 right alignments (the best one of 0 more clips", text)
        self.assertGreater(float(re.search(r"\.score = (-?[\d.]+)", text)[1])
                           + 60 * float(re.search(r"\.rate = (-?[\d.]+)", text)[1]) / 10, 0)
        self.assertIn("| 10 | 200 | 200 |", text)


class Chance(unittest.TestCase):
    def test_planted_quadratic_comes_back(self):
        random = np.random.default_rng(SEED)
        v, m, l = random.uniform(6, 30, 60000), random.uniform(0, 25, 60000), random.uniform(-15, 20, 60000)
        true = np.array([3.5, -2, -6, -0.7, 0.5, 1.9, -0.3, -0.1, -0.9])
        terms = fitting.quadratic(v, m, l)
        # The fifth term is v m of the first row, by hand; the loss is cut to what account.cpp cuts it to.
        self.assertAlmostEqual(terms[0, 4], v[0] * m[0] / 100)
        self.assertEqual((terms[:, 2].min(), terms[:, 2].max()), (-1.0, 1.5))
        found = random.random(len(v)) < 1 / (1 + np.exp(-(terms @ true - 1.2)))
        weights, constant = fitting.fit_logistic(terms, found)
        odds, planted = terms @ weights + constant, terms @ true - 1.2
        near = abs(planted) < 4  # where there is something to learn
        self.assertLess(np.sqrt(np.mean((odds - planted)[near] ** 2)), 0.1)


class Program(unittest.TestCase):
    """Made songs: 0 to 3 in the catalogue, 4 and 5 left out."""

    def setUp(self):
        if not PROGRAM:
            self.skipTest("no --program")
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.mkdir(self.path("clips"))
        songs = [made_song(number, 30) for number in range(6)]
        for number, (song, rate_hz) in enumerate(songs):
            soundfile.write(self.path(f"song{number}.wav"), song, rate_hz, "PCM_16")
        for name, numbers in (("catalogue.txt", range(4)), ("unknown.txt", (4, 5))):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write("".join(f"song{number}.wav\n" for number in numbers))
        with open(self.path("results.csv"), "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["clip", "condition", "length_s", "source", "truth", "truth_offset_s", "more"])
            for number, (song, rate_hz) in enumerate(songs):
                known = number < 4
                clip, first = f"{number}.wav", int((3 + 2.5 * number) * rate_hz)
                soundfile.write(self.path(os.path.join("clips", clip)), song[first:first + 10 * rate_hz], rate_hz)
                writer.writerow([clip, "clean", 10, f"song{number}", f"song{number}" if known else "",
                                 f"{first / rate_hz}" if known else "", "x,y"])

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def rows_of(self, *words):
        done = subprocess.run([PROGRAM, self.path("catalogue.txt"), *words], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return list(csv.DictReader(done.stdout.splitlines()))

    def test_clips_are_right_where_they_were_cut_and_others_are_not(self):
        rows = self.rows_of("--clips", self.path("results.csv"), "--peaks", self.path("peaks.csv"), "--jobs", "2")
        best = {one["clip"]: one for one in rows if one["rank"] == "0"}
        self.assertEqual(sorted(best), [f"{number}.wav" for number in range(6)])
        for number in range(4):
            one = best[f"{number}.wav"]
            self.assertEqual((one["track"], one["right"], one["tracks"]), (f"song{number}", "1", "4"))
            self.assertAlmostEqual(float(one["offset_s"]), float(one["truth_offset_s"]), delta=0.03)
            self.assertGreater(float(one["found_share"]), 0.8)
        for number in (4, 5):
            self.assertEqual((best[f"{number}.wav"]["truth"], best[f"{number}.wav"]["right"]), ("", "0"))
        peaks = fitting.read_rows([self.path("peaks.csv")])
        self.assertEqual({one["source"] for one in peaks}, {f"song{number}" for number in range(4)})
        found = np.mean([one["found"] == "1" for one in peaks])
        shares = [float(best[f"{number}.wav"]["found_share"]) for number in range(4)]
        self.assertTrue(min(shares) - 1e-4 <= found <= max(shares) + 1e-4, (found, shares))

    def test_confidence_is_the_logistic_of_the_features_told(self):
        with open(os.path.join(SOURCES, "confidence.cpp"), encoding="utf-8") as file:
            known = weights_of(file.read(), "kWithLevels")
        names = fitting.FITS["kWithLevels"]
        places = [fitting.FEATURES.index(name) for name in names]
        rows = self.rows_of("--clips", self.path("results.csv"), "--folds", "2", "--windows", "5:10,2.5:10")
        seen = 0
        for one in rows:
            if float(one["score"]) < 10:  # not worth judging
                self.assertEqual(float(one["confidence"]), 0, one)
                continue
            fit = np.dot([known[name] for name in names], np.array(fitting.features_of(one))[places]) + known["none"] - fitting.shortness(one)
            told = 1 / (1 + math.exp(-known["steepness"] * (fit - known["even"])))
            self.assertAlmostEqual(float(one["confidence"]), told, delta=0.01)
            seen += 1
        self.assertGreaterEqual(seen, 4)

    def test_a_window_is_never_looked_up_with_its_own_recording(self):
        rows = self.rows_of("--folds", "2", "--left-out", self.path("unknown.txt"), "--windows", "10:7.5")
        # 30 s give windows at 0, 7.5 and 15 s; that at 20 s is not one of every 7.5.
        names = {one["clip"] for one in rows}
        self.assertEqual(names, {f"song{number}@{at}" for number in range(6) for at in ("0", "7.5", "15")})
        self.assertFalse([one for one in rows if one["source"] == one["track"] or one["truth"]])
        self.assertEqual({(one["source"] in ("song4", "song5"), one["tracks"]) for one in rows},
                         {(True, "4"), (False, "2")})

    def test_a_plain_list_is_of_unknown_clips(self):
        rows = self.rows_of("--clips", self.path("unknown.txt"))
        self.assertEqual({(one["clip"], one["length_s"], one["truth"]) for one in rows},
                         {("song4.wav", "30", ""), ("song5.wav", "30", "")})

    def test_what_is_wrong_is_named(self):
        for words, said in ((["--folds", "1"], "leaves out everything"), (["--windows", "5:0"], "never ends"),
                            (["--windows", "5"], "is not L:S"), (["--fold", "3"], "is no option"),
                            (["--clips", self.path("none.csv")], "none.csv: cannot be read")):
            done = subprocess.run([PROGRAM, self.path("catalogue.txt"), *words], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", metavar="PATH/spintag_alignment_features")
    options, rest = parser.parse_known_args()
    PROGRAM = options.program and os.path.abspath(options.program)
    print("seed", SEED)
    unittest.main(argv=[sys.argv[0], *rest])
