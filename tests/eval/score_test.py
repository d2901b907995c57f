#!/usr/bin/python3
# tests/eval/score_test.py - tests score.py, score_plays.py and the rows of run.py; standard library only.

import types
import unittest

import run
import score
import score_plays


def row(truth, answer, *, condition="clean", parts="usual", length_s=10, confidence=0.9999, others="", **more):
    """A row of results.csv as run.py writes it."""
    return {**dict.fromkeys(run.FIELDS, ""), "clip": f"{condition}-{truth}.wav", "condition": condition,
            "parts": parts, "length_s": str(length_s), "truth": truth, "answer": answer,
            "confidence": str(confidence) if answer else "", "others": others, "elapsed_s": "0.1", **more}


def outcomes(*rows):
    return [score.outcome(one) for one in rows]


def line_of(text, name):
    """The cells of the first table line that begins with `name`."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells[0] == name:
            return cells
    raise AssertionError(f"no line {name} in\n{text}")


class Statistics(unittest.TestCase):
    def test_wilson_gives_the_textbook_intervals(self):
        # Worked by hand from the formula; 0 of n is z^2 / (n + z^2).
        for right, count, low, high in ((0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (8, 10, 0.4902, 0.9433),
                                        (10, 10, 0.7225, 1.0), (1, 1, 0.2065, 1.0)):
            self.assertAlmostEqual(score.wilson(right, count)[0], low, 4)
            self.assertAlmostEqual(score.wilson(right, count)[1], high, 4)
        self.assertEqual(score.wilson(0, 0), (0.0, 1.0))

    def test_most_expected_is_the_poisson_limit_of_the_tables(self):
        for events, mean in ((0, 2.9957), (1, 4.7439), (2, 6.2958), (10, 16.9622)):
            self.assertAlmostEqual(score.most_expected(events), mean, 3)

    def test_percentile_is_the_nearest_rank(self):
        self.assertEqual(score.percentile(range(1, 21), 0.95), 19)
        self.assertEqual(score.percentile([3, 1, 2], 0.5), 2)
        self.assertEqual(score.percentile([7], 0.95), 7)


class Recall(unittest.TestCase):
    def test_a_planted_wrong_answer_lowers_recall_and_is_listed(self):
        right = [row("a", "a"), row("b", "b")]
        self.assertEqual(line_of(score.table(outcomes(*right)), "clean")[2], "100 % [34..100]")
        self.assertIn("None.", score.table(outcomes(*right)))
        planted = score.table(outcomes(right[0], row("b", "c", confidence=0.99912)))
        self.assertEqual(line_of(planted, "clean"), ["clean", "2", "50 % [9..91]", "1"])
        self.assertEqual(line_of(planted, "clean-b.wav"), ["clean-b.wav", "b", "c", "0.999120", ""])

    def test_no_answer_is_a_miss_and_no_false_tag(self):
        text = score.table(outcomes(row("a", ""), row("b", "b")))
        self.assertEqual(line_of(text, "clean"), ["clean", "2", "50 % [9..91]", ""])
        self.assertIn("None.", text)

    def test_either_song_of_a_crossfade_is_right_and_a_third_is_false(self):
        one, both, third = outcomes(row("a|b", "b"), row("a|b", "a", others="b"), row("a|b", "c"))
        self.assertTrue(one.right and both.right)
        self.assertEqual((one.false_tags, both.false_tags, third.false_tags), ([], [], ["c"]))
        self.assertFalse(third.right)

    def test_a_wrong_track_beside_the_right_one_is_a_false_tag(self):
        only, = outcomes(row("a", "a", others="b"))
        self.assertTrue(only.right)
        self.assertEqual(only.false_tags, ["b"])
        self.assertEqual(line_of(score.table([only]), "clean")[-1], "1")

    def test_lengths_have_columns_of_their_own(self):
        text = score.table(outcomes(row("a", "a", length_s=10), row("a", "", length_s=2.5)))
        self.assertEqual(line_of(text, "condition")[2:4], ["2.5 s", "10 s"])
        self.assertEqual(line_of(text, "clean")[2:4], ["0 % [0..79]", "100 % [21..100]"])

    def test_what_was_made_for_a_sweep_is_not_in_the_main_table(self):
        text = score.table(outcomes(row("a", "a"), row("b", "", parts="length"), row("c", "", condition="noise-10dB",
                                                                                     parts="snr")))
        self.assertEqual(line_of(text, "clean")[1:3], ["1", "100 % [21..100]"])
        main, noise, length = text.split("## Recall")[1:]
        self.assertNotIn("noise-10dB", main)
        self.assertIn("noise-10dB", noise)
        self.assertEqual(line_of(length, "clean")[2], "0 % [0..79]")

    def test_conditions_of_one_family_are_pooled(self):
        rows = outcomes(row("a", "a", condition="x1"), row("a", "", condition="x2"), row("a", "a", condition="alone"))
        text = score.table(rows, {}, lambda condition: "x" if condition.startswith("x") else condition)
        self.assertEqual(line_of(text, "**x**")[2], "50 % [9..91]")
        self.assertNotIn("**alone**", text)
        self.assertEqual(line_of(text, "**all usual**")[2], "67 % [21..94]")


class Negatives(unittest.TestCase):
    def test_false_tags_are_counted_in_an_hour(self):
        silent = [row("", "", condition="unknown", parts="negative") for _ in range(359)]
        text = score.table(outcomes(row("", "a", condition="unknown", parts="negative"), *silent))
        self.assertEqual(line_of(text, "unknown"), ["unknown", "10 s", "360", "1.000", "1", "1.00", "4.74", ""])
        self.assertIn("| nothing | a |", text)

    def test_an_hour_without_any_still_has_an_upper_limit(self):
        rows = outcomes(*[row("", "", condition="neg-noise", parts="negative", length_s=5) for _ in range(720)])
        self.assertEqual(line_of(score.table(rows), "neg-noise")[4:], ["0", "0.00", "3.00", ""])
        rows += outcomes(*[row("", "a", condition="neg-speech", parts="negative") for _ in range(360)])
        self.assertEqual(line_of(score.table(rows), "**all of it**")[2:6], ["1080", "2.000", "360", "180.00"])


class Shared(unittest.TestCase):
    def test_a_recording_that_is_in_the_clip_to_the_sample_is_no_false_tag(self):
        heard = row("", "b", condition="unknown", parts="negative", source="u", coherence="b=41.5")
        text = score.table(outcomes(heard, row("", "c", condition="unknown", parts="negative", coherence="c=19.9")))
        self.assertEqual(line_of(text, "unknown")[2:5] + line_of(text, "unknown")[7:], ["2", "0.006", "1", "1"])
        self.assertEqual(line_of(text, "unknown-.wav"), ["unknown-.wav", "nothing", "c", "0.999900", "19.9"])
        self.assertEqual(line_of(text, "u"), ["u", "b", "1", "41.5", "unknown-.wav"])

    def test_naming_it_is_right_for_a_clip_of_the_catalogue(self):
        one, two = outcomes(row("a", "b", coherence="b=41.5"), row("a", "b", coherence="c=41.5"))
        self.assertEqual((one.right, one.false_tags, one.shared_tags), (True, [], ["b"]))
        self.assertEqual((two.right, two.false_tags, two.shared_tags), (False, ["b"], []))

    def test_nothing_known_is_never_right(self):
        self.assertFalse(outcomes(row("", "b", coherence="b=41.5"))[0].right)


class Errors(unittest.TestCase):
    def test_median_and_95_percent_are_of_absolute_errors_of_right_answers(self):
        rows = [row("a", "a", offset_error_s=str(sign * k / 1000)) for k, sign in zip(range(1, 21), (1, -1) * 10)]
        rows += [row("a", "b"), row("a", "a", offset_error_s="9", parts="length")]
        cells = line_of(score.table(outcomes(*rows)), "all")
        self.assertEqual(cells[1:3], ["20", "10 / 19 ms"])

    def test_an_offset_in_another_chorus_is_counted(self):
        text = score.table(outcomes(row("a", "a", offset_error_s="0.499"), row("a", "a", offset_error_s="-12.0")))
        self.assertEqual(line_of(text, "all")[-1], "1")


class Rows(unittest.TestCase):
    clip = types.SimpleNamespace(file="/x/c.wav", condition="speed+5%", parts="usual", length_s=10.0, number=3,
                                 source="a", truth="a", truth_offset_s="48.0000", truth_speed=1.05, truth_pitch=1.05)
    match = {"source": "/w/a.wav", "start_s": 2.0, "track_start_s": 50.0, "speed": 1.05, "pitch": 1.0605,
             "confidence": 0.9995, "score": 5.0}

    def answered(self, *matches):
        return {"file": "/x/c.wav", "elapsed_s": 0.25, "matches": list(matches)}

    def test_errors_are_against_the_truth_at_the_start_of_the_clip(self):
        made = run.row_of(self.clip, self.answered(self.match), self.answered())
        self.assertEqual((made["answer"], made["clip"], made["low_answer"]), ("a", "c.wav", ""))
        self.assertAlmostEqual(float(made["offset_error_s"]), 50 - 2 * 1.05 - 48)  # -0.1
        self.assertAlmostEqual(float(made["speed_error"]), 0)
        self.assertAlmostEqual(float(made["pitch_error"]), 0.01)

    def test_the_surest_match_is_the_answer_and_the_rest_are_others(self):
        other = {**self.match, "source": "b.flac", "confidence": 0.99951}
        made = run.row_of(self.clip, self.answered(self.match, other), self.answered(self.match))
        self.assertEqual((made["answer"], made["others"], made["low_answer"]), ("b", "a", "a"))
        self.assertEqual((made["offset_error_s"], made["speed_error"]), ("", ""))  # of a wrong answer there is none

    def test_what_is_not_the_truth_is_told_with_its_place(self):
        other, low = {**self.match, "source": "b.flac", "track_start_s": 9.1}, {**self.match, "source": "c.ogg"}
        told = run.not_the_truth(self.clip, self.answered(self.match, other), self.answered(low))
        self.assertEqual({name: round(at_s, 6) for name, at_s in told.items()}, {"b": 7.0, "c": 47.9})
        unsure = self.answered({**low, "confidence": 0.09})
        self.assertEqual(run.not_the_truth(self.clip, self.answered(self.match), unsure), {})
        made = run.row_of(self.clip, self.answered(), unsure, {"b": 7.77, "a": 30})
        self.assertEqual(made["coherence"], "a=30.0|b=7.8")

    def test_no_match_leaves_the_answer_empty(self):
        made = run.row_of(self.clip, self.answered(), self.answered())
        self.assertEqual((made["answer"], made["confidence"], made["offset_s"]), ("", "", ""))

    def test_a_crossfade_is_measured_against_the_song_that_was_named(self):
        self.assertAlmostEqual(run.offset_error("b", 7.5, "a|b", "100.0|7.0"), 0.5)
        self.assertIsNone(run.offset_error("c", 7.5, "a|b", "100.0|7.0"))


class Plays(unittest.TestCase):
    truth = [dict(zip(("kind", "track", "start_s", "end_s"), item)) for item in (
        ("song", "a", "0", "100"), ("speech", "", "100", "130"), ("song", "b", "130", "230"),
        ("unknown", "u", "230", "300"), ("song", "a", "300", "400"), ("song", "short", "400", "406"))]

    def report(self, *plays):
        names = ("track", "start_s", "end_s", "detected_s")
        return score_plays.score(self.truth, [dict(zip(names, map(str, play))) for play in plays])

    def test_a_perfect_log_has_nothing_to_complain_of(self):
        report = self.report(("a", 0, 100, 3), ("b", 130, 230, 134), ("a", 300, 400, 305))
        self.assertEqual((report.found, report.asked, report.false, report.doubled, report.missed), (3, 3, [], [], []))
        self.assertEqual(sorted(report.to_tag_s), [3, 4, 5])
        self.assertEqual(score_plays.cells(report)[-1], "98.0 %")  # 300 of 306 s

    def test_errors_are_of_each_end(self):
        report = self.report(("a", 2, 99, 4))
        self.assertEqual((report.start_errors_s, report.end_errors_s, report.to_tag_s), ([2], [1], [4]))

    def test_a_play_of_unknown_music_or_of_the_wrong_song_is_false(self):
        report = self.report(("b", 235, 290, 240), ("b", 10, 90, 12))
        self.assertEqual((report.found, len(report.false)), (0, 2))

    def test_a_second_play_of_one_broadcast_is_doubled_but_the_next_broadcast_is_not(self):
        report = self.report(("a", 0, 45, 3), ("a", 55, 100, 60), ("a", 300, 400, 305))
        self.assertEqual((report.found, len(report.doubled), len(report.false)), (2, 1, 0))
        self.assertEqual([song["track"] for song in report.missed], ["b"])

    def test_less_than_half_an_overlap_is_not_that_song(self):
        self.assertEqual(len(self.report(("b", 60, 160, 61)).false), 1)  # 30 of 100 s
        self.assertEqual(len(self.report(("b", 80, 180, 81)).false), 0)  # 50 of 100 s

    def test_a_short_song_is_not_asked_for_but_right(self):
        self.assertEqual(self.report().asked, 3)
        self.assertEqual(self.report(("short", 400, 406, 405)).false, [])


if __name__ == "__main__":
    unittest.main()
