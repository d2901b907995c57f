#!/usr/bin/python3
# tests/eval/evaluate_test.py - tests evaluate.py and spintag together, on made music.
"""usage: evaluate_test.py --bin PATH/spintag [unittest's arguments]      status 77: skipped, and why"""

import csv
import os
import subprocess
import sys
import tempfile
import unittest

import tools

HERE = os.path.dirname(os.path.abspath(__file__))

if __name__ == "__main__":
    absent = tools.missing({"ffmpeg", "ffprobe", "fpcalc"})
    if absent:
        print("SKIPPED\n" + tools.message(absent))
        sys.exit(77)

import soundfile  # noqa: E402

import music  # noqa: E402
import score  # noqa: E402
import score_plays  # noqa: E402
import score_test  # noqa: E402
from made_music import SEED, made_song  # noqa: E402

PROGRAM = None  # --bin


class EndToEnd(unittest.TestCase):
    """Five made songs, one of them a second time as an MP3 at another level, and what is no song."""

    @classmethod
    def setUpClass(cls):
        if PROGRAM is None:
            raise unittest.SkipTest("no --bin")
        cls.scratch = tempfile.TemporaryDirectory()
        if os.geteuid() == 0:  # spintag's PostgreSQL gives up root's rights, and has to get there
            os.chmod(cls.scratch.name, 0o755)
        cls.songs, cls.out = os.path.join(cls.scratch.name, "songs"), os.path.join(cls.scratch.name, "out")
        os.makedirs(cls.songs)
        for number in range(5):
            song, rate_hz = made_song(number, 50)
            soundfile.write(os.path.join(cls.songs, f"song {number}.wav"), song, rate_hz)
        song, rate_hz = made_song(1, 50)
        again = os.path.join(cls.scratch.name, "again.wav")
        soundfile.write(again, 0.5 * song[2 * rate_hz:], rate_hz)
        tools.call(["ffmpeg", "-v", "error", "-i", again, "-c:a", "libmp3lame", "-b:a", "96k",
                    os.path.join(cls.songs, "song 1 again.mp3")])
        soundfile.write(os.path.join(cls.songs, "jingle.wav"), song[:10 * rate_hz], rate_hz)
        with open(os.path.join(cls.songs, "broken.mp3"), "w", encoding="utf-8") as file:
            file.write("this is no music\n")
        cls.said = cls.evaluate()

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def evaluate(cls, *more):
        command = [sys.executable, "-B", os.path.join(HERE, "evaluate.py"), "--bin", PROGRAM, "--music", cls.songs,
                   "--out", cls.out, "--seed", str(SEED), "--n", "2", "--lengths", "5", "--no-sweeps", "--only",
                   "clean,noise+5dB,neg-silence,unknown", "--jobs", "2", *more]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def results(self):
        return score.load(os.path.join(self.out, "results.csv"))

    def test_all_clean_clips_are_named_and_nothing_else(self):
        self.assertEqual(score_test.line_of(self.said, "clean"), ["clean", "2", "100 % [34..100]", ""])
        self.assertIn("| noise+5dB | 2 |", self.said)
        self.assertIn("## Every false tag\n\nNone.", self.said)
        for outcome in self.results():
            if outcome.condition == "clean":
                self.assertLess(abs(outcome.errors["offset_error_s"]), 0.05)
                self.assertLess(abs(outcome.errors["speed_error"]), 0.002)

    def test_a_wrong_answer_planted_in_the_results_changes_the_table(self):
        path, planted = (os.path.join(self.out, name) for name in ("results.csv", "planted.csv"))
        with open(path, encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        victim = next(row for row in rows if row["condition"] == "clean")
        victim["answer"] = "somebody-else"
        with open(planted, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)
        text = tools.call([sys.executable, "-B", os.path.join(HERE, "score.py"), planted]).decode()
        self.assertEqual(score_test.line_of(text, "clean"), ["clean", "2", "50 % [9..91]", "1"])
        self.assertIn("| somebody-else |", text)

    def test_the_song_that_is_there_twice_counts_once(self):
        pairs = score_plays.read(os.path.join(self.out, "shared_audio.csv"))
        self.assertEqual([{pair["track_a"][:6], pair["track_b"][:6]} for pair in pairs], [{"song-1"}])
        tracks = music.read_list(os.path.join(self.out, "music.csv"))
        self.assertEqual(len(tracks), 6)  # neither the jingle nor the broken file
        self.assertEqual(sum(bool(track.same_as) for track in tracks), 1)
        self.assertEqual((sum(track.known for track in tracks),
                          sum(not track.known and not track.same_as for track in tracks)), (4, 1))

    def test_all_of_the_left_out_song_was_asked_about(self):
        unknown = [outcome for outcome in self.results() if outcome.condition == "unknown"]
        self.assertEqual(sorted(outcome.length_s for outcome in unknown), [5] * 9 + [10] * 4)

    def test_plots_are_pictures(self):
        for name in ("reliability", "recall_false_tags"):
            with open(os.path.join(self.out, "plots", name + ".png"), "rb") as file:
                self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")
            with open(os.path.join(self.out, "plots", name + ".svg"), encoding="utf-8") as file:
                self.assertIn("<svg", file.read())

    def test_a_second_call_makes_no_clip_again_and_says_the_same(self):
        folder = os.path.join(self.out, "clips")
        stamps = {name: os.stat(os.path.join(folder, name)).st_mtime_ns for name in os.listdir(folder)}
        again = self.evaluate("--reuse")
        self.assertEqual(stamps, {name: os.stat(os.path.join(folder, name)).st_mtime_ns for name in os.listdir(folder)})
        self.assertEqual(again.split("## Cost")[0], self.said.split("## Cost")[0])
        self.assertNotIn("Ingest:", again)

    def test_a_missing_program_is_named_with_its_package_before_any_work(self):
        out = os.path.join(self.scratch.name, "never")
        done = subprocess.run([sys.executable, "-B", os.path.join(HERE, "evaluate.py"), "--bin", PROGRAM, "--music",
                               self.songs, "--out", out], env={**os.environ, "PATH": "/nowhere"}, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("fpcalc is missing (not found): Debian package libchromaprint-tools", done.stderr)
        self.assertIn("rubberband-cli", done.stderr)
        self.assertFalse(os.path.exists(out))


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "--bin":
        PROGRAM = os.path.abspath(sys.argv[2])
        del sys.argv[1:3]
    print(f"seed {SEED}")
    unittest.main()
