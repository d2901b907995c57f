#!/usr/bin/python3
# tests/eval/parts_test.py - tests what the evaluation makes, against arithmetic. Status 77: skipped, and why.

import os
import shutil
import sys
import tempfile
import unittest

import tools

if __name__ == "__main__":
    absent = tools.missing({"ffmpeg"})
    if absent:
        print("SKIPPED\n" + tools.message(absent))
        sys.exit(77)

import numpy as np  # noqa: E402
import soundfile  # noqa: E402

import clips  # noqa: E402
import coherence  # noqa: E402
import degradations  # noqa: E402
import music  # noqa: E402
import plots  # noqa: E402
import programme  # noqa: E402
import score  # noqa: E402
import score_plays  # noqa: E402
import score_test  # noqa: E402
import shared_audio  # noqa: E402
from made_music import SEED, made_song  # noqa: E402
from sound import RATE_HZ, generator, level_db, read_part, rms, write_clip  # noqa: E402


def frequency_hz(samples):
    """Of a sine: zero crossings upwards between the first and the last."""
    up = np.flatnonzero((samples[:-1] < 0) & (samples[1:] >= 0))
    return (len(up) - 1) * RATE_HZ / (up[-1] - up[0])


def sine(hertz, seconds):
    return 0.5 * np.sin(2 * np.pi * hertz * np.arange(int(seconds * RATE_HZ)) / RATE_HZ)


class Degradations(unittest.TestCase):
    def test_speed_changes_length_and_frequency_alike(self):
        for speed in (0.94, 1.015, 1.03):
            fast = degradations.played_at(sine(440, 4), speed)
            self.assertAlmostEqual(len(fast) * speed / (4 * RATE_HZ), 1, 4)
            self.assertAlmostEqual(frequency_hz(fast[5000:-5000]) / (440 * speed), 1, 3)

    @unittest.skipUnless(shutil.which("rubberband"), "no rubberband")
    def test_tempo_and_pitch_are_what_the_truth_says(self):
        condition = degradations.CONDITIONS["tempo-6%pitch+2st"]
        heard = condition.change(sine(440, 6), None)
        self.assertAlmostEqual(len(heard) * condition.speed / (6 * RATE_HZ), 1, 2)
        self.assertAlmostEqual(frequency_hz(heard[RATE_HZ:-RATE_HZ]) / (440 * condition.pitch), 1, 2)

    def test_noise_is_as_far_below_as_its_name_says(self):
        music_only = sine(440, 5)
        for snr_db in (20, 0, -10):
            added = degradations.CONDITIONS[f"noise{snr_db:+d}dB"].change(music_only, generator(SEED)) - music_only
            self.assertAlmostEqual(level_db(music_only) - level_db(added), snr_db, 1)

    def test_emphasis_and_its_inverse_cancel(self):
        hiss = generator(SEED).standard_normal(10000)
        back = degradations.emphasised(degradations.emphasised(hiss, +1), -1)
        np.testing.assert_allclose(back, hiss, atol=1e-9)
        strong = rms(degradations.emphasised(sine(10000, 1), +1)) / rms(degradations.emphasised(sine(100, 1), +1))
        self.assertGreater(strong, 2)  # |1 + j 2 pi 10 kHz 50 us| = 3.3, less what the pole at 15 kHz takes

    def test_codecs_neither_move_nor_lengthen_the_sound(self):
        song, rate_hz = made_song(0, 4)
        song = degradations.played_at(song, rate_hz / RATE_HZ)
        for name in ("mp3-32k", "opus-16k", "aac-32k"):
            heard = degradations.CONDITIONS[name].change(song, None)[:len(song)]
            size = 2 * len(song)
            lag = int(np.argmax(np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(song, size)))))
            self.assertLess(min(lag, size - lag), 0.01 * RATE_HZ, name)


class Plans(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.tracks = []
        for number in range(5):
            wav = os.path.join(cls.folder.name, f"{number}.wav")
            write_clip(wav, 0.2 * generator(SEED, number).standard_normal(20 * RATE_HZ))
            cls.tracks.append(music.Track(str(number), wav, wav, 20.0))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def plan(self, cells, count, seed=SEED):
        return clips.plan(cells, count, self.tracks[:4], self.tracks[4:], seed, self.folder.name)

    def test_more_clips_and_more_conditions_change_no_clip(self):
        few = self.plan({("clean", 5.0): "usual"}, 2)
        many = self.plan({("noise+5dB", 5.0): "usual", ("clean", 5.0): "usual"}, 4)
        self.assertEqual(few, [clip for clip in many if clip.condition == "clean"][:2])
        self.assertNotEqual(few, self.plan({("clean", 5.0): "usual"}, 2, SEED + 1))
        self.assertEqual(len({clip.places_s for clip in many}), 8)  # no two conditions draw alike

    def test_a_condition_that_is_named_is_made_whatever_it_is_for(self):
        named = clips.cells([5, 10], False, False, ["clean", "opus-8k", "speed+3%"])
        self.assertEqual(named, {("clean", 5): "usual", ("speed+3%", 5): "usual", ("opus-8k", 5): "hard",
                                 ("clean", 10): "usual", ("speed+3%", 10): "usual", ("opus-8k", 10): "hard"})
        unnamed = clips.cells([5], False, True, [])
        self.assertNotIn(("opus-8k", 5), unnamed)
        self.assertEqual((unnamed["clean", 5], unnamed["clean", 1], unnamed["noise+5dB", 5]),
                         ("usual+length", "length", "usual+snr+length"))

    def test_each_recording_comes_up_before_one_comes_up_twice(self):
        self.assertEqual({clip.truth for clip in self.plan({("clean", 5.0): "usual"}, 4)}, set("0123"))

    def test_a_clean_clip_is_the_recording_at_its_place(self):
        clip = self.plan({("clean", 2.5): "usual"}, 1)[0]
        clips.make(clip)
        wanted = read_part(clip.wavs[0], int(round(float(clip.truth_offset_s) * RATE_HZ)), int(2.5 * RATE_HZ))
        np.testing.assert_allclose(soundfile.read(clip.file)[0], wanted, atol=1e-3)

    def test_a_crossfade_is_of_two_recordings(self):
        for clip in self.plan({(clips.CROSSFADE, 5.0): "usual"}, 4):
            self.assertEqual(len(set(clip.truth.split("|"))), 2)

    def test_negatives_come_from_left_out_music_alone(self):
        for clip in self.plan({("neg-clean", 5.0): "negative"}, 3):
            self.assertEqual((clip.truth, clip.source), ("", "4"))

    def test_windows_cover_the_left_out_music_or_the_hours_asked_for(self):
        everything = clips.plan_windows(self.tracks[4:], SEED, None, self.folder.name)
        self.assertEqual([clip.places_s[0] for clip in everything if clip.length_s == 5], [0, 5, 10])
        some = clips.plan_windows(self.tracks, SEED, 20 / 3600, self.folder.name)
        self.assertEqual([clip.length_s for clip in some], [5] * 4 + [10] * 2)

    def test_silence_is_never_drawn(self):
        wav = os.path.join(self.folder.name, "half.wav")
        write_clip(wav, np.concatenate([np.zeros(15 * RATE_HZ), 0.2 * np.ones(5 * RATE_HZ)]))
        drawer = clips.Drawer([music.Track("half", wav, wav, 20.0)], SEED)
        for number in range(8):
            self.assertGreater(drawer.draw("clean", 2.0, number, 2.0)[1], 13)


class SharedAudio(unittest.TestCase):
    def prints(self):
        random = generator(SEED, "prints")
        one, two, three = (random.integers(0, 1 << 32, 1000, np.uint64).astype(np.uint32) for _ in range(3))
        two[300:500] = one[100:300]
        flips = (random.random((200, 32)) < 0.05) @ (1 << np.arange(32, dtype=np.uint64))
        two[300:500] ^= flips.astype(np.uint32)
        return one, two, three

    def test_a_shared_passage_is_found_where_it_is_and_nothing_else(self):
        one, two, three = self.prints()
        (i, j, errors, at_i_s, at_j_s), = shared_audio.find_pairs([one, two, three])
        self.assertEqual((i, j), (0, 1))
        self.assertLess(errors, 0.08)
        self.assertAlmostEqual(at_j_s - at_i_s, 200 * 0.1238, 3)
        self.assertTrue(100 * 0.1238 - 0.01 <= at_i_s <= 236 * 0.1238 + 0.01)
        # The other way round, with the passage at the end of what is compared.
        (i, j, errors, at_i_s, at_j_s), = shared_audio.find_pairs([two[:420], three, one])
        self.assertEqual((i, j), (0, 2))
        self.assertLess(errors, 0.08)
        self.assertAlmostEqual(at_j_s - at_i_s, -200 * 0.1238, 3)
        self.assertTrue(300 * 0.1238 - 0.01 <= at_i_s <= 356 * 0.1238 + 0.01)

    def test_who_shares_with_a_sharer_counts_once_too(self):
        self.assertEqual(shared_audio.representatives(5, [(0, 2), (2, 3)]), [0, 1, 0, 0, 4])


class Coherence(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.one, cls.two = (degradations.played_at(song, rate_hz / RATE_HZ)
                            for song, rate_hz in (made_song(number, 12) for number in (0, 1)))

    def test_a_loop_under_another_tune_is_heard_and_the_tune_alone_is_not(self):
        loop, tune = self.one[3 * RATE_HZ:8 * RATE_HZ], self.two[5 * RATE_HZ:10 * RATE_HZ]
        there = self.one[2 * RATE_HZ:9 * RATE_HZ]
        self.assertGreater(coherence.coherence(loop, there), score.LEAST_COHERENCE)
        self.assertGreater(coherence.coherence(0.5 * loop + tune, there), score.LEAST_COHERENCE)
        self.assertLess(coherence.coherence(tune, there), score.LEAST_COHERENCE)

    def test_it_survives_a_codec_and_the_speed_of_the_condition(self):
        with tempfile.TemporaryDirectory() as folder:
            wav, file = os.path.join(folder, "one.wav"), os.path.join(folder, "clip.wav")
            write_clip(wav, self.one)
            fast = degradations.mp3(degradations.played_at(self.one[3 * RATE_HZ:9 * RATE_HZ], 1.02), 48, 32000)
            write_clip(file, fast[:5 * RATE_HZ])
            self.assertGreater(coherence.coherence_at(file, 1.02, wav, 3.2), score.LEAST_COHERENCE)
            self.assertLess(coherence.coherence_at(file, 1.00, wav, 3.2), score.LEAST_COHERENCE)
            self.assertLess(coherence.coherence_at(file, 1.02, wav, 6.0), score.LEAST_COHERENCE)

    def test_silence_has_none(self):
        self.assertEqual(coherence.coherence(np.zeros(1000), np.zeros(3000)), 0)


class Plots(unittest.TestCase):
    def low(self, truth, answer, confidence, **more):
        return score.outcome(score_test.row(truth, "", low_answer=answer, low_confidence=str(confidence), **more))

    def test_tradeoff_counts_what_each_threshold_lets_through(self):
        positives = [self.low("a", "a", 0.9), self.low("a", "a", 0.5), self.low("a", "b", 0.4), self.low("a", "", 0)]
        negatives = [self.low("", "b", 0.5, length_s=1800), self.low("", "", 0, length_s=1800)]
        self.assertEqual([(float(f), float(r), t) for f, r, t in plots.tradeoff_points(positives, negatives)],
                         [(0, 0.25, 0.9), (1, 0.5, 0.5), (1, 0.5, 0.4)])

    def test_reliability_bins_hold_each_answer_once(self):
        rows = [self.low("a", "a", 1.0), self.low("a", "b", 0.9999), self.low("a", "a", 0.05), self.low("a", "", 0)]
        self.assertEqual([(low, right, count) for low, _, _, right, count in plots.reliability_bins(rows)],
                         [(0.0, 1, 1), (0.9999, 1, 2)])


class Programme(unittest.TestCase):
    @unittest.skipUnless(shutil.which("espeak-ng"), "no espeak-ng")
    def test_each_song_is_heard_where_the_truth_says(self):
        with tempfile.TemporaryDirectory() as folder:
            tracks = []
            for number in range(4):
                song, rate_hz = made_song(number, 62)
                wav = os.path.join(folder, f"{number}.wav")
                write_clip(wav, degradations.played_at(song, rate_hz / RATE_HZ))
                tracks.append(music.Track(str(number), wav, wav, 62.0))
            heard, truth = programme.make(tracks[:3], tracks[3:], os.path.join(folder, "p"), minutes=3, seed=SEED,
                                          codec="flac", plain=True)
            items = score_plays.read(truth)
            self.assertAlmostEqual(soundfile.info(heard).duration, 180, 1)
            songs = [item for item in items if item["kind"] in ("song", "unknown")]
            self.assertGreaterEqual(len(songs), 3)
            for item in songs:
                self.assertEqual(item["kind"] == "unknown", item["track"] == "3")
                at_s = min(float(item["start_s"]) + 20, 177)  # clear of talk over the start and of fades
                if at_s + 3 > float(item["end_s"]) - 10:
                    continue
                there = read_part(heard, int(at_s * RATE_HZ), 3 * RATE_HZ)
                first = int((at_s - float(item["start_s"]) + float(item["track_start_s"])) * RATE_HZ)
                wanted = read_part(tracks[int(item["track"])].wav, first - 100, 3 * RATE_HZ + 200)
                likeness = max(abs(np.corrcoef(there, wanted[lag:lag + len(there)])[0, 1]) for lag in range(0, 201, 1))
                self.assertGreater(likeness, 0.9, item)


if __name__ == "__main__":
    print(f"seed {SEED}")
    unittest.main()
