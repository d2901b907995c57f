// fingerprint/cuda/query_views.cu - a block a window: points in place, cells over time from the
// points' own order, cells over frequency by counting.
#include "fingerprint/cuda/query_views.cuh"

#include <algorithm>

namespace spintag::fingerprint::cuda {
namespace {

using kernels::cuda::Array;
constexpr int kThreads = 256;
constexpr unsigned kWholeWarp = 0xFFFFFFFF;

/// Begins at the first of a window's values and cells.
struct Window {
  QueryPoint* points;
  float* salience_db;
  float* u;
  std::uint32_t* time_cells;
  std::uint32_t* u_cells;
};

/// The first point of a cell is the first whose cell is not before it: each point writes the cells
/// after its predecessor's up to its own.
__device__ void arrange_times(const QueryArrays& view, const Window& out) {
  for (std::uint32_t i = threadIdx.x; i < view.count; i += kThreads) {
    const std::uint32_t after = i == 0 ? 0 : view.time_cell(out.points[i - 1].time_s) + 1;
    const std::uint32_t last = view.time_cell(out.points[i].time_s);
    for (std::uint32_t cell = after; cell <= last; ++cell) out.time_cells[cell] = i;
  }
  const std::uint32_t after =
      view.count == 0 ? 0 : view.time_cell(out.points[view.count - 1].time_s) + 1;
  for (std::uint32_t cell = after + threadIdx.x; cell <= view.time_cell_count; cell += kThreads)
    out.time_cells[cell] = view.count;
}

/// Turns counts into how many lie before; by one warp.
__device__ void sum_before(std::uint32_t* counts, std::uint32_t size) {
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint32_t before = 0;
  for (std::uint32_t begin = 0; begin < size; begin += 32) {
    const bool in = begin + lane < size;
    const std::uint32_t own = in ? counts[begin + lane] : 0;
    std::uint32_t sum = own;
    for (std::uint32_t step = 1; step < 32; step *= 2) {
      const std::uint32_t other = __shfl_up_sync(kWholeWarp, sum, step);
      if (lane >= step) sum += other;
    }
    if (in) counts[begin + lane] = before + sum - own;
    before += __shfl_sync(kWholeWarp, sum, 31);
  }
}

__device__ void arrange_u(const QueryArrays& view, const Window& out) {
  __shared__ std::uint32_t cells[QueryArrays::kUCells];
  for (std::uint32_t i = threadIdx.x; i < QueryArrays::kUCells; i += kThreads) cells[i] = 0;
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < view.count; i += kThreads)
    atomicAdd(&cells[QueryArrays::u_cell(out.points[i].u)], 1U);
  __syncthreads();
  if (threadIdx.x < 32) sum_before(cells, QueryArrays::kUCells);
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i <= QueryArrays::kUCells; i += kThreads)
    out.u_cells[i] = i == QueryArrays::kUCells ? view.count : cells[i];
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < view.count; i += kThreads) {
    const float u = out.points[i].u;
    out.u[atomicAdd(&cells[QueryArrays::u_cell(u)], 1U)] = u;
  }
}

/// @param all  the arrays of all windows
__global__ void __launch_bounds__(kThreads)
    arrange(const Peak* peaks, const std::uint32_t* begins, const WindowTimes* times,
            std::uint32_t time_stride, Window all, QueryArrays* views) {
  const std::uint32_t begin = begins[blockIdx.x];
  const WindowTimes window = times[blockIdx.x];
  const std::size_t number = blockIdx.x;
  const Window out{all.points + begin, all.salience_db + begin, all.u + begin,
                   all.time_cells + number * time_stride,
                   all.u_cells + number * (QueryArrays::kUCells + 1)};
  QueryArrays view;
  view.points = out.points;
  view.salience_db = out.salience_db;
  view.time_cells = out.time_cells;
  view.u = out.u;
  view.u_cells = out.u_cells;
  view.count = begins[blockIdx.x + 1] - begin;
  view.length_s = window.end_s - window.start_s;
  view.time_cell_count = QueryArrays::time_cells_for(view.length_s);
  if (threadIdx.x == 0) views[blockIdx.x] = view;
  for (std::uint32_t i = threadIdx.x; i < view.count; i += kThreads) {
    const Peak peak = peaks[begin + i];
    out.points[i] = make_query_point(peak, window.start_s);
    out.salience_db[i] = peak.salience_db;
  }
  __syncthreads();
  arrange_times(view, out);
  arrange_u(view, out);
}

}  // namespace

QueryViews::QueryViews(const std::shared_ptr<kernels::cuda::Context>& context,
                       const PeakBatch& peaks, std::span<const WindowTimes> times)
    : count(peaks.count),
      views(context, peaks.count),
      points(context, peaks.total),
      salience_db(context, peaks.total),
      u(context, peaks.total),
      u_cells(context, std::size_t{peaks.count} * (QueryArrays::kUCells + 1)) {
  for (const WindowTimes& window : times)
    longest_s = std::max(longest_s, window.end_s - window.start_s);
  const std::uint32_t time_stride = QueryArrays::time_cells_for(longest_s) + 1;
  time_cells = Array<std::uint32_t>(context, std::size_t{count} * time_stride);
  const Array<WindowTimes> device_times(context, times);
  const Window all{points.data(), salience_db.data(), u.data(), time_cells.data(), u_cells.data()};
  launch(*context, arrange, dim3(count), dim3(kThreads), 0, peaks.values.data(), peaks.begin.data(),
         device_times.data(), time_stride, all, views.data());
}

}  // namespace spintag::fingerprint::cuda
