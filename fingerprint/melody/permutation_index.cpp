// fingerprint/melody/permutation_index.cpp - melody vectors, known by their nearest permutants.
#include "fingerprint/melody/permutation_index.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <thread>

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

/// distances[p] = sum over i of (vector[i] - permutants[i, p])^2.
SPINTAG_CLONES void measure(const float* __restrict vector, const float* __restrict permutants,
                            std::size_t samples, std::size_t count, float* __restrict distances) {
  for (std::size_t p = 0; p < count; ++p) distances[p] = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    const float* __restrict row = permutants + i * count;
    const float value = vector[i];
    for (std::size_t p = 0; p < count; ++p) {
      const float apart = row[p] - value;
      distances[p] += apart * apart;
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

/// The vectors of a melody, each once: tunes repeat their phrases.
std::vector<std::vector<float>> vectors_of(const MelodyIndex& index, std::size_t number,
                                           std::size_t samples) {
  const std::span<const float> contour = index.coarse()[number];
  const auto inside = static_cast<std::size_t>(kInside * static_cast<double>(samples));
  std::set<std::vector<float>> vectors;
  for (const MelodyNote& note : index.melody(number).notes) {
    const auto start =
        static_cast<std::size_t>(std::lround(note.onset_s * kContourRate / kCoarseFrames));
    if (start + inside >= contour.size() && !vectors.empty()) continue;  // the first always counts
    std::vector<float> vector(samples);
    for (std::size_t i = 0; i < samples; ++i) {
      vector[i] = contour[std::min(start + i, contour.size() - 1)];
    }
    remove_mean(vector);
    vectors.insert(std::move(vector));
  }
  return {vectors.begin(), vectors.end()};
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
    : params_(params), melodies_(index.size()), vectors_before_{0} {
  const std::size_t samples = params.samples;
  std::mt19937 random(kSeed);
  permutants_.resize(samples * params.permutants);
  for (std::size_t p = 0; p < params.permutants && melodies_ > 0; ++p) {
    const auto vectors = vectors_of(index, random() % melodies_, samples);
    const auto& drawn = vectors[random() % vectors.size()];
    for (std::size_t i = 0; i < samples; ++i) permutants_[i * params.permutants + p] = drawn[i];
  }
  std::vector<std::vector<std::uint32_t>> found(melodies_);  // [vectors, nearest] of each
  std::atomic<std::size_t> next_melody = 0;
  const auto work = [&] {
    std::vector<std::uint32_t> nearest;
    std::vector<float> distances(params.permutants);
    for (std::size_t melody; (melody = next_melody++) < melodies_;) {
      for (const auto& vector : vectors_of(index, melody, samples)) {
        find_nearest(vector.data(), nearest, distances);
        found[melody].insert(found[melody].end(), nearest.begin(), nearest.end());
      }
    }
  };
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) others.emplace_back(work);
  work();
  others.clear();
  std::vector<std::uint32_t> places;
  for (auto& of_melody : found) {
    places.insert(places.end(), of_melody.begin(), of_melody.end());
    vectors_before_.push_back(static_cast<std::uint32_t>(places.size() / params.nearest));
    of_melody = {};
  }
  postings_before_.assign(params.permutants + 1, 0);
  for (const std::uint32_t permutant : places) ++postings_before_[permutant + 1];
  std::partial_sum(postings_before_.begin(), postings_before_.end(), postings_before_.begin());
  postings_.resize(places.size());
  std::vector<std::uint32_t> next = postings_before_;
  for (std::size_t i = 0; i < places.size(); ++i) {
    postings_[next[places[i]]++] = {static_cast<std::uint32_t>(i / params.nearest),
                                    static_cast<std::uint32_t>(i % params.nearest)};
  }
}

void PermutationIndex::find_nearest(const float* vector, std::vector<std::uint32_t>& nearest,
                                    std::vector<float>& distances) const {
  measure(vector, permutants_.data(), params_.samples, params_.permutants, distances.data());
  nearest.resize(params_.permutants);
  std::iota(nearest.begin(), nearest.end(), 0U);
  const auto closer = [&](std::uint32_t a, std::uint32_t b) {
    return distances[a] != distances[b] ? distances[a] < distances[b] : a < b;
  };
  std::partial_sort(nearest.begin(), nearest.begin() + params_.nearest, nearest.end(), closer);
  nearest.resize(params_.nearest);
}

/// Spearman's footrule with a location parameter (Amato and Savino 2008, eq. 4), turned into votes:
/// a permutant that both know gives as many as they know, less the distance between its places.
void PermutationIndex::vote(const std::vector<std::uint32_t>& nearest,
                            std::vector<std::uint8_t>& votes) const {
  std::fill(votes.begin(), votes.end(), std::uint8_t{0});
  const auto known = static_cast<int>(params_.nearest);
  for (int place = 0; place < known; ++place) {
    const std::uint32_t permutant = nearest[place];
    for (std::uint32_t i = postings_before_[permutant]; i < postings_before_[permutant + 1]; ++i) {
      const Posting& posting = postings_[i];
      const int apart = std::abs(place - static_cast<int>(posting.place));
      votes[posting.vector] = static_cast<std::uint8_t>(votes[posting.vector] + known - apart);
    }
  }
}

std::vector<std::uint32_t> PermutationIndex::candidates(const Contour& pitch_track,
                                                        std::span<const double> tempi,
                                                        double share) const {
  std::vector<std::uint32_t> melodies(melodies_);
  std::iota(melodies.begin(), melodies.end(), 0U);
  const auto kept = std::min(
      melodies_, static_cast<std::size_t>(std::ceil(share * static_cast<double>(melodies_))));
  const Contour hum = bridge(pitch_track);
  if (hum.empty() || kept == melodies_) return melodies;
  const auto lead = static_cast<std::size_t>(
      std::find_if(pitch_track.begin(), pitch_track.end(), [](float p) { return p > 0; }) -
      pitch_track.begin());
  std::vector<std::size_t> onsets;
  for (const MelodyNote& note : segment_notes(pitch_track)) {
    onsets.push_back(static_cast<std::size_t>(std::lround(note.onset_s * kContourRate)) - lead);
  }
  std::vector<float> best(melodies_);
  std::vector<float> sums(melodies_);
  std::vector<std::uint8_t> votes(vectors_before_.back());
  std::vector<std::uint32_t> nearest;
  std::vector<float> distances(params_.permutants);
  for (const double tempo : tempi) {
    const auto needed = static_cast<std::size_t>(
        kHummed * static_cast<double>(params_.samples * kCoarseFrames) / tempo);
    std::fill(sums.begin(), sums.end(), 0.0F);
    const auto starts = window_starts(onsets, hum.size(), needed, params_.windows);
    for (const std::size_t start : starts) {
      std::vector<float> window = at_tempo(Contour(hum.begin() + start, hum.end()), tempo);
      if (window.empty()) continue;
      window.resize(params_.samples, window.back());
      remove_mean(window);
      find_nearest(window.data(), nearest, distances);
      vote(nearest, votes);
      for (std::size_t m = 0; m < melodies_; ++m) {
        const std::uint32_t first = vectors_before_[m];
        sums[m] += most(votes.data() + first, vectors_before_[m + 1] - first);
      }
    }
    for (std::size_t m = 0; m < melodies_; ++m) {
      best[m] = std::max(best[m], sums[m] / static_cast<float>(starts.size()));
    }
  }
  std::partial_sort(melodies.begin(), melodies.begin() + kept, melodies.end(),
                    [&](std::uint32_t a, std::uint32_t b) {
                      return best[a] != best[b] ? best[a] > best[b] : a < b;
                    });
  melodies.resize(kept);
  return melodies;
}

}  // namespace spintag::fingerprint
