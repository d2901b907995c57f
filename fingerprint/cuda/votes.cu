// fingerprint/cuda/votes.cu - a vote on the device: how much is counted at once, and the launches.
#include "fingerprint/cuda/votes.cuh"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "fingerprint/cuda/batch_matcher.h"
#include "fingerprint/cuda/batch_tools.cuh"
#include "fingerprint/cuda/vote_kernels.cuh"

namespace spintag::fingerprint::cuda {
namespace {

using kernels::cuda::Array;

/// Sums of a group's windows, partitions and chunks: 1 GiB of them.
constexpr std::uint64_t kMostCounts = std::uint64_t{1} << 28;
constexpr std::uint64_t kMostVotes = std::uint64_t{1} << 33;  ///< of a run: 16 GiB
constexpr std::uint32_t kListCapacity = 4096;                 ///< nominations of a window, at first

ShardView view_of(const DeviceShard& shard) {
  return {shard.directory.data(), shard.words.data(), shard.units, shard.keys_per_bucket,
          shard.reciprocal};
}

/// Adds the time until it goes out of scope. Whoever measures the device waits for it first.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& seconds_;
  Clock::time_point start_ = Clock::now();
};

/// Windows [first, first + count) and what was counted of them.
struct Group {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t chunks = 0;             ///< of each window
  Array<std::uint32_t> places{};        ///< [count, partitions, chunks] where votes go
  std::vector<std::uint32_t> totals{};  ///< votes of each window
};

}  // namespace

Partitions Partitions::of(std::uint32_t units) {
  return {VoteClock::counter(units - 1, 0) / kCounters + 1};
}

Nomination NominationKey::read(std::uint64_t key) {
  constexpr std::uint64_t kOne = 1;
  const auto votes = static_cast<std::uint32_t>(key & ((kOne << kVotesBits) - 1));
  const auto counter = static_cast<std::uint32_t>(
      (kOne << kCounterBits) - 1 - (key >> kVotesBits & ((kOne << kCounterBits) - 1)));
  const auto sum = static_cast<std::uint32_t>(key >> (kCounterBits + kVotesBits));
  return VoteClock::nomination(counter, votes, sum);
}

/// Windows of a group whose votes are in memory together.
struct VoteCounter::Run {
  const Group* group = nullptr;
  ShardView shard{};
  ProbeChunks probes{};
  std::uint32_t partitions = 0;
  std::uint32_t first = 0;  ///< in the group
  std::uint32_t count = 0;

  const std::uint32_t* places() const {
    return group->places.data() + std::size_t{first} * partitions * group->chunks;
  }
};

VoteCounter::VoteCounter(std::shared_ptr<kernels::cuda::Context> context)
    : context_(std::move(context)) {}

std::uint64_t VoteCounter::votes_at_once() const {
  return std::min<std::uint64_t>(kMostVotes, context_->free_bytes() / 2 / sizeof(std::uint16_t));
}

std::vector<std::vector<Nomination>> VoteCounter::count(const DeviceShard& shard,
                                                        const ProbeBatch& probes,
                                                        std::uint32_t fewest, std::size_t most) {
  std::vector<std::vector<Nomination>> nominations(probes.count);
  if (probes.total == 0 || most == 0) return nominations;
  const std::vector<std::uint32_t> begin = probes.begin.download(probes.count + 1);
  const std::uint32_t partitions = Partitions::of(shard.units).count;
  std::uint32_t longest = 0;
  for (std::uint32_t w = 0; w < probes.count; ++w)
    longest = std::max(longest, begin[w + 1] - begin[w]);
  const std::uint32_t chunks = (longest + ProbeChunks::kChunk - 1) / ProbeChunks::kChunk;
  const auto group_windows = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(kMostCounts / partitions / chunks, 1, probes.count));

  for (std::uint32_t first = 0; first < probes.count; first += group_windows) {
    Group group{
        .first = first, .count = std::min(group_windows, probes.count - first), .chunks = chunks};
    const std::uint32_t per_window = partitions * chunks;
    auto watch = std::make_optional<Stopwatch>(statistics_.count_s);
    group.places = Array<std::uint32_t>(context_, std::size_t{group.count} * per_window);
    Array<std::uint32_t> totals(context_, group.count);
    const ProbeChunks own{probes.values.data(), probes.begin.data() + first, chunks};
    kernels::cuda::launch(*context_, count_votes, dim3(group.count * chunks), dim3(kGatherThreads),
                          partitions * sizeof(std::uint32_t), view_of(shard), own, partitions,
                          group.places.data());
    kernels::cuda::launch(*context_, place_votes, dim3(group.count), dim3(kScanThreads), 0,
                          group.places.data(), per_window, totals.data());
    group.totals = totals.download();
    watch.reset();

    const std::uint64_t room = votes_at_once();
    Run run{.group = &group, .shard = view_of(shard), .probes = own, .partitions = partitions};
    std::uint64_t votes = 0;
    for (std::uint32_t w = 0; w < group.count; ++w) {
      if (run.count > 0 && votes + group.totals[w] > room) {
        count_run(run, fewest, static_cast<std::uint32_t>(most), nominations);
        run.first = w;
        run.count = 0;
        votes = 0;
      }
      ++run.count;
      votes += group.totals[w];
    }
    count_run(run, fewest, static_cast<std::uint32_t>(most), nominations);
  }
  return nominations;
}

void VoteCounter::count_run(Run& run, std::uint32_t fewest, std::uint32_t most,
                            std::vector<std::vector<Nomination>>& nominations) {
  const Group& group = *run.group;
  std::vector<std::uint64_t> base(run.count + 1);
  for (std::uint32_t w = 0; w < run.count; ++w) base[w + 1] = base[w] + group.totals[run.first + w];
  statistics_.votes += base.back();
  ++statistics_.runs;
  if (base.back() == 0) return;
  const Array<std::uint64_t> device_base(context_, std::span<const std::uint64_t>(base));
  Array<std::uint16_t> votes(context_, base.back());
  {
    const Stopwatch watch(statistics_.throw_s);
    const ProbeChunks own{run.probes.probes, run.probes.begin + run.first, group.chunks};
    const std::uint32_t slices = (run.partitions + kSlicePartitions - 1) / kSlicePartitions;
    kernels::cuda::launch(*context_, throw_votes, dim3(slices * run.count * group.chunks),
                          dim3(kGatherThreads), 0, run.shard, own, run.count, run.partitions,
                          run.places(), device_base.data(), votes.data());
    context_->synchronize();
  }
  const Stopwatch watch(statistics_.tally_s);
  const std::vector<std::uint64_t> best =
      tally(run, ThrownVotes{votes.data(), run.places(), device_base.data()}, fewest, most);
  for (std::uint32_t w = 0; w < run.count; ++w) {
    auto& out = nominations[group.first + run.first + w];
    for (std::uint32_t k = 0; k < most && best[std::size_t{w} * most + k] != 0; ++k) {
      out.push_back(NominationKey::read(best[std::size_t{w} * most + k]));
    }
  }
}

/// All windows' lists have one length. Where one was too short, counting again makes it shorter:
/// the sums that cannot be among the best are known by then.
std::vector<std::uint64_t> VoteCounter::tally(const Run& run, const ThrownVotes& votes,
                                              std::uint32_t fewest, std::uint32_t most) const {
  const std::size_t windows = run.count;
  Array<std::uint32_t> least(context_, windows);
  least.fill_bytes(0);
  Array<std::uint32_t> counts(context_, windows * (1 + NominationLists::kBins));
  Array<std::uint64_t> best(context_, windows * most);
  const std::uint64_t items = std::uint64_t{run.count} * run.partitions;
  const auto resident = static_cast<std::uint64_t>(context_->multiprocessors()) * kTallyBlocks;
  const auto blocks = static_cast<std::uint32_t>(std::min(items, resident));
  std::uint32_t capacity = kListCapacity;
  for (int attempt = 0;; ++attempt) {
    Array<std::uint64_t> keys(context_, windows * capacity);
    counts.fill_bytes(0);
    const NominationLists lists{keys.data(), capacity, counts.data(), counts.data() + windows,
                                least.data()};
    kernels::cuda::launch(*context_, tally_votes, dim3(blocks), dim3(kTallyThreads), kTallyShared,
                          votes, run.count, run.partitions, run.group->chunks, fewest, most, lists);
    kernels::cuda::launch(*context_, choose_best, dim3(run.count), dim3(kChooseThreads), 0, lists,
                          most, best.data());
    const std::vector<std::uint32_t> listed = counts.download(windows);
    const std::uint32_t longest = *std::max_element(listed.begin(), listed.end());
    if (longest <= capacity) return best.download();
    if (attempt > 0) capacity = longest;  // nearly all are equals: then they need the room
  }
}

std::vector<std::vector<Nomination>> count_votes(kernels::Device& device, const IndexShard& shard,
                                                 std::span<const std::span<const Probe>> windows,
                                                 std::uint32_t fewest, std::size_t most) {
  if (shard.arrays().units == 0) return std::vector<std::vector<Nomination>>(windows.size());
  device.context().make_current();
  const DeviceShard on_device(device.shared_context(), shard);
  const ProbeBatch probes = upload_lists(device.shared_context(), windows);
  return VoteCounter(device.shared_context()).count(on_device, probes, fewest, most);
}

}  // namespace spintag::fingerprint::cuda
