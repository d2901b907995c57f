// fingerprint/cuda/votes.cu - a vote on the device: how much is counted at once, and the launches.
#include "fingerprint/cuda/votes.cuh"

#include <algorithm>
#include <string>

#include "fingerprint/cuda/batch_matcher.h"
#include "fingerprint/cuda/batch_tools.cuh"
#include "fingerprint/cuda/stopwatch.cuh"
#include "fingerprint/cuda/vote_kernels.cuh"

namespace spintag::fingerprint::cuda {
namespace {

using kernels::cuda::Array;

constexpr std::uint64_t kMostVotes = std::uint64_t{1} << 32;  ///< of a run: 16 GiB
constexpr std::uint32_t kListCapacity = 4096;                 ///< nominations of a window, at first

ShardView view_of(const DeviceShard& shard, std::uint32_t longest_bucket) {
  return {shard.directory.data(), shard.words.data(), shard.units,
          shard.keys_per_bucket,  shard.reciprocal,   longest_bucket};
}

/// Chunks of a size that gives the longest window some two dozen: the more of a window's blocks run
/// together, the sooner they fill the places that one of them has begun.
std::uint32_t chunk_size(std::uint32_t longest) {
  constexpr std::uint32_t kChunks = 24;
  constexpr std::uint32_t kSmallest = 512;
  constexpr std::uint32_t kLargest = 4096;
  return std::clamp((longest / kChunks + kSmallest - 1) / kSmallest * kSmallest, kSmallest,
                    kLargest);
}

/// Votes that a block of throw_votes() may stage.
/// @throws kernels::DeviceError if its shared memory is too small for any
std::uint32_t stage_room(const kernels::cuda::Context& context, std::uint32_t partitions) {
  constexpr std::size_t kRest = 4096;  // what the kernel has of its own, and the system
  const std::size_t taken = throw_shared(0, partitions) + kRest;
  const std::size_t shared = context.shared_bytes_per_block();
  const std::size_t room = shared > taken ? (shared - taken) / sizeof(std::uint32_t) : 0;
  if (room <= 2 * kThrowMargin) {
    throw kernels::DeviceError(context.name() + ": its shared memory is too small to count votes " +
                               "over so long a time line (try --device cpu)");
  }
  return static_cast<std::uint32_t>(std::min<std::size_t>(room, kMostStaged));
}

}  // namespace

Partitions Partitions::of(std::uint32_t units, std::size_t shared_bytes) {
  constexpr std::size_t kMost = 192 << 10;
  constexpr std::size_t kRest = 4096;  // what the kernel has of its own, and the system
  constexpr std::size_t kWhole = 256;  // so that counters of any width and the bits are whole words
  const std::size_t fit = (shared_bytes - kRest) * 8 / 9 / kWhole * kWhole;
  Partitions partitions;
  partitions.places = static_cast<std::uint32_t>(std::min(kMost, fit));
  partitions.counters = partitions.places - 1;
  partitions.reciprocal =
      static_cast<std::uint32_t>((std::uint64_t{1} << 32) / partitions.counters);
  partitions.count = VoteClock::counter(units - 1, 0) / partitions.counters + 1;
  return partitions;
}

Nomination NominationKey::read(std::uint64_t key) {
  constexpr std::uint64_t kOne = 1;
  const auto votes = static_cast<std::uint32_t>(key & ((kOne << kVotesBits) - 1));
  const auto counter = static_cast<std::uint32_t>(
      (kOne << kCounterBits) - 1 - (key >> kVotesBits & ((kOne << kCounterBits) - 1)));
  const auto sum = static_cast<std::uint32_t>(key >> (kCounterBits + kVotesBits));
  return VoteClock::nomination(counter, votes, sum);
}

/// Windows [first, first + count), whose votes are in memory together.
struct VoteCounter::Run {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// One vote: what all its runs share.
struct VoteCounter::Ballot {
  ShardView shard{};
  ProbeChunks probes{};
  Partitions partitions;
  std::uint32_t fewest = 0;
  std::uint32_t most = 0;
  Array<std::uint32_t> places{};        ///< [windows, partitions] where votes go
  std::vector<std::uint32_t> totals{};  ///< votes of each window
  std::vector<std::vector<Nomination>> nominations{};
};

VoteCounter::VoteCounter(std::shared_ptr<kernels::cuda::Context> context)
    : context_(std::move(context)) {}

std::uint64_t VoteCounter::votes_at_once() const {
  return std::min<std::uint64_t>(kMostVotes, context_->free_bytes() / 2 / sizeof(std::uint32_t));
}

std::vector<std::vector<Nomination>> VoteCounter::count(const DeviceShard& shard,
                                                        const ProbeBatch& probes,
                                                        std::uint32_t fewest, std::size_t most,
                                                        std::uint32_t longest_bucket) {
  Ballot ballot{.shard = view_of(shard, longest_bucket),
                .partitions = Partitions::of(shard.units, context_->shared_bytes_per_block()),
                .fewest = fewest,
                .most = static_cast<std::uint32_t>(most)};
  ballot.nominations.resize(probes.count);
  if (probes.total == 0 || most == 0) return std::move(ballot.nominations);
  const std::vector<std::uint32_t> begin = probes.begin.download(probes.count + std::size_t{1});
  std::uint32_t longest = 0;
  for (std::uint32_t w = 0; w < probes.count; ++w) {
    longest = std::max(longest, begin[w + 1] - begin[w]);
  }
  const std::uint32_t size = chunk_size(longest);
  ballot.probes = {probes.values.data(), probes.begin.data(), (longest + size - 1) / size, size};
  {
    const Stopwatch watch(statistics_.count_s);
    find_places(ballot, probes.count);
  }
  const std::uint64_t room = votes_at_once();
  Run run;
  std::uint64_t votes = 0;
  for (std::uint32_t w = 0; w < probes.count; ++w) {
    if (run.count > 0 && votes + ballot.totals[w] > room) {
      count_run(ballot, run);
      run = {w, 0};
      votes = 0;
    }
    ++run.count;
    votes += ballot.totals[w];
  }
  count_run(ballot, run);
  return std::move(ballot.nominations);
}

void VoteCounter::find_places(Ballot& ballot, std::uint32_t windows) const {
  const std::size_t size = std::size_t{windows} * ballot.partitions.count;
  Array<std::uint32_t> counts(context_, size);
  counts.fill_bytes(0);
  kernels::cuda::launch(*context_, count_votes, dim3(windows * ballot.probes.chunks),
                        dim3(kCountThreads), ballot.partitions.count * sizeof(std::uint32_t),
                        ballot.shard, ballot.probes, ballot.partitions, counts.data());
  ballot.places = Array<std::uint32_t>(context_, size);
  const Array<std::uint32_t> totals(context_, windows);
  kernels::cuda::launch(*context_, place_votes, dim3(windows), dim3(kPlaceThreads), 0,
                        counts.data(), ballot.partitions.count, ballot.places.data(),
                        totals.data());
  ballot.totals = totals.download();
}

void VoteCounter::count_run(Ballot& ballot, const Run& run) {
  std::vector<std::uint64_t> base(run.count + std::size_t{1});
  for (std::uint32_t w = 0; w < run.count; ++w) {
    base[w + 1] = base[w] + ballot.totals[run.first + w];
  }
  statistics_.votes += base.back();
  ++statistics_.runs;
  if (base.back() == 0) return;
  const Array<std::uint64_t> device_base(context_, std::span<const std::uint64_t>(base));
  const Array<std::uint32_t> votes(context_, base.back());
  const std::size_t size = std::size_t{run.count} * ballot.partitions.count;
  const std::uint32_t* const places =
      ballot.places.data() + std::size_t{run.first} * ballot.partitions.count;
  {
    const Stopwatch watch(statistics_.throw_s);
    const Array<std::uint32_t> next(context_, size);
    context_->check(cudaMemcpyAsync(next.data(), places, size * sizeof(std::uint32_t),
                                    cudaMemcpyDeviceToDevice, context_->stream()),
                    "copying on the device");
    ProbeChunks own = ballot.probes;
    const std::uint32_t room = stage_room(*context_, ballot.partitions.count);
    own.begin += run.first;
    kernels::cuda::launch(*context_, throw_votes, dim3(run.count * own.chunks), dim3(kThrowThreads),
                          throw_shared(room, ballot.partitions.count), ballot.shard, own,
                          ballot.partitions, room, next.data(), device_base.data(), votes.data());
    context_->synchronize();
  }
  const Stopwatch watch(statistics_.tally_s);
  const std::vector<std::uint64_t> best =
      tally(ballot, run.count, ThrownVotes{votes.data(), places, device_base.data()});
  for (std::uint32_t w = 0; w < run.count; ++w) {
    for (std::uint32_t k = 0; k < ballot.most; ++k) {
      const std::uint64_t key = best[std::size_t{w} * ballot.most + k];
      if (key == 0) break;
      ballot.nominations[run.first + w].push_back(NominationKey::read(key));
    }
  }
}

/// All windows' lists have one length. Where one was too short, counting again makes it shorter:
/// the sums that cannot be among the best are known by then.
std::vector<std::uint64_t> VoteCounter::tally(const Ballot& ballot, std::uint32_t windows,
                                              const ThrownVotes& votes) {
  Array<std::uint32_t> least(context_, windows);
  least.fill_bytes(0);
  Array<std::uint32_t> counts(context_, std::size_t{windows} * (1 + NominationLists::kBins));
  const Array<std::uint64_t> best(context_, std::size_t{windows} * ballot.most);
  const std::uint64_t items = std::uint64_t{windows} * ballot.partitions.count;
  const auto resident = static_cast<std::uint64_t>(context_->multiprocessors());
  const auto blocks = static_cast<std::uint32_t>(std::min(items, resident));
  std::uint32_t capacity = kListCapacity;
  for (int attempt = 0;; ++attempt) {
    const Array<std::uint64_t> keys(context_, std::size_t{windows} * capacity);
    counts.fill_bytes(0);
    const NominationLists lists{keys.data(), capacity, counts.data(), counts.data() + windows,
                                least.data()};
    kernels::cuda::launch(*context_, tally_votes, dim3(blocks), dim3(kTallyThreads),
                          tally_shared(ballot.partitions.places), votes, windows, ballot.partitions,
                          ballot.fewest, ballot.most, lists);
    kernels::cuda::launch(*context_, choose_best, dim3(windows), dim3(kChooseThreads), 0, lists,
                          ballot.most, best.data());
    const std::vector<std::uint32_t> listed = counts.download(windows);
    const std::uint32_t longest = *std::max_element(listed.begin(), listed.end());
    if (longest <= capacity) return best.download();
    ++statistics_.recounts;
    if (attempt > 0) capacity = longest;  // nearly all are equals: then they need the room
  }
}

std::vector<std::vector<Nomination>> count_votes(kernels::Device& device, const IndexShard& shard,
                                                 std::span<const std::span<const Probe>> windows,
                                                 std::uint32_t fewest, std::size_t most,
                                                 std::uint32_t longest_bucket) {
  if (shard.arrays().units == 0) return std::vector<std::vector<Nomination>>(windows.size());
  device.context().make_current();
  const DeviceShard on_device(device.shared_context(), shard);
  const ProbeBatch probes = upload_lists(device.shared_context(), windows);
  return VoteCounter(device.shared_context())
      .count(on_device, probes, fewest, most, longest_bucket);
}

}  // namespace spintag::fingerprint::cuda
