// fingerprint/melody/permutation_index.cpp - melody vectors, known by their nearest permutants.
#include "fingerprint/melody/permutation_index.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>
#include <utility>

#include "fingerprint/melody/hum_tempo.h"
#include "fingerprint/melody/note_segments.h"
#include "kernels/multiversion.h"

namespace spintag::fingerprint {
namespace {

/// A vector may end that much later than its melody.
constexpr double kInside = 0.7;
/// A window of a hum may lack that much at its end, where the last pitch is kept.
constexpr double kHummed = 0.95;
constexpr unsigned kSeed = 1;

/// Of permutants nothing is near to, which fill up a stride.
constexpr float kFarAway = 1e15F;
constexpr std::size_t kLanes = 16;
using Floats [[gnu::vector_size(64), gnu::may_alias]] = float;

/// distances[p] = sum over i of (vector[i] - permutants[i, p])^2.
/// @param count  a multiple of 4 kLanes
SPINTAG_CLONES void measure(const float* __restrict vector, const float* __restrict permutants,
                            std::size_t samples, std::size_t count, float* __restrict distances) {
  for (std::size_t p = 0; p < count; p += 4 * kLanes) {
    Floats sums[4] = {};
    for (std::size_t i = 0; i < samples; ++i) {
      for (std::size_t lane = 0; lane < 4; ++lane) {
        Floats row;  // copied, since neither array is aligned
        std::memcpy(&row, permutants + i * count + p + lane * kLanes, sizeof row);
        const Floats apart = row - vector[i];
        sums[lane] += apart * apart;
      }
    }
    std::memcpy(distances + p, sums, sizeof sums);
  }
}

/// minima[c] = the least of values[c], values[c + kColumns], ...
/// @param count  a multiple of kColumns
constexpr std::size_t kColumns = 32;
SPINTAG_CLONES void column_minima(const float* __restrict values, std::size_t count,
                                  float* __restrict minima) {
  for (std::size_t c = 0; c < kColumns; ++c) minima[c] = values[c];
  for (std::size_t i = kColumns; i < count; i += kColumns) {
    for (std::size_t c = 0; c < kColumns; ++c) {
      minima[c] = values[i + c] < minima[c] ? values[i + c] : minima[c];
    }
  }
}

SPINTAG_CLONES std::uint8_t most(const std::uint8_t* votes, std::size_t count) {
  std::uint8_t highest = 0;
  for (std::size_t i = 0; i < count; ++i) highest = votes[i] > highest ? votes[i] : highest;
  return highest;
}

void remove_mean(std::vector<float>& samples) {
  const float mean =
      std::accumulate(samples.begin(), samples.end(), 0.0F) / static_cast<float>(samples.size());
  for (float& sample : samples) sample -= mean;
}

/// The vectors of a melody, ascending and each once: tunes repeat their phrases.
std::vector<std::vector<float>> vectors_of(const MelodyIndex& index, std::size_t number,
                                           std::size_t samples) {
  const std::span<const float> contour = index.coarse()[number];
  const auto inside = static_cast<std::size_t>(kInside * static_cast<double>(samples));
  std::vector<std::vector<float>> vectors;
  for (const MelodyNote& note : index.melody(number).notes) {
    const auto start =
        static_cast<std::size_t>(std::lround(note.onset_s * kContourRate / kCoarseFrames));
    if (start + inside >= contour.size() && !vectors.empty()) continue;  // the first always counts
    std::vector<float> vector(samples);
    for (std::size_t i = 0; i < samples; ++i) {
      vector[i] = contour[std::min(start + i, contour.size() - 1)];
    }
    remove_mean(vector);
    vectors.push_back(std::move(vector));
  }
  std::sort(vectors.begin(), vectors.end());
  vectors.erase(std::unique(vectors.begin(), vectors.end()), vectors.end());
  return vectors;
}

/// Frames of a bridged hum at which windows begin, spread over the notes that leave room.
std::vector<std::size_t> window_starts(const std::vector<std::size_t>& onsets, std::size_t frames,
                                       std::size_t needed, std::size_t count) {
  std::vector<std::size_t> fitting;
  for (const std::size_t onset : onsets) {
    if (onset + needed <= frames) fitting.push_back(onset);
  }
  if (fitting.empty()) return {0};
  std::vector<std::size_t> starts;
  const std::size_t taken = std::min(count, fitting.size());
  for (std::size_t i = 0; i < taken; ++i) {
    starts.push_back(fitting[taken == 1 ? 0 : i * (fitting.size() - 1) / (taken - 1)]);
  }
  return starts;
}

}  // namespace

PermutationIndex::PermutationIndex(const MelodyIndex& index, const PermutationParams& params)
    : params_(params),
      melodies_(index.size()),
      stride_((params.permutants + 4 * kLanes - 1) / (4 * kLanes) * (4 * kLanes)),
      permutants_(params.samples * stride_, kFarAway),
      vectors_before_{0} {
  assert(params.nearest <= std::min(params.permutants, kMostNearest));
  std::mt19937 random(kSeed);
  for (std::size_t p = 0; p < params.permutants && melodies_ > 0; ++p) {
    const auto vectors = vectors_of(index, random() % melodies_, params.samples);
    const auto& drawn = vectors[random() % vectors.size()];
    for (std::size_t i = 0; i < params.samples; ++i) permutants_[i * stride_ + p] = drawn[i];
  }
  find_postings(index);
}

void PermutationIndex::find_postings(const MelodyIndex& index) {
  std::vector<std::vector<Nearest>> found(melodies_);  // of each melody's vectors
  std::atomic<std::size_t> next_melody = 0;
  const auto work = [&] {
    std::vector<float> distances(stride_);
    for (std::size_t melody; (melody = next_melody++) < melodies_;) {
      for (const auto& vector : vectors_of(index, melody, params_.samples)) {
        found[melody].push_back(find_nearest(vector.data(), distances));
      }
    }
  };
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) others.emplace_back(work);
  work();
  others.clear();
  postings_before_.assign(stride_ + 1, 0);
  for (const auto& of_melody : found) {
    vectors_before_.push_back(vectors_before_.back() +
                              static_cast<std::uint32_t>(of_melody.size()));
    for (const Nearest& nearest : of_melody) {
      for (std::size_t place = 0; place < params_.nearest; ++place) {
        ++postings_before_[nearest[place] + 1];
      }
    }
  }
  std::partial_sum(postings_before_.begin(), postings_before_.end(), postings_before_.begin());
  postings_.resize(postings_before_.back());
  std::vector<std::uint32_t> next = postings_before_;
  std::uint32_t vector = 0;
  for (const auto& of_melody : found) {
    for (const Nearest& nearest : of_melody) {
      for (std::uint32_t place = 0; place < params_.nearest; ++place) {
        postings_[next[nearest[place]]++] = vector * std::uint32_t{kMostNearest} + place;
      }
      ++vector;
    }
  }
}

/// The nearest of all are among those within the nearest of the minima of kColumns columns.
PermutationIndex::Nearest PermutationIndex::find_nearest(const float* vector,
                                                         std::vector<float>& distances) const {
  measure(vector, permutants_.data(), params_.samples, stride_, distances.data());
  float minima[kColumns];
  column_minima(distances.data(), stride_, minima);
  std::nth_element(minima, minima + params_.nearest - 1, minima + kColumns);
  const float limit = minima[params_.nearest - 1];
  std::vector<std::pair<float, std::uint32_t>> within;
  for (std::uint32_t p = 0; p < stride_; ++p) {
    if (distances[p] <= limit) within.emplace_back(distances[p], p);
  }
  std::partial_sort(within.begin(), within.begin() + params_.nearest, within.end());
  Nearest nearest = {};
  for (std::size_t place = 0; place < params_.nearest; ++place) {
    nearest[place] = within[place].second;
  }
  return nearest;
}

/// Spearman's footrule with a location parameter (Amato and Savino 2008, eq. 4), turned into votes:
/// a permutant that both know gives as many as they know, less the distance between its places.
void PermutationIndex::vote(const Nearest& nearest, std::vector<std::uint8_t>& votes) const {
  std::fill(votes.begin(), votes.end(), std::uint8_t{0});
  const auto known = static_cast<int>(params_.nearest);
  for (int place = 0; place < known; ++place) {
    std::array<std::uint8_t, kMostNearest> votes_by_place = {};
    for (int other = 0; other < known; ++other) {
      votes_by_place[other] = static_cast<std::uint8_t>(known - std::abs(place - other));
    }
    const std::uint32_t permutant = nearest[place];
    for (std::uint32_t i = postings_before_[permutant]; i < postings_before_[permutant + 1]; ++i) {
      std::uint8_t& of_vector = votes[postings_[i] / kMostNearest];
      of_vector =
          static_cast<std::uint8_t>(of_vector + votes_by_place[postings_[i] % kMostNearest]);
    }
  }
}

std::vector<PermutationIndex::Nearest> PermutationIndex::windows_of(const Contour& pitch_track,
                                                                    double tempo) const {
  const Contour hum = bridge(pitch_track);
  const auto lead = static_cast<std::size_t>(
      std::find_if(pitch_track.begin(), pitch_track.end(), [](float p) { return p > 0; }) -
      pitch_track.begin());
  std::vector<std::size_t> onsets;
  for (const MelodyNote& note : segment_notes(pitch_track)) {
    onsets.push_back(static_cast<std::size_t>(std::lround(note.onset_s * kContourRate)) - lead);
  }
  const auto needed = static_cast<std::size_t>(
      kHummed * static_cast<double>(params_.samples * kCoarseFrames) / tempo);
  std::vector<Nearest> windows;
  std::vector<float> distances(stride_);
  for (const std::size_t start : window_starts(onsets, hum.size(), needed, params_.windows)) {
    std::vector<float> window = at_tempo(Contour(hum.begin() + start, hum.end()), tempo);
    if (window.empty()) continue;
    window.resize(params_.samples, window.back());
    remove_mean(window);
    windows.push_back(find_nearest(window.data(), distances));
  }
  return windows;
}

std::vector<std::uint32_t> PermutationIndex::candidates(const Contour& pitch_track,
                                                        std::span<const double> tempi, double share,
                                                        unsigned threads) const {
  std::vector<std::uint32_t> melodies(melodies_);
  std::iota(melodies.begin(), melodies.end(), 0U);
  const auto kept = std::min(
      melodies_, static_cast<std::size_t>(std::ceil(share * static_cast<double>(melodies_))));
  if (bridge(pitch_track).empty() || kept == melodies_) return melodies;
  std::vector<float> best(melodies_);
  std::mutex mutex;  // guards best
  std::atomic<std::size_t> next_tempo = 0;
  const auto work = [&] {
    std::vector<std::uint8_t> votes(vectors_before_.back());
    std::vector<std::uint32_t> sums(melodies_);
    for (std::size_t i; (i = next_tempo++) < tempi.size();) {
      const auto windows = windows_of(pitch_track, tempi[i]);
      std::fill(sums.begin(), sums.end(), 0U);
      for (const Nearest& window : windows) {
        vote(window, votes);
        for (std::size_t m = 0; m < melodies_; ++m) {
          const std::uint32_t first = vectors_before_[m];
          sums[m] += most(votes.data() + first, vectors_before_[m + 1] - first);
        }
      }
      const auto count = static_cast<float>(std::max<std::size_t>(windows.size(), 1));
      const std::scoped_lock lock(mutex);
      for (std::size_t m = 0; m < melodies_; ++m) {
        best[m] = std::max(best[m], static_cast<float>(sums[m]) / count);
      }
    }
  };
  const std::size_t cores = threads != 0 ? threads : std::thread::hardware_concurrency();
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(cores, tempi.size()); ++i) others.emplace_back(work);
  work();
  others.clear();
  std::partial_sort(melodies.begin(), melodies.begin() + kept, melodies.end(),
                    [&](std::uint32_t a, std::uint32_t b) {
                      return best[a] != best[b] ? best[a] > best[b] : a < b;
                    });
  melodies.resize(kept);
  return melodies;
}

}  // namespace spintag::fingerprint
