// tests/integration/made_music.cpp - songs that nobody has recorded, made from a seed.
#include "tests/integration/made_music.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <fstream>
#include <numbers>
#include <random>
#include <vector>

namespace spintag::test {

namespace {

constexpr int kRateHz = 22050;
constexpr double kFadeSamples = 200;

class Song {
 public:
  Song(std::uint32_t seed, double seconds)
      : random_(seed), samples_(static_cast<std::size_t>(seconds * kRateHz)) {}

  /// The tune's notes come from a generator of their own, so that every band plays the same.
  std::vector<float> perform(const Performance& how) {
    std::mt19937 notes(how.tune);
    const double beat_s = (0.36 + 0.02 * static_cast<double>(notes() % 8)) / how.tempo;
    const int tonic = 57 + static_cast<int>(notes() % 8) + how.key;
    constexpr std::array<int, 7> kMajor{0, 2, 4, 5, 7, 9, 11};
    const auto pitch = [&](int degree) {
      return tonic + kMajor[static_cast<std::size_t>(degree % 7)] + 12 * (degree / 7);
    };
    const bool strums = unit() < 0.5;  // this band does
    const double length_s = static_cast<double>(samples_.size()) / kRateHz;
    double tune_at = 0;
    int degree = 7;
    while (tune_at < length_s) {
      degree = std::clamp(degree + static_cast<int>(notes() % 7) - 3, 4, 16);
      const double beats = notes() % 3 == 0 ? 1 : 0.5;
      tone(tune_at, beats * beat_s, pitch(degree), 0.2, true);
      tune_at += beats * beat_s;
    }
    int beat = 0;
    for (double at = 0; at < length_s; at += beat_s, ++beat) {
      const int root = beat / 4 % 2 == 0 ? 0 : 4;
      if (beat % 2 == 0) tone(at, 2.1 * beat_s, pitch(root) - 24, 0.12, true);
      for (const int third : {0, 2, 4}) {
        if (beat % 2 == 0) tone(at, 2.1 * beat_s, pitch(root + third) - 12, 0.07, true);
        if (strums) tone(at + beat_s / 2, 0.5 * beat_s, pitch(root + third) - 12, 0.04);
      }
      hit(at, beat % 2 == 0 ? 0.10 : 0.05);
    }
    return std::move(samples_);
  }

  std::vector<float> make() {
    const double beat_s = 0.32 + 0.25 * unit();
    const int key = 45 + static_cast<int>(unit() * 12);
    constexpr std::array<int, 7> kScale{0, 2, 3, 5, 7, 9, 10};
    const auto note = [&] {
      return key + 12 * static_cast<int>(1 + unit() * 2) +
             kScale[static_cast<std::size_t>(unit() * 7)];
    };
    const double length_s = static_cast<double>(samples_.size()) / kRateHz;
    int beat = 0;
    for (double at = 0; at < length_s; at += beat_s, ++beat) {
      if (beat % 4 == 0) {
        for (int voice = 0; voice < 3; ++voice) tone(at, 3.6 * beat_s, note(), 0.10);
      }
      tone(at, 0.9 * beat_s, note() + 12, 0.16);
      if (unit() < 0.6) tone(at + beat_s / 2, 0.5 * beat_s, note() + 12, 0.13);
      hit(at, beat % 2 == 0 ? 0.10 : 0.05);
    }
    return std::move(samples_);
  }

 private:
  double unit() { return static_cast<double>(random_()) / 4294967296.0; }

  // Five harmonics that die away, each a rotating vector; a voice that holds its notes does not, or
  // the meter would take it for speech.
  void tone(double at_s, double length_s, int midi, double level, bool holds = false) {
    const double hertz = 440.0 * std::pow(2.0, (midi - 69) / 12.0);
    const auto first = static_cast<std::size_t>(at_s * kRateHz);
    const auto last =
        std::min(samples_.size(), first + static_cast<std::size_t>(length_s * kRateHz));
    const double falls = holds ? 0.05 : 1.0;
    for (int harmonic = 1; harmonic <= 5 && harmonic * hertz < 5000; ++harmonic) {
      const double loudness = level * (0.3 + unit()) / harmonic;
      const double decay = std::exp(-falls * (1.0 + harmonic) / (length_s * kRateHz));
      const std::complex<double> turn =
          std::polar(decay, 2 * std::numbers::pi * harmonic * hertz / kRateHz);
      std::complex<double> phase = std::polar(loudness, 2 * std::numbers::pi * unit());
      for (std::size_t i = first; i < last; ++i, phase *= turn) {
        const double end = holds ? std::min(1.0, static_cast<double>(last - i) / kFadeSamples) : 1;
        samples_[i] += static_cast<float>(end * phase.imag());
      }
    }
  }

  // Noise that dies away in a twentieth of a second.
  void hit(double at_s, double level) {
    const auto first = static_cast<std::size_t>(at_s * kRateHz);
    for (std::size_t i = 0; i < kRateHz / 10 && first + i < samples_.size(); ++i) {
      const double envelope = std::exp(-static_cast<double>(i) * 20.0 / kRateHz);
      samples_[first + i] += static_cast<float>(level * envelope * (2 * unit() - 1));
    }
  }

  std::mt19937 random_;
  std::vector<float> samples_;
};

void put(std::ofstream& out, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.put(static_cast<char>(value >> (8 * i) & 0xFFU));
}

void write_wav(const std::filesystem::path& wav, const std::vector<float>& samples) {
  std::ofstream out(wav, std::ios::binary);
  const auto data_bytes = static_cast<std::uint32_t>(2 * samples.size());
  out << "RIFF";
  put(out, 36 + data_bytes, 4);
  out << "WAVEfmt ";
  put(out, 16, 4);
  put(out, 1, 2);  // PCM
  put(out, 1, 2);  // mono
  put(out, kRateHz, 4);
  put(out, 2 * kRateHz, 4);
  put(out, 2, 2);
  put(out, 16, 2);
  out << "data";
  put(out, data_bytes, 4);
  for (const float sample : samples) {
    const float clipped = std::fmax(-1.0F, std::fmin(1.0F, sample));
    put(out, static_cast<std::uint32_t>(static_cast<std::int32_t>(std::lrint(clipped * 32767.0F))),
        2);
  }
}

}  // namespace

void write_song(const std::filesystem::path& wav, std::uint32_t seed, double seconds) {
  write_wav(wav, Song(seed, seconds).make());
}

void write_performance(const std::filesystem::path& wav, const Performance& performance,
                       double seconds) {
  write_wav(wav, Song(performance.band, seconds).perform(performance));
}

void write_silence(const std::filesystem::path& wav, double seconds) {
  write_wav(wav, std::vector<float>(static_cast<std::size_t>(seconds * kRateHz)));
}

}  // namespace spintag::test
