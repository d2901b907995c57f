// tests/unit/fingerprint/cuda_extraction_test.cpp - peaks from a CUDA device against PeakExtractor.
#include "fingerprint/batch_extractor.h"
#include "tests/unit/cuda_test.h"

namespace spintag::fingerprint {
namespace {

using CudaExtraction = CudaTest;

TEST_F(CudaExtraction, NoRecordingsGiveNoLists) { EXPECT_TRUE(extract_peaks(cuda_, {}).empty()); }

}  // namespace
}  // namespace spintag::fingerprint
