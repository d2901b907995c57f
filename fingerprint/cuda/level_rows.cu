// fingerprint/cuda/level_rows.cu - levels of many recordings in device memory.
#include "fingerprint/cuda/level_rows.cuh"

namespace spintag::fingerprint::cuda {

using Profile = BroadcastProfile;
using kernels::cuda::Array;

LevelRows make_level_rows(const std::shared_ptr<kernels::cuda::Context>& context,
                          const float* samples,
                          std::span<const kernels::cuda::SignalPlace> places) {
  const kernels::cuda::StftPlan plan(context, {.frame_samples = Profile::frame_samples,
                                               .hop_samples = Profile::hop_samples,
                                               .first_bin = BinRange::first,
                                               .bins = LevelRows::kColumns,
                                               .scale = kernels::PowerScale::kFullScaleSine});
  const auto layout = plan.lay_out(places);
  LevelRows rows{.levels = Array<float>(context, std::size_t{layout.rows()} * LevelRows::kStride),
                 .first_row = layout.first_row};
  plan.run(samples, layout, rows.levels.data(), LevelRows::kStride, Profile::power_offset);
  return rows;
}

SecondTable::SecondTable(const std::shared_ptr<kernels::cuda::Context>& context,
                         const LevelRows& rows) {
  std::vector<RecordingRows> table;
  first_second.push_back(0);
  for (std::size_t r = 0; r + 1 < rows.first_row.size(); ++r) {
    const std::uint32_t frames = rows.first_row[r + 1] - rows.first_row[r];
    table.push_back(
        {.first_row = rows.first_row[r], .frames = frames, .first_second = first_second.back()});
    const std::int64_t seconds = frames == 0 ? 0 : second_of(frames - 1) + 1;
    first_second.push_back(first_second.back() + static_cast<std::uint32_t>(seconds));
  }
  table.push_back(
      {.first_row = rows.first_row.back(), .frames = 0, .first_second = first_second.back()});
  recordings = Array<RecordingRows>(context, table);
}

}  // namespace spintag::fingerprint::cuda
