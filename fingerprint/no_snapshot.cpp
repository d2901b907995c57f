// fingerprint/no_snapshot.cpp - what a build without OpenSSL says about snapshots: only one for a
// GPU box that measures kernels is made so.
#include "fingerprint/index.h"

namespace spintag::fingerprint {

void Index::save(const std::filesystem::path& file, std::int64_t) const {
  throw IndexError(file.string() + ": this build has no OpenSSL and cannot check a snapshot");
}

Index::Loaded Index::load(const std::filesystem::path& file) {
  throw IndexError(file.string() + ": this build has no OpenSSL and cannot check a snapshot");
}

}  // namespace spintag::fingerprint
