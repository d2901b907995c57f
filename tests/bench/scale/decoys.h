// tests/bench/scale/decoys.h - synthetic songs beside real tracks in one index: a tag that names a
// decoy is false.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "fingerprint/index.h"
#include "tests/bench/scale/catalogue.h"

namespace spintag::bench {

/// What `spintag identify --index` says of decoy `number`: a JSON object whose source is
/// "decoy-000123".
std::string decoy_metadata(std::size_t number);

/// The id of decoy 0, the others follow: one beyond the highest of `real`, at least 1.
fingerprint::TrackId first_decoy_id(const fingerprint::Index& real);

/// Every track of `real` as it is, and songs 0 to count - 1 of the catalogue. At the peak a song
/// takes about 55 KB, then 31 KB; shards are built one after the other.
/// @param threads  0 = one for each core; the index is the same
/// @throws fingerprint::IndexError if `real` leaves no room for the ids
std::shared_ptr<const fingerprint::Index> with_decoys(const fingerprint::Index& real,
                                                      const Catalogue& catalogue, std::size_t count,
                                                      unsigned threads);

}  // namespace spintag::bench
