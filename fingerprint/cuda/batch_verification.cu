// fingerprint/cuda/batch_verification.cu - brings windows and tracks to the device, settles or
// verifies there, and brings the answers back.
#include "fingerprint/batch_verification.h"

#include <map>

#include "fingerprint/cuda/query_views.cuh"
#include "fingerprint/cuda/verification.cuh"

namespace spintag::fingerprint::cuda {
namespace {

using kernels::cuda::Array;
using kernels::cuda::Context;

QueryViews upload(const std::shared_ptr<Context>& context, std::span<const VerifyWindow> windows) {
  std::vector<Peak> peaks;
  std::vector<std::uint32_t> begin = {0};
  std::vector<WindowTimes> times;
  for (const VerifyWindow& window : windows) {
    peaks.insert(peaks.end(), window.peaks.begin(), window.peaks.end());
    begin.push_back(static_cast<std::uint32_t>(peaks.size()));
    times.push_back({window.start_s, window.end_s});
  }
  PeakBatch batch;
  batch.values = Array<Peak>(context, peaks);
  batch.begin = Array<std::uint32_t>(context, begin);
  batch.count = static_cast<std::uint32_t>(windows.size());
  batch.total = static_cast<std::uint32_t>(peaks.size());
  return QueryViews(context, batch, times);
}

/// The requests and what they point to, on the device. A track that many ask for is there once.
struct Tasks {
  Tasks(const std::shared_ptr<Context>& context, std::span<const VerifyRequest> requests) {
    std::vector<std::byte> bytes;
    std::map<std::pair<const std::byte*, std::size_t>, std::size_t> known;
    std::vector<std::size_t> begins;
    for (const VerifyRequest& request : requests) {
      const auto [place, is_new] =
          known.try_emplace({request.packed.data(), request.packed.size()}, bytes.size());
      begins.push_back(place->second);
      if (is_new) bytes.insert(bytes.end(), request.packed.begin(), request.packed.end());
    }
    packed = Array<std::byte>(context, bytes);
    std::vector<VerifyTask> all;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      all.push_back({requests[i].window, static_cast<std::uint32_t>(requests[i].packed.size()),
                     packed.data() + begins[i], requests[i].fit});
    }
    tasks = Array<VerifyTask>(context, all);
  }
  Array<std::byte> packed;
  Array<VerifyTask> tasks;
};

void check_density(const Context& context, int counted) {
  if (counted != kTooDense) return;
  throw kernels::DeviceError(
      context.name() + ": a track has more peaks in a window than a reference keeps (try cpu)");
}

}  // namespace

std::vector<Settled> settle_offsets(kernels::Device& device, std::span<const VerifyWindow> windows,
                                    std::span<const VerifyRequest> requests) {
  const auto& context = device.shared_context();
  context->make_current();
  const QueryViews views = upload(context, windows);
  const Tasks tasks(context, requests);
  auto settled = settle_offsets(context, views, tasks.tasks, requests.size()).download();
  for (const Settled& one : settled) check_density(*context, one.coincidences);
  return settled;
}

std::vector<Verdict> verify(kernels::Device& device, std::span<const VerifyWindow> windows,
                            std::span<const VerifyRequest> requests, bool refine) {
  const auto& context = device.shared_context();
  context->make_current();
  const QueryViews views = upload(context, windows);
  const Tasks tasks(context, requests);
  auto verdicts = verify(context, views, tasks.tasks, requests.size(), refine).download();
  for (const Verdict& verdict : verdicts) check_density(*context, verdict.expected);
  return verdicts;
}

}  // namespace spintag::fingerprint::cuda
