"""Standard MIDI Files as lists of events: read, changed (key, tempo, instruments, voices), accompanied, written, rendered.

Rendering needs fluidsynth and a General MIDI soundfont.
"""

import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path

DRUMS = 9  # channel

# General MIDI programs that hold a tune, by family. A voice gets another one of its own family or a neighbouring one, as a band with
# other instruments would; basses stay basses.
TUNEFUL = [0, 1, 4, 6, 11, 16, 19, 21, 22, 24, 25, 26, 27, 40, 41, 42, 48, 52, 56, 57, 60, 64, 65, 66, 68, 71, 72, 73, 74, 80, 81]
BASSES = [32, 33, 34, 35, 36, 38]


@dataclass
class Event:
    tick: int
    data: bytes  # status byte first; meta events whole, without their delta time

    @property
    def kind(self):
        return self.data[0] & 0xF0 if self.data[0] < 0xF0 else self.data[0]

    @property
    def channel(self):
        return self.data[0] & 0x0F


@dataclass
class Song:
    ticks_per_quarter: int
    tracks: list = field(default_factory=list)  # lists of Event, by tick


def read_number(data, at):
    value = 0
    while True:
        byte = data[at]
        at += 1
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at


def number_bytes(value):
    out = [value & 0x7F]
    while value := value >> 7:
        out.append(0x80 | value & 0x7F)
    return bytes(reversed(out))


def read_track(data):
    events, at, tick, status = [], 0, 0, 0
    while at < len(data):
        delta, at = read_number(data, at)
        tick += delta
        if data[at] >= 0x80:
            status = data[at]
            at += 1
        if status == 0xFF:
            size, body = read_number(data, at + 1)
            events.append(Event(tick, bytes([0xFF]) + data[at:body + size]))
            at = body + size
        elif status in (0xF0, 0xF7):
            size, body = read_number(data, at)
            at = body + size  # system exclusive messages say nothing that is needed here
        else:
            size = 1 if status & 0xF0 in (0xC0, 0xD0) else 2
            events.append(Event(tick, bytes([status]) + data[at:at + size]))
            at += size
    return events


def read_song(path):
    data = Path(path).read_bytes()
    at = data.index(b"MThd")
    if data[at + 12] & 0x80:
        raise ValueError(f"{path}: its time is not in quarters")
    song = Song(int.from_bytes(data[at + 12:at + 14], "big"))
    at += 8 + int.from_bytes(data[at + 4:at + 8], "big")
    while at + 8 <= len(data):
        size = int.from_bytes(data[at + 4:at + 8], "big")
        if data[at:at + 4] == b"MTrk":
            song.tracks.append(read_track(data[at + 8:at + 8 + size]))
        at += 8 + size
    return song


def write_song(song, path):
    out = b"MThd" + (6).to_bytes(4, "big") + (1).to_bytes(2, "big") + len(song.tracks).to_bytes(2, "big")
    out += song.ticks_per_quarter.to_bytes(2, "big")
    for track in song.tracks:
        body, last = b"", 0
        for event in track:
            body += number_bytes(event.tick - last) + event.data
            last = event.tick
        out += b"MTrk" + len(body).to_bytes(4, "big") + body
    Path(path).write_bytes(out)


def with_tempo(song, factor):
    """So many times as fast. Without a tempo of its own a song has 120 quarters a minute."""
    def scaled(event):
        if event.data[:2] != b"\xff\x51":
            return event
        micros = round(int.from_bytes(event.data[3:6], "big") / factor)
        return replace(event, data=event.data[:3] + min(micros, 0xFFFFFF).to_bytes(3, "big"))
    tracks = [[scaled(event) for event in track] for track in song.tracks]
    tracks[0].insert(0, Event(0, b"\xff\x51\x03" + round(500_000 / factor).to_bytes(3, "big")))
    return Song(song.ticks_per_quarter, tracks)


def transposed(song, semitones):
    def moved(event):
        if event.kind not in (0x80, 0x90, 0xA0) or event.channel == DRUMS:
            return event
        return replace(event, data=bytes([event.data[0], min(max(event.data[1] + semitones, 0), 127), event.data[2]]))
    return Song(song.ticks_per_quarter, [[moved(event) for event in track] for track in song.tracks])


def reinstrumented(song, rng):
    """Every voice by another instrument, the same for the same program; a voice that names none gets one too."""
    others = {}

    def other(program):
        if program not in others:
            pool = BASSES if 32 <= program < 40 else TUNEFUL
            others[program] = rng.choice([one for one in pool if one != program])
        return others[program]

    def changed(event):
        if event.kind != 0xC0 or event.channel == DRUMS:
            return event
        return replace(event, data=bytes([event.data[0], other(event.data[1])]))

    tracks = [[changed(event) for event in track] for track in song.tracks]
    named = {event.channel for track in song.tracks for event in track if event.kind == 0xC0}
    for track in tracks:
        for channel in sorted({event.channel for event in track if event.kind == 0x90} - named - {DRUMS}):
            track.insert(0, Event(0, bytes([0xC0 | channel, other(0)])))
            named.add(channel)
    return Song(song.ticks_per_quarter, tracks)


def only_voice(song, track, channel):
    """What one track plays on one channel; tempo and programs of all stay."""
    def stays(number, event):
        return event.kind not in (0x80, 0x90, 0xA0) or number == track and event.channel == channel
    tracks = [[event for event in events if stays(number, event)] for number, events in enumerate(song.tracks)]
    return Song(song.ticks_per_quarter, tracks)


def notes_of(track):
    """(tick, end, pitch), by tick."""
    down, notes = {}, []
    for event in track:
        if event.kind == 0x90 and event.data[2] > 0:
            down.setdefault(event.data[1], []).append(event.tick)
        elif event.kind in (0x80, 0x90) and down.get(event.data[1]):
            notes.append((down[event.data[1]].pop(0), event.tick, event.data[1]))
    return sorted(notes)


def repeated(song, times):
    """As dance tunes are played: several times round."""
    length = max(event.tick for track in song.tracks for event in track)
    tracks = []
    for track in song.tracks:
        body = [event for event in track if event.data[:2] != b"\xff\x2f"]
        rounds = [replace(event, tick=event.tick + n * length) for n in range(times) for event in body
                  if n == 0 or event.kind in (0x80, 0x90)]
        tracks.append(rounds + [Event(times * length, b"\xff\x2f\x00")])
    return Song(song.ticks_per_quarter, tracks)


SCALE = [0, 2, 4, 5, 7, 9, 11]
TRIADS = [(0, 4, 7), (5, 9, 0), (7, 11, 2), (9, 0, 4), (2, 5, 9)]  # I, IV, V, vi, ii
PATTERNS = ["chords", "oom-pah", "arpeggio", "drone"]


def accompanied(song, rng, drums=True):
    """A tune of one voice with a bass, chords and drums under it: the triad of its key that shares most with each half bar."""
    tune = [note for track in song.tracks for note in notes_of(track)]
    quarter = song.ticks_per_quarter
    weights = [0.0] * 12
    for begin, end, pitch in tune:
        weights[pitch % 12] += end - begin
    key = max(range(12), key=lambda k: sum(weights[(k + step) % 12] for step in SCALE) + 0.5 * weights[k])
    pattern = rng.choice(PATTERNS)
    length = max(end for _, end, _ in tune)
    voices = {1: [], 2: [], DRUMS: []}

    def play(channel, tick, ticks, pitch, velocity):
        voices[channel].append(Event(tick, bytes([0x90 | channel, pitch, velocity])))
        voices[channel].append(Event(tick + max(1, ticks - quarter // 16), bytes([0x80 | channel, pitch, 0])))

    span = 2 * quarter
    for begin in range(0, length, span):
        here = [0.0] * 12
        for start, end, pitch in tune:
            here[pitch % 12] += max(0, min(end, begin + span) - max(start, begin))
        triad = max(TRIADS, key=lambda t: sum(here[(key + step) % 12] for step in t))
        pitches = [48 + (key + step) % 12 for step in triad]
        root = 36 + (key + triad[0]) % 12
        if pattern == "chords":
            play(2, begin, span, root, 85)
            for pitch in pitches:
                play(1, begin, span, pitch, 60)
        elif pattern == "oom-pah":
            play(2, begin, quarter, root, 85)
            for pitch in pitches:
                play(1, begin + quarter, quarter, pitch + 12, 60)
        elif pattern == "arpeggio":
            play(2, begin, span, root, 80)
            for i, pitch in enumerate(pitches + pitches[1:2]):
                play(1, begin + i * quarter // 2, quarter // 2, pitch + 12, 62)
        else:
            play(2, begin, span, 36 + key % 12, 75)
            play(1, begin, span, 48 + (key + 7) % 12, 60)
        if drums:
            play(DRUMS, begin, quarter // 2, 36, 90)
            play(DRUMS, begin + quarter, quarter // 2, 38, 75)
            for i in range(4):
                play(DRUMS, begin + i * quarter // 2, quarter // 4, 42, 55)
    programs = {1: rng.choice([0, 16, 21, 24, 25, 48]), 2: rng.choice(BASSES)}
    tracks = list(song.tracks)
    for channel, events in voices.items():
        head = [Event(0, bytes([0xC0 | channel, programs[channel]]))] if channel in programs else []
        events = head + sorted(events, key=lambda event: (event.tick, event.kind))
        tracks.append(events + [Event(events[-1].tick if events else 0, b"\xff\x2f\x00")])
    return Song(song.ticks_per_quarter, tracks)


def render(song, wav, soundfont, rate_hz=22050):
    """To a 16-bit WAV file, beside which the MIDI file stays."""
    midi = Path(wav).with_suffix(".mid")
    write_song(song, midi)
    partial = Path(wav).with_suffix(".part.wav")
    subprocess.run(["fluidsynth", "-ni", "-q", "-g", "0.5", "-r", str(rate_hz), "-T", "wav", "-F", str(partial), str(soundfont),
                    str(midi)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    partial.rename(wav)
