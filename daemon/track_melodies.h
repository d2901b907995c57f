// daemon/track_melodies.h - the melodies of the catalogue's tracks, as the store has them.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "db/store.h"
#include "fingerprint/melody/melody.h"

namespace spintag::daemon {

/// Melodies of a row, in its order.
/// @throws fingerprint::MelodyError naming the track, and what is wrong: the row is damaged, or of
/// another version of spintag
std::vector<fingerprint::Melody> read_melodies(const db::Melodies& row);

/// Every melody of the catalogue; a row that cannot be read is told of, and left out.
/// @throws db::StoreError
void for_each_melody(db::Store& store,
                     const std::function<void(std::int64_t track_id, fingerprint::Melody&&)>& take,
                     const std::function<void(const std::string& fault)>& on_fault);

/// {"method":"notes","melodies":1,"notes":132,"phrases":6,"length_s":48.0}, or "error" after the
/// method.
nlohmann::ordered_json describe_melodies(const db::Melodies& row);

/// "notes: 132 notes in 6 phrases, 48.0 s", for people.
std::string melodies_text(const db::Melodies& row);

}  // namespace spintag::daemon
