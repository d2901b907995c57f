// tests/bench/scale/make_decoys.cpp - writes an index snapshot of real tracks among synthetic ones,
// for `spintag identify --index`. See README.md.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fingerprint/index.h"
#include "tests/bench/scale/catalogue.h"
#include "tests/bench/scale/decoys.h"
#include "tests/bench/scale/music_stats.h"
#include "tests/bench/scale/usage.h"

namespace {

namespace fp = spintag::fingerprint;
namespace bench = spintag::bench;
using bench::say;

constexpr const char* kUsage =
    "usage: spintag_scale_decoys --stats FILE --songs N --out SNAPSHOT [--add SNAPSHOT]\n"
    "         [--seed S] [--threads T]\n";

/// Their index would take 310 GB.
constexpr std::size_t kMostSongs = 10'000'000;

struct Options {
  std::string stats;
  std::string add;  ///< snapshot of the real tracks; empty = decoys alone
  std::string out;
  std::size_t songs = 0;
  unsigned threads = 0;
  std::uint64_t seed = 1;
};

std::uint64_t parse_number(std::string_view name, const std::string& text) {
  std::size_t read = 0;
  std::uint64_t number = 0;
  try {
    if (text.find_first_not_of("0123456789") == std::string::npos)
      number = std::stoull(text, &read);
  } catch (const std::exception&) {
    read = 0;
  }
  if (read == 0)
    throw std::invalid_argument(std::string(name) + ": \"" + text + "\" is not a whole number");
  return number;
}

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
    else if (name == "--add")
      options.add = next();
    else if (name == "--out")
      options.out = next();
    else if (name == "--songs")
      options.songs = parse_number(name, next());
    else if (name == "--threads")
      options.threads = static_cast<unsigned>(parse_number(name, next()));
    else if (name == "--seed")
      options.seed = parse_number(name, next());
    else
      throw std::invalid_argument("unknown option " + std::string(name));
  }
  if (options.stats.empty()) throw std::invalid_argument("--stats is missing");
  if (options.out.empty()) throw std::invalid_argument("--out is missing");
  if (options.songs == 0) throw std::invalid_argument("--songs is missing, or 0");
  if (options.songs > kMostSongs) throw std::invalid_argument("--songs: at most 10000000");
  return options;
}

/// Found out at the end, minutes of work would be in vain.
void check_folder(const std::filesystem::path& out) {
  const std::filesystem::path folder = out.has_parent_path() ? out.parent_path() : ".";
  if (!std::filesystem::is_directory(folder))
    throw std::runtime_error("--out " + out.string() + ": there is no folder " + folder.string());
}

void run(const Options& options) {
  check_folder(options.out);
  const std::vector<bench::MusicTrack> music = bench::read_stats(options.stats);
  if (music.empty()) throw std::runtime_error(options.stats + ": holds no recording");
  double music_s = 0;
  for (const bench::MusicTrack& track : music) music_s += track.duration_s;
  fp::Index::Loaded real{std::make_shared<fp::Index>(), 0};
  if (!options.add.empty()) real = fp::Index::load(options.add);
  say("%zu real tracks; decoys from %zu recordings, %.2f hours\n", real.index->track_count(),
      music.size(), music_s / 3600);

  bench::CatalogueParams params;
  params.seed = options.seed;
  auto start = bench::Clock::now();
  const auto index = bench::with_decoys(*real.index, bench::Catalogue(music, params), options.songs,
                                        options.threads);
  say("%zu decoys from id %lld: %.1f s, %.1f s of processor time\n", options.songs,
      static_cast<long long>(bench::first_decoy_id(*real.index)), bench::since(start),
      bench::processor_s());
  start = bench::Clock::now();
  index->save(options.out, real.stamp);
  say("%s: %zu tracks, %zu shards, %zu postings, %.2f GiB; written in %.1f s\n",
      options.out.c_str(), index->track_count(), index->shards().size(), index->posting_count(),
      static_cast<double>(index->resident_bytes()) / (1 << 30), bench::since(start));
  say("resident at most %.2f GiB\n", bench::resident_peak_gib());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse(argc, argv));
    return 0;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "spintag_scale_decoys: %s\n%s", error.what(), kUsage);
    return 2;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "spintag_scale_decoys: out of memory; 100,000 songs take 5.5 GB\n");
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "spintag_scale_decoys: %s\n", error.what());
    return 1;
  }
}
