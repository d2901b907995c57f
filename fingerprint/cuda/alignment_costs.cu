// fingerprint/cuda/alignment_costs.cu - a block an alignment, a warp a path, a lane the number of
// frames that its next note takes.
//
// For every note the paths that are still alive are listed in the order in which the processor goes
// through them, and the warps take them in turn. The cheapest way to end a note at a frame is found
// by an atomic minimum over cost and place in the list, so that of equally cheap ones the same is
// kept as on the processor. That one also drops paths as dear as the best way found so far to sing
// the whole hum as soon as it is found, and this twin only with the next note; but such a path
// cannot become cheaper, so that it never decides.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "fingerprint/melody/alignment_costs.h"
#include "kernels/cuda/context.cuh"

namespace spintag::fingerprint::cuda {
namespace {

using kernels::cuda::Array;
using namespace note_alignment;

constexpr unsigned kMostThreads = kMostAlignedFrames;
constexpr unsigned kMostWarps = kMostThreads / 32;
constexpr unsigned kFull = 0xFFFFFFFFU;
constexpr unsigned long long kNobody = ~0ULL;

struct Task {
  std::uint32_t notes;  ///< the melody's first note in the array of all, and
  std::uint32_t count;  ///< how many it has
  std::uint32_t from;   ///< of these
  float frames_per_s;
  float key;
};

struct Arguments {
  const MelodyNote* notes;
  const Task* tasks;
  Sums hum;
  const float* logarithms;  ///< of the numbers of frames
  std::uint32_t frames;
  NoteAlignmentParams params;
  float* costs;
};

/// A path that is about to sing a note.
struct Singer {
  std::uint32_t begin;
  Expected expected;
};

/// Of one alignment, in shared memory. Paths go by the frame at which their newest note ends.
struct Tables {
  unsigned long long* cheapest;  ///< by the frame at which the note ends: cost, place of the singer
  State* row;
  State* one_before;
  State* two_before;
  Singer* singers;

  static constexpr std::size_t bytes(std::size_t frames) {
    return frames * (sizeof(unsigned long long) + 3 * sizeof(State) + 3 * sizeof(Singer));
  }
  __device__ explicit Tables(std::uint32_t frames)
      : cheapest(kernels::cuda::dynamic_shared<unsigned long long>()),
        row(reinterpret_cast<State*>(cheapest + frames)),
        one_before(row + frames),
        two_before(one_before + frames),
        singers(reinterpret_cast<Singer*>(two_before + frames)) {}
  __device__ void next_note() {
    State* const free = two_before;
    two_before = one_before;
    one_before = row;
    row = free;
  }
};

/// Who sings a note: first those of the row before, then those of the row before that to whom the
/// time of the note between is lost, then the same with that time in this note.
struct Choir {
  std::uint32_t ones = 0;
  std::uint32_t twos = 0;

  __device__ std::uint32_t size() const { return ones + 2 * twos; }
};

/// Least value of a block, known to all of its threads.
__device__ float least_of_block(float value, float* of_warps) {
  for (int step = 16; step > 0; step /= 2)
    value = std::min(value, __shfl_xor_sync(kFull, value, step));
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) value = std::min(value, of_warps[warp]);
  return value;
}

/// How many threads before this one say yes, and how many of the block.
struct Rank {
  std::uint32_t before = 0;
  std::uint32_t all = 0;

  __device__ Rank(bool yes, std::uint32_t* of_warps) {
    const unsigned votes = __ballot_sync(kFull, yes);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = __popc(votes);
    __syncthreads();
    for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) {
      if (warp == threadIdx.x / 32) before = all;
      all += of_warps[warp];
    }
    before += __popc(votes & ((1U << threadIdx.x % 32) - 1));
  }
};

/// Lists who sings note k of a melody. A thread has the frame at which it begins.
__device__ Choir list_singers(const Arguments& a, const MelodyNote* notes, std::uint32_t k,
                              Step step, const Beginnings& at, float limit, const Tables& tables) {
  __shared__ std::uint32_t ones_of_warps[kMostWarps];
  __shared__ std::uint32_t twos_of_warps[kMostWarps];
  const std::uint32_t begin = threadIdx.x;
  const bool inside = begin >= at.earliest && begin <= at.latest;
  const bool one = inside && tables.one_before[begin].cost < limit;
  const bool two = inside && tables.two_before[begin].cost + a.params.left_out_cost < limit;
  const Rank ones(one, ones_of_warps);
  const Rank twos(two, twos_of_warps);
  const auto list = [&](std::uint32_t place, const State& state) {
    tables.singers[place] = {begin, expected_of(state, step, a.frames - begin, a.params)};
  };
  if (one) list(ones.before, tables.one_before[begin]);
  if (two) {
    step.penalty = a.params.left_out_cost;
    list(ones.all + twos.before, tables.two_before[begin]);
    step.seconds += notes[k].onset_s - notes[k - 1].onset_s;
    list(ones.all + twos.all + twos.before, tables.two_before[begin]);
  }
  return {ones.all, twos.all};
}

/// The note of so many frames.
__device__ Note note_by(const Arguments& a, const Singer& singer, std::uint32_t length) {
  const Held frames = held(a.hum, singer.begin, length, a.params);
  return note_of(singer.expected, frames.mean, frames.within, a.logarithms[length], a.params);
}

/// One singer's notes of every length, one a lane.
__device__ void sing(const Arguments& a, const Tables& tables, std::uint32_t place, bool last,
                     unsigned& best_bits) {
  const Singer& singer = tables.singers[place];
  for (std::uint32_t length = singer.expected.shortest + threadIdx.x % 32;
       length <= singer.expected.longest; length += 32) {
    const std::uint32_t end = singer.begin + length;
    if (end == a.frames) {
      const Held frames = held(a.hum, singer.begin, length, a.params);
      atomicMin(&best_bits, __float_as_uint(cost_at_end(singer.expected, frames,
                                                        a.logarithms[length], last, a.params)));
    } else {
      const unsigned cost = __float_as_uint(note_by(a, singer, length).cost);
      atomicMin(&tables.cheapest[end], static_cast<unsigned long long>(cost) << 32 | place);
    }
  }
}

/// The cheapest path whose note ends at a frame.
__device__ State path_to(const Arguments& a, const Tables& tables, std::uint32_t end) {
  if (tables.cheapest[end] == kNobody) return {kNever, 0, 0};
  const Singer& singer = tables.singers[static_cast<std::uint32_t>(tables.cheapest[end])];
  const std::uint32_t length = end - singer.begin;
  return after(singer.expected, length, note_by(a, singer, length), a.params);
}

__global__ void __launch_bounds__(kMostThreads, 1) alignment_kernel(Arguments a) {
  __shared__ float of_warps[kMostWarps];
  __shared__ unsigned best_bits;  // of a cost; none is negative, so that bits are in their order
  const Task task = a.tasks[blockIdx.x];
  const MelodyNote* const notes = a.notes + task.notes;
  const std::uint32_t frames = a.frames;
  const std::uint32_t own = threadIdx.x;  // frame
  Tables tables(frames);
  const State nowhere{kNever, 0, 0};
  if (own < frames) {
    tables.one_before[own] = own == 0 ? State{0, task.key, task.frames_per_s} : nowhere;
    tables.two_before[own] = nowhere;
  }
  if (own == 0) best_bits = __float_as_uint(kNever);
  for (std::uint32_t k = task.from; k < task.count; ++k) {
    __syncthreads();
    const Beginnings at =
        beginnings(notes[task.from], notes[k], task.frames_per_s, frames, k == task.from);
    float cheapest = kNever;
    if (own >= at.earliest && own <= at.latest) {
      cheapest = std::min(tables.one_before[own].cost,
                          tables.two_before[own].cost + a.params.left_out_cost);
    }
    const float best = __uint_as_float(best_bits);
    cheapest = least_of_block(cheapest, of_warps);
    if (cheapest >= best) break;
    const Step step = step_of(notes, k, task.count, k == task.from);
    const Choir choir =
        list_singers(a, notes, k, step, at, std::min(cheapest + a.params.beam, best), tables);
    if (own < frames) tables.cheapest[own] = kNobody;
    __syncthreads();
    for (std::uint32_t place = own / 32; place < choir.size(); place += blockDim.x / 32) {
      sing(a, tables, place, step.last, best_bits);
    }
    __syncthreads();
    if (own < frames) tables.row[own] = path_to(a, tables, own);
    tables.next_note();
  }
  __syncthreads();
  if (own == 0) a.costs[blockIdx.x] = __uint_as_float(best_bits);
}

/// Tasks, and the notes of their melodies once each.
struct Packed {
  std::vector<Task> tasks;
  std::vector<MelodyNote> notes;
};

Packed packed(std::span<const SungMelody> melodies) {
  Packed out;
  std::unordered_map<const Melody*, std::uint32_t> firsts;
  for (const SungMelody& sung : melodies) {
    const auto& notes = sung.melody->notes;
    const auto [at, added] =
        firsts.try_emplace(sung.melody, static_cast<std::uint32_t>(out.notes.size()));
    if (added) out.notes.insert(out.notes.end(), notes.begin(), notes.end());
    out.tasks.push_back({.notes = at->second,
                         .count = static_cast<std::uint32_t>(notes.size()),
                         .from = static_cast<std::uint32_t>(sung.from.note),
                         .frames_per_s = static_cast<float>(kContourRate) / sung.from.tempo,
                         .key = sung.from.key});
  }
  return out;
}

}  // namespace

std::vector<float> alignment_costs(kernels::Device& device, const Contour& hum,
                                   std::span<const SungMelody> melodies,
                                   const NoteAlignmentParams& params) {
  if (melodies.empty()) return {};
  const auto& context = device.shared_context();
  context->make_current();
  const HumTables tables(hum);
  const Packed all = packed(melodies);
  const Array<double> pitches(context, tables.pitches);
  const Array<double> squares(context, tables.squares);
  const Array<float> logarithms(context, tables.logarithms);
  const Array<MelodyNote> notes(context, all.notes);
  const Array<Task> tasks(context, all.tasks);
  const Array<float> costs(context, melodies.size());
  const auto frames = static_cast<unsigned>(hum.size());
  kernels::cuda::launch(*context, alignment_kernel, dim3(static_cast<unsigned>(melodies.size())),
                        dim3(std::min(kMostThreads, (frames + 31) / 32 * 32)),
                        Tables::bytes(frames),
                        Arguments{.notes = notes.data(),
                                  .tasks = tasks.data(),
                                  .hum = {pitches.data(), squares.data()},
                                  .logarithms = logarithms.data(),
                                  .frames = frames,
                                  .params = params,
                                  .costs = costs.data()});
  return costs.download();
}

}  // namespace spintag::fingerprint::cuda
