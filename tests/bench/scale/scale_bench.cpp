// tests/bench/scale/scale_bench.cpp - big catalogues: how long they take to build, what they weigh,
// and how many windows a second a device looks up in them. See README.md.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "fingerprint/batch_matcher.h"
#include "fingerprint/index.h"
#include "fingerprint/index_shard.h"
#include "kernels/device.h"
#include "tests/bench/scale/catalogue.h"
#include "tests/bench/scale/measure.h"
#include "tests/bench/scale/results.h"
#include "tests/bench/scale/usage.h"
#include "tests/bench/scale/windows.h"

namespace {

namespace fp = spintag::fingerprint;
namespace bench = spintag::bench;
using bench::Clock;
using bench::processor_s;
using bench::resident_peak_gib;
using bench::say;
using bench::since;

constexpr const char* kUsage =
    "usage: spintag_scale_bench --stats FILE [--songs N] [--windows W] [--device cpu|cuda:0]\n"
    "         [--threads T] [--known SHARE] [--damage F] [--seed S] [--sample N] [--check N]\n"
    "         [--any-speed] [--snapshot FILE] [--results FILE] [--measure]\n"
    "       spintag_scale_bench --compare FILE FILE\n";

/// Every fourth recording gives windows, the rest songs.
constexpr std::size_t kHeldOut = 4;
constexpr std::size_t kBatch = 1'024;

struct Options {
  std::string stats;
  std::string device = "cpu";
  std::string snapshot;
  std::string results;
  std::string compare[2];
  std::size_t songs = 2'000;
  std::size_t windows = 1'024;
  std::size_t sample = 64;  ///< windows whose votes are counted
  std::size_t check = 0;    ///< windows that the processor is asked too
  unsigned threads = 0;
  double known = 0.5;
  double damage = 1;
  std::uint64_t seed = 1;
  bool measure = false;
  bool any_speed = false;  ///< asks other speeds, tempi and pitches for what stays unknown
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const auto next = [&]() -> std::string {
      if (++i >= argc) throw std::invalid_argument(std::string(name) + " needs a value");
      return argv[i];
    };
    if (name == "--stats")
      options.stats = next();
    else if (name == "--device")
      options.device = next();
    else if (name == "--snapshot")
      options.snapshot = next();
    else if (name == "--results")
      options.results = next();
    else if (name == "--compare") {
      options.compare[0] = next();
      options.compare[1] = next();
    } else if (name == "--songs")
      options.songs = std::stoull(next());
    else if (name == "--windows")
      options.windows = std::stoull(next());
    else if (name == "--sample")
      options.sample = std::stoull(next());
    else if (name == "--check")
      options.check = std::stoull(next());
    else if (name == "--threads")
      options.threads = static_cast<unsigned>(std::stoul(next()));
    else if (name == "--known")
      options.known = std::stod(next());
    else if (name == "--damage")
      options.damage = std::stod(next());
    else if (name == "--seed")
      options.seed = std::stoull(next());
    else if (name == "--measure")
      options.measure = true;
    else if (name == "--any-speed")
      options.any_speed = true;
    else
      throw std::invalid_argument("unknown option " + std::string(name));
  }
  if (options.threads == 0) options.threads = std::max(1U, std::thread::hardware_concurrency());
  if (options.stats.empty() && options.compare[0].empty())
    throw std::invalid_argument("--stats is missing");
  return options;
}

std::shared_ptr<const fp::Index> build(const bench::Catalogue& catalogue, const Options& options) {
  auto start = Clock::now();
  double before_s = processor_s();
  const std::vector<fp::PackedPeaks> prints = catalogue.songs(options.songs, options.threads);
  say("songs made: %.1f s on %u threads, %.1f s of processor time\n", since(start), options.threads,
      processor_s() - before_s);
  std::vector<fp::IndexTrack> tracks;
  tracks.reserve(prints.size());
  for (std::size_t i = 0; i < prints.size(); ++i)
    tracks.push_back({static_cast<fp::TrackId>(i) + 1, catalogue.params().song_s, prints[i], {}});
  start = Clock::now();
  before_s = processor_s();
  auto index = fp::Index::build(tracks, options.threads);
  say("index built: %.1f s on %u threads, %.1f s of processor time; resident at most %.2f GiB\n",
      since(start), options.threads, processor_s() - before_s, resident_peak_gib());
  return index;
}

std::shared_ptr<const fp::Index> load(const std::string& file) {
  const auto start = Clock::now();
  auto index = fp::Index::load(file).index;
  say("snapshot loaded and checked: %.1f s\n", since(start));
  return index;
}

/// The catalogue's index, by way of a snapshot if one is named.
std::shared_ptr<const fp::Index> make_index(const bench::Catalogue& catalogue,
                                            const Options& options) {
  if (!options.snapshot.empty() && std::filesystem::exists(options.snapshot)) {
    auto index = load(options.snapshot);
    if (index->track_count() != options.songs)
      throw std::runtime_error(options.snapshot + ": holds another number of songs");
    return index;
  }
  auto index = build(catalogue, options);
  if (!options.snapshot.empty()) {
    const auto start = Clock::now();
    index->save(options.snapshot, static_cast<std::int64_t>(options.seed));
    say("snapshot saved: %.1f s\n", since(start));
    index = load(options.snapshot);
  }
  return index;
}

void print_size(const fp::Index& index) {
  double words = 0;
  double directory = 0;
  double peaks = 0;
  for (const auto& shard : index.shards()) {
    words += static_cast<double>(shard->arrays().words.size_bytes());
    directory += static_cast<double>(shard->arrays().directory.size_bytes());
    peaks += static_cast<double>(shard->arrays().packed.size_bytes());
  }
  const auto songs = static_cast<double>(index.track_count());
  const auto all = static_cast<double>(index.resident_bytes());
  say("index: %zu songs, %zu shards, %zu postings, %.2f GiB; bytes a song: %.0f = words %.0f + "
      "directory %.0f + peaks %.0f + table %.0f\n",
      index.track_count(), index.shards().size(), index.posting_count(), all / (1 << 30),
      all / songs, words / songs, directory / songs, peaks / songs,
      (all - words - directory - peaks) / songs);
}

void print_score(const char* who, std::span<const bench::Window> windows,
                 const bench::Results& results, double seconds) {
  const bench::Score score = bench::judge(windows.first(results.size()), results);
  say("%s: %zu windows in %.2f s = %.1f windows/s; planted %zu found %zu wrong %zu also named %zu; "
      "unknown %zu named %zu\n",
      who, results.size(), seconds, static_cast<double>(results.size()) / seconds, score.planted,
      score.found, score.wrong, score.also_named, score.unknown, score.unknown_named);
}

/// One Matcher a thread.
bench::Results match_on_threads(const fp::Index& index, std::span<const bench::Window> windows,
                                unsigned threads, const fp::MatchOptions& asked,
                                const std::string& who) {
  bench::Results results(windows.size());
  const auto start = Clock::now();
  const double before_s = processor_s();
  bench::for_each_in_threads(windows.size(), threads, [&](std::size_t i) {
    static thread_local fp::Matcher matcher;
    results[i] = matcher.match(index, windows[i].peaks, 0, bench::kWindowS, asked);
  });
  print_score(who.c_str(), windows, results, since(start));
  say("%s: %.2f windows in a second of processor time\n", who.c_str(),
      static_cast<double>(windows.size()) / (processor_s() - before_s));
  return results;
}

void print_stages(const std::string& who, const fp::MatchStages& stages) {
  const double votes_s = stages.vote_count_s + stages.vote_throw_s + stages.vote_tally_s;
  const double all_s = stages.select_s + stages.probe_s + votes_s + stages.verify_s + stages.host_s;
  const auto share = [&](const char* stage, double seconds) {
    say("%s:   %-34s %8.3f s  %5.1f %%\n", who.c_str(), stage, seconds, 100 * seconds / all_s);
  };
  share("windows to the device, selection", stages.select_s);
  share("probes", stages.probe_s);
  share("votes: where they go", stages.vote_count_s);
  share("votes: thrown", stages.vote_throw_s);
  share("votes: added up", stages.vote_tally_s);
  share("settling and verification", stages.verify_s);
  share("decisions on the host", stages.host_s);
  say("%s: %.4g votes, %.3g a second while they are counted; %llu searches, "
      "%llu recounts\n",
      who.c_str(), static_cast<double>(stages.votes), static_cast<double>(stages.votes) / votes_s,
      static_cast<unsigned long long>(stages.searches),
      static_cast<unsigned long long>(stages.recounts));
}

bench::Results match_on_device(spintag::kernels::Device& device,
                               const std::shared_ptr<const fp::Index>& index,
                               std::span<const bench::Window> windows,
                               const fp::MatchOptions& asked) {
  fp::BatchMatcher matcher(device);
  auto start = Clock::now();
  matcher.load(index);
  say("%s: index loaded: %.2f s\n", device.name().c_str(), since(start));
  bench::Results results;
  start = Clock::now();
  for (std::size_t first = 0; first < windows.size(); first += kBatch) {
    const auto batch = windows.subspan(first, std::min(kBatch, windows.size() - first));
    std::vector<fp::MatchQuery> queries;
    for (const bench::Window& window : batch) queries.push_back({window.peaks, 0, bench::kWindowS});
    const auto before = Clock::now();
    auto matches = matcher.match(index, queries, asked);
    say("%s: batch of %zu: %.3f s\n", device.name().c_str(), batch.size(), since(before));
    std::move(matches.begin(), matches.end(), std::back_inserter(results));
  }
  print_score(device.name().c_str(), windows, results, since(start));
  print_stages(device.name(), matcher.stages());
  return results;
}

void match(const std::shared_ptr<const fp::Index>& index, std::span<const bench::Window> windows,
           const Options& options) {
  namespace kernels = spintag::kernels;
  auto device = kernels::Device::open(kernels::DeviceChoice::parse(options.device));
  const std::string cpu = "cpu on " + std::to_string(options.threads) + " threads";
  fp::MatchOptions asked;
  asked.any_speed = options.any_speed;
  const bench::Results results =
      device.is_cuda() ? match_on_device(device, index, windows, asked)
                       : match_on_threads(*index, windows, options.threads, asked, cpu);
  if (!options.results.empty()) bench::write_results(options.results, results);
  if (options.check == 0) return;
  const auto checked = windows.first(std::min(options.check, windows.size()));
  const bench::Results expected =
      match_on_threads(*index, checked, options.threads, asked, "check: " + cpu);
  say("check: %zu of %zu windows differ\n", bench::count_different(expected, results),
      checked.size());
}

int run(const Options& options) {
  if (!options.compare[0].empty())
    return bench::compare_results(options.compare[0], options.compare[1]) == 0 ? 0 : 1;
  const std::vector<bench::MusicTrack> all = bench::read_stats(options.stats);
  std::vector<bench::MusicTrack> music;
  std::vector<bench::MusicTrack> others;
  for (std::size_t i = 0; i < all.size(); ++i)
    (i % kHeldOut == kHeldOut - 1 ? others : music).push_back(all[i]);
  if (music.empty() || others.empty())
    throw std::runtime_error(options.stats + ": holds fewer than four recordings");
  bench::CatalogueParams params;
  params.seed = options.seed;
  if (options.measure) {
    bench::print_statistics(music, others, params, options.songs, options.threads);
    return 0;
  }
  const bench::Catalogue catalogue(music, params);
  const auto index = make_index(catalogue, options);
  print_size(*index);
  const auto start = Clock::now();
  const std::vector<bench::Window> windows =
      bench::make_windows(catalogue, options.songs, others, options.windows, options.known,
                          bench::Damage().times(options.damage), options.seed, options.threads);
  say("%zu windows made: %.1f s\n", windows.size(), since(start));
  bench::print_votes(*index, windows, options.sample, options.threads);
  match(index, windows, options);
  say("resident at most %.2f GiB\n", resident_peak_gib());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "spintag_scale_bench: %s\n%s", error.what(), kUsage);
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "spintag_scale_bench: %s\n", error.what());
    return 1;
  }
}
