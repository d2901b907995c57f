// fingerprint/cuda/batch_matcher.cu - the searches of many windows, stage by stage on the device.
#include "fingerprint/cuda/batch_matcher.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "fingerprint/cuda/batch_tools.cuh"
#include "fingerprint/cuda/landmarks.cuh"
#include "fingerprint/cuda/loaded_shards.cuh"
#include "fingerprint/cuda/query_views.cuh"
#include "fingerprint/cuda/selection.cuh"
#include "fingerprint/cuda/stopwatch.cuh"
#include "fingerprint/cuda/verification.cuh"
#include "fingerprint/cuda/votes.cuh"
#include "fingerprint/nomination_pool.h"
#include "fingerprint/profile.h"
#include "fingerprint/search_plan.h"
#include "fingerprint/window_search.h"
#include "fingerprint/window_searcher.h"

namespace spintag::fingerprint::cuda {
namespace {

using kernels::cuda::Array;

constexpr std::size_t kMostWindows = 1024;  ///< in one batch
constexpr double kLongestWindow = 60;       ///< seconds; longer ones are the processor's

/// One query on its way.
struct Window {
  std::span<const Peak> peaks;  ///< those inside the window
  WindowSearch search;
  bool too_dense = false;  ///< a reference that the device has no room for: the processor's
};

/// The windows that still search, with what all their searches share.
struct ActiveWindows {
  /// @param staging  reused from batch to batch
  ActiveWindows(const ContextPointer& context, std::vector<Window*> still,
                kernels::cuda::HostArray<Peak>& staging)
      : windows(std::move(still)) {
    std::vector<std::uint32_t> begin{0};
    std::size_t total = 0;
    for (const Window* window : windows) {
      total += window->peaks.size();
      begin.push_back(checked_total(*context, total, "peaks"));
      times.push_back({window->search.start_s(), window->search.end_s()});
    }
    staging.reserve(context, total);
    for (std::size_t w = 0; w < windows.size(); ++w) {
      std::copy(windows[w]->peaks.begin(), windows[w]->peaks.end(), staging.data() + begin[w]);
    }
    peaks.values = Array<Peak>(context, std::span<const Peak>(staging.data(), total));
    peaks.begin = Array<std::uint32_t>(context, begin);
    peaks.count = static_cast<std::uint32_t>(windows.size());
    peaks.total = begin.back();
    device_times = Array<WindowTimes>(context, times);
    select_strongest(context, peaks, device_times.data(), BroadcastProfile::verify_peaks_per_s,
                     verify_peaks);
    views.emplace(context, verify_peaks, times);
  }

  std::vector<Window*> windows;
  std::vector<WindowTimes> times;
  Array<WindowTimes> device_times;
  PeakBatch peaks;                  ///< all
  PeakBatch verify_peaks;           ///< those that verification uses
  std::optional<QueryViews> views;  ///< of those
};

class OnDevice final : public BatchMatcher {
 public:
  explicit OnDevice(const kernels::Device& device)
      : context_(device.shared_context()), shards_(context_), votes_(context_) {}

  void load(const std::shared_ptr<const Index>& index) override {
    context_->make_current();
    const DeviceStopwatch watch(*context_, stages_.load_s);
    shards_.load(*index);
  }

  std::vector<std::vector<Alignment>> match(const std::shared_ptr<const Index>& index,
                                            std::span<const MatchQuery> queries,
                                            const MatchOptions& options) override {
    load(index);
    std::vector<std::vector<Alignment>> results;
    results.reserve(queries.size());
    for (std::size_t first = 0; first < queries.size(); first += kMostWindows) {
      const auto batch = queries.subspan(first, std::min(kMostWindows, queries.size() - first));
      match_batch(*index, batch, options, results);
    }
    return results;
  }

  MatchStages stages() const override {
    MatchStages stages = stages_;
    const VoteStatistics& votes = votes_.statistics();
    stages.vote_count_s = votes.count_s;
    stages.vote_throw_s = votes.throw_s;
    stages.vote_tally_s = votes.tally_s;
    stages.votes = votes.votes;
    stages.recounts = votes.recounts;
    return stages;
  }

 private:
  void match_batch(const Index& index, std::span<const MatchQuery> queries,
                   const MatchOptions& options, std::vector<std::vector<Alignment>>& results);
  void search(const Index& index, ActiveWindows& active, const Search& how);
  void nominate(const Index& index, const ActiveWindows& active, const PeakBatch& selected,
                const Search& how, std::uint32_t hypothesis, std::span<NominationPool> pools);
  std::vector<VerifyTask> tasks_of(const ActiveWindows& active) const;
  void settle(ActiveWindows& active) const;
  void verify_chosen(ActiveWindows& active) const;

  ContextPointer context_;
  LoadedShards shards_;
  VoteCounter votes_;
  kernels::cuda::HostArray<Peak> staging_;
  MatchStages stages_;
  Matcher matcher_;          ///< for the rare window that is not for the device
  WindowSearcher searcher_;  ///< for one look at a speed that no other window has
};

std::span<const Peak> peaks_inside(const MatchQuery& query) {
  const auto by_time = [](const Peak& peak, double time) { return peak.time_s < time; };
  const auto first =
      std::lower_bound(query.heard.peaks.begin(), query.heard.peaks.end(), query.start_s, by_time);
  return {first, std::lower_bound(first, query.heard.peaks.end(), query.end_s, by_time)};
}

/// Weighs what was found for each window on all cores: some 0.5 ms for one that has an answer.
void judge(std::span<Window* const> windows) {
  constexpr std::size_t kEach = 32;
  const std::size_t threads = std::min<std::size_t>(
      std::max(1U, std::thread::hardware_concurrency()), (windows.size() + kEach - 1) / kEach);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < windows.size(); i = next++) windows[i]->search.beyond_doubt();
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
}

void OnDevice::match_batch(const Index& index, std::span<const MatchQuery> queries,
                           const MatchOptions& options,
                           std::vector<std::vector<Alignment>>& results) {
  std::vector<Window> windows(queries.size());
  std::vector<Window*> searching;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    windows[i].peaks = peaks_inside(queries[i]);
    windows[i].search.reset(index, {windows[i].peaks, queries[i].heard.levels}, queries[i].start_s,
                            queries[i].end_s);
    windows[i].too_dense = queries[i].end_s - queries[i].start_s > kLongestWindow;
    if (!windows[i].peaks.empty() && !windows[i].too_dense) searching.push_back(&windows[i]);
  }

  std::unique_ptr<ActiveWindows> active;
  for (const Search& how : searches_of(options, index.length_s())) {
    std::erase_if(searching, [](Window* window) {
      return window->too_dense || window->search.beyond_doubt();
    });
    if (searching.empty()) break;
    if (!active || active->windows.size() != searching.size()) {
      const DeviceStopwatch watch(*context_, stages_.select_s);
      context_->synchronize();  // nothing is copied from the staging memory any more
      active = std::make_unique<ActiveWindows>(context_, searching, staging_);
    }
    search(index, *active, how);
  }

  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (const auto closing = windows[i].search.closing_search(); closing && !windows[i].too_dense)
      searcher_.search(index, windows[i].peaks, *closing, windows[i].search);
    results.push_back(
        windows[i].too_dense
            ? matcher_.match(index, queries[i].heard, queries[i].start_s, queries[i].end_s, options)
            : windows[i].search.result(options));
  }
}

void OnDevice::search(const Index& index, ActiveWindows& active, const Search& how) {
  stages_.searches += active.windows.size() * how.hypotheses.size();
  PeakBatch selected;
  {
    const DeviceStopwatch watch(*context_, stages_.select_s);
    select_strongest(context_, active.peaks, active.device_times.data(), how.peaks_per_s, selected);
  }
  std::vector<NominationPool> pools(active.windows.size());
  for (NominationPool& pool : pools) pool.reset(how.pooled);
  for (std::uint32_t hypothesis = 0; hypothesis < how.hypotheses.size(); ++hypothesis)
    nominate(index, active, selected, how, hypothesis, pools);
  {
    const DeviceStopwatch watch(*context_, stages_.host_s);
    for (std::size_t w = 0; w < pools.size(); ++w)
      active.windows[w]->search.begin(how, pools[w].take(), index);
  }
  {
    const DeviceStopwatch watch(*context_, stages_.verify_s);
    settle(active);
    for (Window* window : active.windows) window->search.choose();
    verify_chosen(active);
  }
  const DeviceStopwatch watch(*context_, stages_.host_s);
  judge(active.windows);
}

void OnDevice::nominate(const Index& index, const ActiveWindows& active, const PeakBatch& selected,
                        const Search& how, std::uint32_t hypothesis,
                        std::span<NominationPool> pools) {
  ProbeBatch probes;
  {
    const DeviceStopwatch watch(*context_, stages_.probe_s);
    make_query_probes(context_, selected, active.device_times.data(), how.hypotheses[hypothesis],
                      how.soft, probes);
  }
  for (std::uint32_t i = 0; i < index.shards().size(); ++i) {
    const IndexShard& shard = *index.shards()[i];
    if (shard.arrays().tracks.empty()) continue;
    const auto nominations =
        votes_.count(shards_[shard], probes, fingerprint::VoteCounter::kFewestVotes,
                     how.nominations, how.longest_bucket);
    const DeviceStopwatch watch(*context_, stages_.host_s);
    for (std::size_t w = 0; w < nominations.size(); ++w) {
      for (const Nomination& place : nominations[w]) pools[w].add({place, hypothesis, i});
    }
  }
}

std::vector<VerifyTask> OnDevice::tasks_of(const ActiveWindows& active) const {
  std::vector<VerifyTask> tasks;
  for (std::size_t w = 0; w < active.windows.size(); ++w) {
    for (const Candidate& candidate : active.windows[w]->search.candidates()) {
      const ShardTrack& track = candidate.entry();
      tasks.push_back({.window = static_cast<std::uint32_t>(w),
                       .packed_bytes = track.packed_bytes,
                       .packed = shards_[*candidate.shard].packed.data() + track.packed_begin,
                       .fit = candidate.fit});
    }
  }
  return tasks;
}

void OnDevice::settle(ActiveWindows& active) const {
  const std::vector<VerifyTask> tasks = tasks_of(active);
  if (tasks.empty()) return;
  const Array<VerifyTask> on_device(context_, tasks);
  const auto settled = settle_offsets(context_, *active.views, on_device, tasks.size()).download();
  std::size_t task = 0;
  for (Window* window : active.windows) {
    for (Candidate& candidate : window->search.candidates()) {
      candidate.fit = settled[task].fit;
      candidate.coincidences = settled[task].coincidences;
      window->too_dense |= settled[task].coincidences == kTooDense;
      ++task;
    }
  }
}

void OnDevice::verify_chosen(ActiveWindows& active) const {
  const std::vector<VerifyTask> tasks = tasks_of(active);
  if (tasks.empty()) return;
  const Array<VerifyTask> on_device(context_, tasks);
  const auto verdicts = verify(context_, *active.views, on_device, tasks.size()).download();
  std::size_t task = 0;
  for (Window* window : active.windows) {
    for (const Candidate& candidate : window->search.candidates()) {
      window->too_dense |= verdicts[task].expected == kTooDense;
      window->search.keep(candidate, verdicts[task]);
      ++task;
    }
  }
}

}  // namespace

std::unique_ptr<BatchMatcher> make_batch_matcher(kernels::Device& device) {
  return std::make_unique<OnDevice>(device);
}

}  // namespace spintag::fingerprint::cuda
