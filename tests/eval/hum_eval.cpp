// tests/eval/hum_eval.cpp - how often the melody that was hummed is found among many.
//
// usage: spintag_hum_eval [--device D] [--fast F] [--serial] [--threads N] [--count N]
// [--true-pitch]
// [--list] HUMS NOTES...
//   HUMS          folder with truth.csv, whose columns file, accept and near are read (melodies
//                 separated by semicolons), and the recordings that it names
//   NOTES         melodies, as fingerprint/melody/notes_file.h reads them
//   --device D    cpu (the default), auto or cuda:N
//   --fast F      only the share F of the melodies that the fast match nominates
//   --serial      every kernel as it is defined, on one core
//   --threads N   as many threads
//   --count N     only the first N hums
//   --true-pitch  the pitch from the .pv beside each recording instead of the pitch track
//   --list        one line a hum: file, rank, cost of the best, milliseconds
// Prints the mean reciprocal rank of the best of the accepted melodies (those that are near are
// taken out of the ranking), the share of hums that have it among the first 1, 3, 5 and 10, the
// time a hum (median and 95th percentile, for the ranking alone and with the pitch track, without
// the decoding; and of all cores) and a checksum of all rankings: equal checksums are equal
// rankings. The first hum is matched once more before, since it is then that melodies go to a
// device.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fingerprint/melody/melody_matcher.h"
#include "fingerprint/melody/notes_file.h"
#include "fingerprint/melody/pitch_track.h"
#include "kernels/device.h"
#include "tests/eval/recording.h"

namespace {

namespace fp = spintag::fingerprint;
namespace kernels = spintag::kernels;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr int kRateHz = 8000;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// @param values  not empty
double quantile(std::vector<double> values, double share) {
  const auto at = values.begin() +
                  static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

struct Options {
  fp::MelodyMatchParams match;
  std::optional<double> share;
  std::string device = "cpu";
  std::size_t count = SIZE_MAX;
  bool true_pitch = false;
  bool list = false;
  fs::path hums;
  std::vector<std::string> notes;
};

struct Hum {
  std::string file;
  std::set<std::string> accept;
  std::set<std::string> near;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

std::vector<Hum> read_truth(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) throw std::runtime_error(file.string() + ": cannot be read");
  const auto cells_of = [](std::string text) {
    if (text.ends_with('\r')) text.pop_back();
    return split(text, ',');
  };
  const std::vector<std::string> names = cells_of(line);
  const auto column = [&](const char* name) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) throw std::runtime_error(file.string() + ": no column " + name);
    return static_cast<std::size_t>(at - names.begin());
  };
  std::vector<Hum> hums;
  while (std::getline(in, line)) {
    std::vector<std::string> cells = cells_of(line);
    cells.resize(names.size());
    const auto melodies = [&](const char* name) {
      const auto ids = split(cells[column(name)], ';');
      return std::set<std::string>(ids.begin(), ids.end());
    };
    hums.push_back({cells[column("file")], melodies("accept"), melodies("near")});
  }
  return hums;
}

fp::Contour true_pitch(fs::path file) {
  std::ifstream in(file.replace_extension(".pv"));
  if (!in) throw std::runtime_error(file.string() + ": cannot be opened");
  fp::Contour pitches;
  for (float pitch = 0; in >> pitch;) pitches.push_back(pitch);
  return pitches;
}

struct HeardPitch {
  fp::Contour pitches;
  double took_ms = 0;  ///< without reading the file
};

HeardPitch pitch_of(const Options& options, const Hum& hum) {
  const fs::path file = options.hums / hum.file;
  if (options.true_pitch) return {true_pitch(file), 0};
  const std::vector<float> samples = spintag::eval::read_recording(file.string(), kRateHz);
  const Clock::time_point start = Clock::now();
  HeardPitch heard{fp::track_pitch(samples, kRateHz), 0};
  heard.took_ms = milliseconds_since(start);
  return heard;
}

/// 0 = not among them.
std::size_t rank_of(const Hum& hum, const std::vector<fp::MelodyMatch>& matches,
                    const std::vector<std::string>& ids) {
  std::size_t rank = 1;
  for (const fp::MelodyMatch& match : matches) {
    const std::string& id = ids[match.melody];
    if (hum.accept.contains(id)) return rank;
    if (!hum.near.contains(id)) ++rank;
  }
  return 0;
}

std::uint64_t checksum(std::uint64_t sum, const std::vector<fp::MelodyMatch>& matches) {
  for (const fp::MelodyMatch& match : matches) sum = (sum ^ match.melody) * 0x100000001B3U;
  return sum;
}

template <class Number>
Number number_in(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw std::runtime_error("\"" + std::string(text) + "\" is not a number");
  }
  return value;
}

Options parse(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const bool has_next = i + 1 < arguments.size();
    if (argument == "--serial") {
      options.match.serial = true;
    } else if (argument == "--device" && has_next) {
      options.device = arguments[++i];
    } else if (argument == "--fast" && has_next) {
      options.share = number_in<double>(arguments[++i]);
    } else if (argument == "--threads" && has_next) {
      options.match.threads = number_in<unsigned>(arguments[++i]);
    } else if (argument == "--count" && has_next) {
      options.count = number_in<std::size_t>(arguments[++i]);
    } else if (argument == "--true-pitch") {
      options.true_pitch = true;
    } else if (argument == "--list") {
      options.list = true;
    } else if (argument.starts_with("--")) {
      throw std::runtime_error(argument + " is no option");
    } else if (options.hums.empty()) {
      options.hums = argument;
    } else {
      options.notes.push_back(argument);
    }
  }
  if (options.notes.empty())
    throw std::runtime_error("usage: spintag_hum_eval [options] HUMS NOTES...");
  return options;
}

void evaluate(const Options& options) {
  fp::MelodyIndex index;
  std::vector<std::string> ids;
  for (const std::string& file : options.notes) {
    for (fp::NamedMelody& named : fp::read_notes_file(file)) {
      index.add(std::move(named.melody));
      ids.push_back(named.id);
    }
  }
  std::vector<Hum> hums = read_truth(options.hums / "truth.csv");
  hums.resize(std::min(hums.size(), options.count));
  if (hums.empty()) throw std::runtime_error(options.hums.string() + ": no hums");
  auto device = kernels::Device::open(kernels::DeviceChoice::parse(options.device));
  fp::MelodyMatchParams params = options.match;
  std::optional<fp::PermutationIndex> fast;
  if (options.share) {
    params.share = *options.share;
    fast.emplace(index);
  }
  fp::MelodyMatcher matcher(index, params, fast ? &*fast : nullptr);
  double reciprocal = 0;
  std::map<std::size_t, std::size_t> within = {{1, 0}, {3, 0}, {5, 0}, {10, 0}};
  std::vector<double> times_ms;     // from the samples on
  std::vector<double> matching_ms;  // from the pitch track on
  if (device.is_cuda()) matcher.match(device, pitch_of(options, hums.front()).pitches);
  const std::clock_t cpu_start = std::clock();
  std::uint64_t sum = 0xCBF29CE484222325U;
  for (const Hum& hum : hums) {
    const HeardPitch heard = pitch_of(options, hum);
    const Clock::time_point start = Clock::now();
    const auto matches = matcher.match(device, heard.pitches);
    matching_ms.push_back(milliseconds_since(start));
    times_ms.push_back(heard.took_ms + matching_ms.back());
    sum = checksum(sum, matches);
    const std::size_t rank = rank_of(hum, matches, ids);
    if (rank > 0) reciprocal += 1 / static_cast<double>(rank);
    for (auto& [limit, count] : within) count += rank > 0 && rank <= limit ? 1 : 0;
    if (options.list) {
      std::printf("%s\t%zu\t%.1f\t%.1f\n", hum.file.c_str(), rank,
                  matches.empty() ? 0.0 : double{matches.front().cost}, times_ms.back());
    }
  }
  const auto count = static_cast<double>(hums.size());
  std::printf("hums %zu  melodies %zu  MRR %.3f", hums.size(), index.size(), reciprocal / count);
  for (const auto& [limit, hits] : within) {
    std::printf("  top%zu %.3f", limit, static_cast<double>(hits) / count);
  }
  const double cpu_ms = 1e3 * static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
  std::printf(
      "  median %.1f ms (95 %% %.1f)  matching %.1f (%.1f)  cpu %.0f ms  rankings %016llx\n",
      quantile(times_ms, 0.5), quantile(times_ms, 0.95), quantile(matching_ms, 0.5),
      quantile(matching_ms, 0.95), cpu_ms / count, static_cast<unsigned long long>(sum));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    evaluate(parse({argv + 1, argv + argc}));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "spintag_hum_eval: %s\n", error.what());
    return 1;
  }
}
