// daemon/track_melodies.cpp - the melodies of the catalogue's tracks, as the store has them.
#include "daemon/track_melodies.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/json_text.h"
#include "fingerprint/melody/packed_melody.h"

namespace spintag::daemon {

using fingerprint::Melody;
using fingerprint::MelodyError;

namespace {

struct Totals {
  std::size_t melodies = 0;
  std::size_t notes = 0;
  std::size_t phrases = 0;
  double length_s = 0;  ///< of the longest
};

Totals totals_of(const std::vector<Melody>& melodies) {
  Totals totals;
  totals.melodies = melodies.size();
  for (const Melody& melody : melodies) {
    totals.notes += melody.notes.size();
    totals.phrases += melody.phrases.size();
    totals.length_s = std::max(totals.length_s, melody.length_s());
  }
  return totals;
}

std::string counted(std::size_t number, const std::string& thing) {
  return std::to_string(number) + " " + thing + (number == 1 ? "" : "s");
}

}  // namespace

std::vector<Melody> read_melodies(const db::Melodies& row) {
  const std::string whose =
      "track " + std::to_string(row.track_id) + ": its melody (" + row.method + ") ";
  if (row.method_version != fingerprint::kPackedMelodyVersion) {
    throw MelodyError(whose + "is of version " + std::to_string(row.method_version) +
                      ", this spintag reads " + std::to_string(fingerprint::kPackedMelodyVersion) +
                      ": ingest it again");
  }
  try {
    return fingerprint::unpack_melodies(row.packed);
  } catch (const MelodyError& error) {
    throw MelodyError(whose + "is " + error.what());
  }
}

void for_each_melody(db::Store& store, const std::function<void(std::int64_t, Melody&&)>& take,
                     const std::function<void(const std::string&)>& on_fault) {
  store.for_each_melodies([&](db::Melodies&& row) {
    try {
      for (Melody& melody : read_melodies(row)) take(row.track_id, std::move(melody));
    } catch (const MelodyError& error) {
      on_fault(error.what());
    }
  });
}

nlohmann::ordered_json describe_melodies(const db::Melodies& row) {
  nlohmann::ordered_json json = {{"method", row.method}};
  try {
    const Totals totals = totals_of(read_melodies(row));
    json["melodies"] = totals.melodies;
    json["notes"] = totals.notes;
    json["phrases"] = totals.phrases;
    json["length_s"] = round_to_ms(totals.length_s);
  } catch (const MelodyError& error) {
    json["error"] = error.what();
  }
  return json;
}

std::string melodies_text(const db::Melodies& row) {
  try {
    const Totals totals = totals_of(read_melodies(row));
    const std::string voices = totals.melodies == 1 ? "" : counted(totals.melodies, "voice") + ", ";
    return row.method + ": " + voices + counted(totals.notes, "note") + " in " +
           counted(totals.phrases, "phrase") + ", " + duration_text(totals.length_s);
  } catch (const MelodyError& error) {
    return error.what();
  }
}

}  // namespace spintag::daemon
