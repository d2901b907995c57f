// fingerprint/batch_verification.cpp - one alignment after the other on the processor, all at once
// on a CUDA device.
#include "fingerprint/batch_verification.h"

#include <stdexcept>

#include "fingerprint/packed_peak.h"
#include "fingerprint/query_view.h"

namespace spintag::fingerprint {
namespace {

void check(std::span<const VerifyWindow> windows, std::span<const VerifyRequest> requests) {
  for (const VerifyRequest& request : requests) {
    if (request.window >= windows.size())
      throw std::invalid_argument("verification: there is no window " +
                                  std::to_string(request.window));
    if (request.packed.size() % PackedPeak::kBytes != 0)
      throw std::invalid_argument("packed peaks: not a whole number of peaks");
  }
}

/// Calls on_request(view of its window, reference points, request) for each.
template <class OnRequest>
void for_each_request(std::span<const VerifyWindow> windows,
                      std::span<const VerifyRequest> requests, OnRequest&& on_request) {
  QueryView view;
  const VerifyWindow* viewed = nullptr;
  for (const VerifyRequest& request : requests) {
    const VerifyWindow& window = windows[request.window];
    if (viewed != &window) view.assign(window.peaks, window.start_s, window.end_s);
    viewed = &window;
    on_request(view, reference_points(request.packed, request.fit, view.length_s()), request);
  }
}

}  // namespace

std::vector<Settled> settle_offsets(kernels::Device& device, std::span<const VerifyWindow> windows,
                                    std::span<const VerifyRequest> requests) {
  check(windows, requests);
  if (device.is_cuda()) return cuda::settle_offsets(device, windows, requests);
  std::vector<Settled> settled;
  for_each_request(windows, requests,
                   [&](const QueryView& view, const auto& reference, const VerifyRequest& request) {
                     Settled result{.fit = request.fit};
                     result.coincidences = settle_offset(view, reference, result.fit);
                     settled.push_back(result);
                   });
  return settled;
}

std::vector<Verdict> verify(kernels::Device& device, std::span<const VerifyWindow> windows,
                            std::span<const VerifyRequest> requests, bool refine) {
  check(windows, requests);
  if (device.is_cuda()) return cuda::verify(device, windows, requests, refine);
  std::vector<Verdict> verdicts;
  for_each_request(windows, requests,
                   [&](const QueryView& view, const auto& reference, const VerifyRequest& request) {
                     verdicts.push_back(verify(view, reference, request.fit, refine));
                   });
  return verdicts;
}

}  // namespace spintag::fingerprint
