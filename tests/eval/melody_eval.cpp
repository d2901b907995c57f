// tests/eval/melody_eval.cpp - which melodies of a catalogue are told from mixes, and how sure that
// is; and how well the melody is heard in a mix.
//
// usage: spintag_melody_eval match CATALOGUE QUERIES [--step S] [--most N] [NOTES...]
//        spintag_melody_eval listen CATALOGUE QUERIES [--most-s S] [NOTES...]
//        spintag_melody_eval pitch PAIRS
//   CATALOGUE   lines of id, tab, file: a recording, or a .mid whose main melody is taken
//   QUERIES     lines of id, tab, file, tab, the id in the catalogue that is right (may be empty);
//               files as in CATALOGUE
//   NOTES       melodies more, as fingerprint/melody/notes_file.h reads them
//   PAIRS       lines of recording, tab, the .mid that it was rendered from
// `match` compares windows of 24 s, one each --step seconds (24), the first --most of a query.
// Where the right one is given each is compared twice, the second time without it: what is found
// then is wrong for certain. A line of CSV each: query,at_s,right,melody,agreement,changes,second,
// changes_a_s,voiced,melodies,start_s,tempo,key,confidence,cpu_ms; `right` is empty where it is not
// there, `melody` where there is no answer.
// `listen` does with each recording, from its beginning to --most-s seconds (90), what the daemon
// does with unknown music, and prints what would be told: query,right,told,confidence,at_s. `pitch`
// prints a line a recording: share of the melody's frames within half a semitone (raw pitch
// accuracy), up to octaves (raw chroma accuracy), and processor seconds for each of audio.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "daemon/tune_listener.h"
#include "fingerprint/audio/reader.h"
#include "fingerprint/melody/main_melody.h"
#include "fingerprint/melody/melody_confidence.h"
#include "fingerprint/melody/midi_file.h"
#include "fingerprint/melody/notes_file.h"
#include "fingerprint/melody/recorded_melody.h"
#include "fingerprint/melody/tune_matcher.h"

namespace {

namespace fp = spintag::fingerprint;
using spintag::daemon::TuneGuess;
constexpr int kRateHz = fp::PredominantPitch::kRateHz;
constexpr double kWindow_s = 24;

using Line = std::vector<std::string>;

std::vector<Line> read_lines(const std::string& file, std::size_t cells) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(file + ": cannot be opened");
  std::vector<Line> lines;
  for (std::string text; std::getline(in, text);) {
    Line line;
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t tab = std::min(text.find('\t', at), text.size());
      line.push_back(text.substr(at, tab - at));
      at = tab + 1;
    }
    line.resize(std::max(line.size(), cells));
    lines.push_back(line);
  }
  return lines;
}

/// A second more than `most_s` at most.
std::vector<float> read_audio(const std::string& file, double most_s = 1e6) {
  fp::AudioReader reader(file, {});
  std::vector<float> samples;
  while (static_cast<double>(samples.size()) < most_s * kRateHz && reader.read(samples)) {
  }
  return samples;
}

bool is_midi(const std::string& file) { return file.ends_with(".mid"); }

double cpu_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Options {
  double step_s = kWindow_s;
  double most_s = 90;
  std::size_t most = SIZE_MAX;
  std::vector<std::string> files;
};

Options parse(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool has_next = i + 1 < arguments.size();
    if (arguments[i] == "--step" && has_next) {
      options.step_s = std::stod(arguments[++i]);
    } else if (arguments[i] == "--most" && has_next) {
      options.most = std::stoul(arguments[++i]);
    } else if (arguments[i] == "--most-s" && has_next) {
      options.most_s = std::stod(arguments[++i]);
    } else {
      options.files.push_back(arguments[i]);
    }
  }
  return options;
}

struct Catalogue {
  fp::TuneIndex index;
  std::vector<std::string> ids;

  void add(const std::string& id, const fp::Melody& melody) {
    if (melody.notes.empty()) return;
    index.add(melody);
    ids.push_back(id);
  }

  Catalogue without(const std::string& id) const {
    Catalogue rest = *this;
    for (std::uint32_t i = 0; i < ids.size(); ++i) {
      if (ids[i] == id) rest.index.remove(i);
    }
    return rest;
  }
};

Catalogue read_catalogue(const Options& options) {
  Catalogue catalogue;
  for (const Line& line : read_lines(options.files.at(1), 2)) {
    catalogue.add(line[0], is_midi(line[1])
                               ? fp::main_melody(fp::read_midi_file(line[1]))
                               : fp::recorded_melody(fp::predominant_pitch(read_audio(line[1]))));
  }
  for (std::size_t i = 3; i < options.files.size(); ++i) {
    for (const fp::NamedMelody& named : fp::read_notes_file(options.files[i])) {
      catalogue.add(named.id, named.melody);
    }
  }
  return catalogue;
}

void print_match(const Line& query, double at_s, const std::string& right,
                 const Catalogue& catalogue, const fp::Contour& heard) {
  const double before_s = cpu_s();
  const auto answer = fp::TuneMatcher(catalogue.index).match(heard);
  const double ms = 1e3 * (cpu_s() - before_s);
  std::printf("%s,%.0f,%s,", query[0].c_str(), at_s, right.c_str());
  if (!answer) {
    std::printf(",,,,,,,,,,0,%.1f\n", ms);
    return;
  }
  const fp::TuneMatch& best = answer->best;
  std::printf("%s,%.4f,%.4f,%.4f,%.3f,%.3f,%zu,%.2f,%.3f,%d,%.6f,%.1f\n",
              catalogue.ids[best.melody].c_str(), best.agreement, best.changes, answer->second,
              answer->changes_a_s, answer->voiced, answer->melodies, best.start_s, best.tempo,
              best.key, fp::melody_confidence(*answer), ms);
}

void match(const Options& options) {
  const Catalogue catalogue = read_catalogue(options);
  std::printf(
      "query,at_s,right,melody,agreement,changes,second,changes_a_s,voiced,melodies,start_s,tempo,"
      "key,confidence,cpu_ms\n");
  for (const Line& query : read_lines(options.files.at(2), 3)) {
    const bool written = is_midi(query[1]);
    const double most_s = static_cast<double>(options.most) * options.step_s + kWindow_s;
    const fp::Contour tune =
        written ? fp::contour_of(fp::main_melody(fp::read_midi_file(query[1]))) : fp::Contour{};
    const std::vector<float> samples =
        written ? std::vector<float>{} : read_audio(query[1], most_s);
    const double length_s = written ? static_cast<double>(tune.size()) / fp::kContourRate
                                    : static_cast<double>(samples.size()) / kRateHz;
    for (std::size_t i = 0; i < options.most; ++i) {
      const double at_s = static_cast<double>(i) * options.step_s;
      if (at_s + kWindow_s > length_s) break;
      const auto window = [&](const auto& all, double rate) {
        return std::span(all).subspan(static_cast<std::size_t>(at_s * rate),
                                      static_cast<std::size_t>(kWindow_s * rate));
      };
      fp::Contour heard;
      if (written) {
        const auto part = window(tune, fp::kContourRate);
        heard.assign(part.begin(), part.end());
      } else {
        heard = fp::predominant_pitch(window(samples, kRateHz));
      }
      print_match(query, at_s, query[2], catalogue, heard);
      if (!query[2].empty()) print_match(query, at_s, "", catalogue.without(query[2]), heard);
    }
  }
}

/// What TuneDesk does, at once.
std::optional<TuneGuess> guess_of(const Catalogue& catalogue, const std::vector<float>& samples) {
  const auto found = fp::TuneMatcher(catalogue.index).match(fp::predominant_pitch(samples));
  if (!found) return std::nullopt;
  TuneGuess guess;
  guess.track_id = found->best.melody;
  guess.confidence = fp::melody_confidence(*found);
  guess.track_start_s = found->best.start_s;
  guess.speed = found->best.tempo;
  return guess;
}

void listen(const Options& options) {
  const Catalogue catalogue = read_catalogue(options);
  std::printf("query,right,told,confidence,at_s\n");
  for (const Line& query : read_lines(options.files.at(2), 3)) {
    spintag::daemon::TuneListener listener([&](std::vector<float>&& samples) {
      std::promise<std::optional<TuneGuess>> promise;
      promise.set_value(guess_of(catalogue, samples));
      return std::optional(promise.get_future());
    });
    const std::vector<float> samples = read_audio(query[1], options.most_s);
    for (double at_s = 1; at_s <= options.most_s; ++at_s) {
      const auto end = static_cast<std::size_t>(at_s * kRateHz);
      if (end > samples.size()) break;
      const auto second = std::span(samples).subspan(end - kRateHz, kRateHz);
      const auto told = listener.push(second, {false, 0.0, at_s});
      if (!told) continue;
      std::printf("%s,%s,%s,%.6f,%.0f\n", query[0].c_str(), query[2].c_str(),
                  catalogue.ids[static_cast<std::size_t>(told->track_id)].c_str(), told->confidence,
                  at_s);
    }
  }
}

void pitch(const std::string& pairs) {
  std::printf("recording,frames,pitch,chroma,cpu_s_per_s\n");
  for (const Line& line : read_lines(pairs, 2)) {
    const fp::MidiSong song = fp::read_midi_file(line[1]);
    const auto notes = fp::skyline(song.voices[fp::leading_voice(song)].notes);
    const std::vector<float> samples = read_audio(line[0]);
    const double before_s = cpu_s();
    const fp::Contour heard = fp::predominant_pitch(samples);
    const double took_s = cpu_s() - before_s;
    std::size_t frames = 0;
    std::size_t right = 0;
    std::size_t right_class = 0;
    for (const fp::MelodyNote& note : notes) {
      const auto begin = static_cast<std::size_t>(note.onset_s * fp::kContourRate);
      const auto end =
          static_cast<std::size_t>((note.onset_s + note.duration_s) * fp::kContourRate);
      for (std::size_t i = begin; i < std::min(end, heard.size()); ++i) {
        ++frames;
        if (heard[i] <= 0) continue;
        const float off = std::abs(heard[i] - note.pitch);
        right += off < 0.5F ? 1 : 0;
        right_class += std::abs(std::remainder(off, 12.0F)) < 0.5F ? 1 : 0;
      }
    }
    const double all = std::max<double>(1, static_cast<double>(frames));
    std::printf("%s,%zu,%.4f,%.4f,%.6f\n", line[0].c_str(), frames,
                static_cast<double>(right) / all, static_cast<double>(right_class) / all,
                took_s * kRateHz / std::max<double>(1, static_cast<double>(samples.size())));
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse({argv + 1, argv + argc});
    const std::string mode = options.files.empty() ? "" : options.files[0];
    if (options.files.size() >= 3 && mode == "match") {
      match(options);
    } else if (options.files.size() >= 3 && mode == "listen") {
      listen(options);
    } else if (options.files.size() == 2 && mode == "pitch") {
      pitch(options.files[1]);
    } else {
      std::fprintf(stderr, "usage: spintag_melody_eval match|listen CATALOGUE QUERIES [options]\n");
      return 2;
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "spintag_melody_eval: %s\n", error.what());
    return 1;
  }
}
