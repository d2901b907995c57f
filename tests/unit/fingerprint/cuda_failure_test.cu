// tests/unit/fingerprint/cuda_failure_test.cu - a device without room.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fingerprint/batch_matcher.h"
#include "fingerprint/reference.h"
#include "kernels/cuda/context.cuh"
#include "tests/unit/cuda_test.h"
#include "tests/unit/fingerprint/test_music.h"

namespace spintag::fingerprint {
namespace {

using CudaFailure = CudaTest;

struct Song {
  std::vector<Peak> peaks = peaks_of(make_music(7, 12));
  PackedPeaks packed = make_reference(peaks);
  std::shared_ptr<const Index> index = Index::build(std::vector<IndexTrack>{{1, 12, packed, ""}});
  std::vector<MatchQuery> queries{{peaks, 2, 8}};
};

TEST_F(CudaFailure, AnIndexWithoutRoomIsRefusedWithItsSize) {
  const Song song;
  BatchMatcher matcher(cuda_);
  {
    constexpr std::size_t kLeft = 256 << 20;
    const kernels::cuda::Array<std::byte> taken(cuda_.shared_context(),
                                                cuda_.context().free_bytes() - kLeft);
    try {
      matcher.load(song.index);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const kernels::DeviceError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("cuda:0: the index needs "));
      EXPECT_THAT(error.what(), testing::HasSubstr("GiB"));
      EXPECT_THAT(error.what(), testing::HasSubstr("try --device cpu"));
    }
  }
  EXPECT_EQ(matcher.match(song.index, song.queries)[0].size(), 1U);  // and then there is room
}

TEST_F(CudaFailure, RunningOutOfMemoryIsAnErrorNotTheEnd) {
  EXPECT_THROW(kernels::cuda::Array<std::byte>(cuda_.shared_context(), std::size_t{1} << 60),
               kernels::DeviceError);
  const Song song;
  EXPECT_EQ(BatchMatcher(cuda_).match(song.index, song.queries)[0].size(), 1U);
}

}  // namespace
}  // namespace spintag::fingerprint
