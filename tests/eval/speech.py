# tests/eval/speech.py - people who talk: espeak-ng in several languages, voices, pitches and paces.

import os
import tempfile

import numpy as np
import scipy.signal
import soundfile

from sound import RATE_HZ, fit, rms
from tools import call

SENTENCES = {
    "en": ("You are listening to the morning programme, and the time is a quarter to nine.",
           "After the break we talk to a gardener who grows forty kinds of apples.",
           "There is a tailback of three miles on the coast road because of a fallen tree.",
           "Call us now and tell us which song you want to hear before midnight.",
           "Rain will reach the west by noon, and the evening stays mild and cloudy.",
           "The museum opens its new wing on Saturday, and entry is free for children.",
           "Two points for the visitors, who have now won five matches in a row.",
           "Buy one mattress and get two pillows for nothing, this week only.",
           "Our next piece was recorded live in a small church in the mountains."),
    "de": ("Guten Morgen, es ist viertel vor neun, und Sie hören das Programm für den Tag.",
           "Auf der Landstraße am Hafen staut sich der Verkehr auf vier Kilometern.",
           "Am Nachmittag wird es wechselhaft, gegen Abend zieht Regen auf.",
           "Das nächste Stück haben sich viele von Ihnen gewünscht."),
    "fr": ("Bonjour à tous, il est neuf heures moins le quart et vous écoutez la radio.",
           "La circulation reste difficile sur la route de la côte ce matin.",
           "Nous recevons aujourd'hui une musicienne qui vient de loin."),
    "es": ("Buenos días, son las nueve menos cuarto y esto es su programa de la mañana.",
           "Por la tarde lloverá en el norte y hará sol en la costa.",
           "La siguiente canción se grabó hace diez años en un pueblo pequeño."),
}
VOICES = (("en-us", "en"), ("en-gb", "en"), ("en-gb+f2", "en"), ("en-us+f3", "en"), ("en-gb+m7", "en"),
          ("de", "de"), ("de+f2", "de"), ("fr-fr", "fr"), ("es", "es"))


def speech(random, seconds):
    """Somebody says `seconds` of sentences without a long pause; who and what by chance."""
    count = int(round(seconds * RATE_HZ))
    spoken = [np.zeros(0, np.float32)]
    with tempfile.TemporaryDirectory() as folder:
        wav = os.path.join(folder, "said.wav")
        while sum(map(len, spoken)) < count:
            voice, language = VOICES[int(random.integers(len(VOICES)))]
            lines = SENTENCES[language]
            text = " ".join(lines[int(i)] for i in random.permutation(len(lines))[:4])
            call(["espeak-ng", "-v", voice, "-s", int(random.integers(145, 195)), "-p", int(random.integers(25, 75)),
                  "-w", wav, text])
            said, rate_hz = soundfile.read(wav, dtype="float32")
            said = scipy.signal.resample_poly(said, RATE_HZ, rate_hz).astype(np.float32)
            audible = np.flatnonzero(np.abs(said) > 0.01)
            spoken.append(said[audible[0]:audible[-1]] if len(audible) else said)
    return fit(np.concatenate(spoken), count)


def loudness(said):
    """RMS where somebody is speaking; the pauses do not make a speaker quieter."""
    audible = said[np.abs(said) > 0.01]
    return max(rms(audible if len(audible) else said), 1e-4)
