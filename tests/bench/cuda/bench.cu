// tests/bench/cuda/bench.cu - timing by device events, and the table that bench_cuda prints.
#include "tests/bench/cuda/bench.cuh"

#include <cstdint>

namespace spintag::bench {

Bench::Bench(std::shared_ptr<kernels::cuda::Context> context, bool quick)
    : context_(std::move(context)), quick_(quick) {
  context_->make_current();
  copy_bandwidth_ = measure_copy();
  std::printf("# copy on this device: %.2f TB/s, reads and writes counted\n",
              copy_bandwidth_ * 1e-12);
  std::printf("%-44s %-34s %10s  %-22s %s\n", "what", "size", "median ms", "achieved",
              "share of bound");
}

double Bench::milliseconds(const std::function<void()>& work, int repeats) const {
  if (quick_) repeats = 3;
  const auto check = [this](cudaError_t status) { context_->check(status, "timing"); };
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  for (int i = 0; i < 3; ++i) work();
  std::vector<float> times;
  for (int i = 0; i < repeats; ++i) {
    check(cudaEventRecord(begin, context_->stream()));
    work();
    check(cudaEventRecord(end, context_->stream()));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(ms);
  }
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
  const auto middle = times.begin() + repeats / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

void Bench::memory_row(const std::string& what, const std::string& size, double ms,
                       double bytes) const {
  const double rate = bytes / (ms * 1e-3);
  char achieved[64];
  std::snprintf(achieved, sizeof achieved, "%.2f TB/s", rate * 1e-12);
  std::printf("%-44s %-34s %10.4f  %-22s %.0f %% of copy\n", what.c_str(), size.c_str(), ms,
              achieved, 100 * rate / copy_bandwidth_);
  std::fflush(stdout);
}

void Bench::rate_row(const std::string& what, const std::string& size, double ms, double amount,
                     const std::string& unit, const std::string& remark) const {
  char achieved[64];
  std::snprintf(achieved, sizeof achieved, "%.4g %s", amount / (ms * 1e-3), unit.c_str());
  std::printf("%-44s %-34s %10.4f  %-22s %s\n", what.c_str(), size.c_str(), ms, achieved,
              remark.c_str());
  std::fflush(stdout);
}

double Bench::measure_copy() const {
  const std::size_t bytes = quick_ ? std::size_t{64} << 20 : std::size_t{4} << 30;
  kernels::cuda::Array<std::uint8_t> from(context_, bytes);
  kernels::cuda::Array<std::uint8_t> to(context_, bytes);
  from.fill_bytes(0x5A);
  const double ms = milliseconds([&] {
    context_->check(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice,
                                    context_->stream()),
                    "copying");
  });
  return 2.0 * static_cast<double>(bytes) / (ms * 1e-3);
}

}  // namespace spintag::bench
