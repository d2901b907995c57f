// tests/eval/alignment_features.cpp - what the confidence of the best alignments is made of, for
// many clips whose truth is known; fit_confidence.py fits it.
//
// usage: spintag_alignment_features CATALOGUE [options] > features.csv
//   CATALOGUE          text file, one recording a line, relative to itself: what is indexed
//   --clips FILE       a results.csv that evaluate.py wrote, its clips in clips/ beside it; or
//                      a text file, one clip a line, none of a recording in the catalogue
//   --left-out LIST    recordings that are not in the catalogue, to be cut into windows
//   --folds N          windows of the catalogue itself, each looked up in an index without its own
//                      recording: N times another N-th of the recordings is left out
//   --windows L:S,...  windows of L seconds, one each S seconds (default 10:15,5:15,2.5:60)
//   --peaks FILE       writes what the chance to find a peak is fitted on, of right alignments
//   --jobs N           threads (default 1)
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "daemon/csv.h"
#include "fingerprint/account.h"
#include "fingerprint/index.h"
#include "fingerprint/matcher.h"
#include "fingerprint/profile.h"
#include "fingerprint/query_view.h"
#include "fingerprint/reference.h"
#include "tests/eval/labelled_clips.h"

namespace {

namespace fp = spintag::fingerprint;
namespace fs = std::filesystem;
using namespace spintag::eval;
using spintag::daemon::csv_field;

constexpr std::size_t kAlignments = 3;  ///< of a clip that are told

struct Options {
  fs::path catalogue;
  fs::path clips;
  fs::path left_out;
  std::size_t folds = 0;
  std::vector<Window> windows = {{10, 15}, {5, 15}, {2.5, 60}};
  fs::path peaks;
  unsigned jobs = 1;
};

/// Looks clips up in an index whose track ids are places in `recordings`.
class Survey {
 public:
  Survey(const std::vector<Recording>& recordings, const Options& options)
      : recordings_(recordings), options_(options), matchers_(options.jobs) {
    if (options.peaks.empty()) return;
    peaks_.open(options.peaks);
    if (!peaks_) throw std::runtime_error(options.peaks.string() + ": cannot be written");
    peaks_ << "source,salience_db,masker_db,loss_around_db,found\n";
  }

  void print(const fp::Index& index, const std::vector<Clip>& clips) {
    std::vector<std::string> rows(clips.size());
    std::vector<std::string> peaks(clips.size());
    for_all(clips.size(), options_.jobs, [&](std::size_t i, unsigned thread) {
      look_up(index, clips[i], matchers_[thread], rows[i], peaks[i]);
    });
    for (const std::string& text : rows) std::fputs(text.c_str(), stdout);
    for (const std::string& text : peaks) peaks_ << text;
  }

 private:
  void look_up(const fp::Index& index, const Clip& clip, fp::Matcher& matcher, std::string& rows,
               std::string& peaks) const {
    const Recording own = clip.recording ? Recording{} : hear(clip.file);
    const Recording& recording = clip.recording ? *clip.recording : own;
    const double length_s = clip.length_s > 0 ? clip.length_s : recording.duration_s;
    const double end_s = clip.start_s + length_s;
    fp::MatchOptions wanted;
    wanted.min_confidence = 0;
    wanted.max_matches = kAlignments;
    const auto found = matcher.match(index, recording.sound.heard(), clip.start_s, end_s, wanted);
    std::vector<fp::Peak> strongest;
    fp::select_strongest(recording.sound.peaks, clip.start_s, end_s,
                         fp::BroadcastProfile::verify_peaks_per_s, strongest);
    fp::QueryView view;
    view.assign(strongest, clip.start_s, end_s, &recording.sound.levels);
    std::ostringstream head;
    head << csv_field(clip.name) << ',' << csv_field(clip.condition) << ',' << length_s << ','
         << csv_field(clip.source) << ',' << csv_field(clip.truth) << ',' << clip.truth_offset_s
         << ',' << index.track_count() << ',';
    if (found.empty()) rows = head.str() + "0,,0,0,0,0,0,0,0,0,0,0,1,1,0,0\n";
    for (std::size_t rank = 0; rank < found.size(); ++rank)
      add(clip, head.str(), rank, found[rank], view, rows, peaks);
  }

  void add(const Clip& clip, const std::string& head, std::size_t rank,
           const fp::Alignment& alignment, const fp::QueryView& view, std::string& rows,
           std::string& peaks) const {
    const Recording& track = recordings_[static_cast<std::size_t>(alignment.track_id)];
    const fp::Fit fit{alignment.track_start_s, alignment.tempo, alignment.pitch};
    const auto reference = fp::reference_points(track.packed, fit, view.length_s());
    const fp::Account account = fp::account_for(view, reference, fit.pitch, fit);
    const bool right = is_right(clip, track.name(), fit.offset_s);
    char text[512];
    std::snprintf(text, sizeof text,
                  ",%d,%.3f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.3f,%d,%.5f,%.5f,%.4f,%.12g\n",
                  right ? 1 : 0, alignment.score, alignment.found_share, account.masking,
                  account.missing_share, account.deficit.value_or(0), account.explained_share,
                  account.foreign_per_s, account.foreign_db, account.moments, fit.tempo, fit.pitch,
                  fit.offset_s, alignment.confidence);
    rows += head + std::to_string(rank) + ',' + csv_field(track.name()) + text;
    if (options_.peaks.empty() || !right || rank > 0 || alignment.confidence <= 0) return;
    for (const fp::ExpectedPeak& peak : fp::expected_peaks(view, reference, fit.pitch, fit)) {
      std::snprintf(text, sizeof text, ",%.2f,%.2f,%.2f,%d\n", peak.salience_db, peak.masker_db,
                    peak.loss_around_db, peak.found ? 1 : 0);
      peaks += csv_field(clip.source) + text;
    }
  }

  const std::vector<Recording>& recordings_;
  const Options& options_;
  std::vector<fp::Matcher> matchers_;  ///< one a thread
  std::ofstream peaks_;
};

/// Without every `folds`-th from `fold` on; of all if there are no folds.
std::shared_ptr<const fp::Index> index_of(const std::vector<Recording>& recordings,
                                          std::size_t folds, std::size_t fold) {
  std::vector<fp::IndexTrack> tracks;
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    if (folds == 0 || i % folds != fold)
      tracks.push_back({static_cast<fp::TrackId>(i), recordings[i].duration_s, recordings[i].packed,
                        recordings[i].name()});
  }
  return fp::Index::build(tracks);
}

void survey(const Options& options) {
  const std::vector<Recording> recordings = read_recordings(options.catalogue, options.jobs);
  const std::vector<Recording> unknown = options.left_out.empty()
                                             ? std::vector<Recording>{}
                                             : read_recordings(options.left_out, options.jobs);
  std::printf(
      "clip,condition,length_s,source,truth,truth_offset_s,tracks,rank,track,right,score,"
      "found_share,masking,missing_share,deficit,explained_share,foreign_per_s,foreign_db,moments,"
      "tempo,pitch,"
      "offset_s,"
      "confidence\n");
  Survey survey(recordings, options);
  std::vector<Clip> clips;
  if (!options.clips.empty()) clips = read_clips(options.clips);
  for (const Recording& recording : unknown) add_windows(recording, options.windows, clips);
  if (!clips.empty()) survey.print(*index_of(recordings, 0, 0), clips);
  for (std::size_t fold = 0; fold < options.folds; ++fold) {
    clips.clear();
    for (std::size_t i = fold; i < recordings.size(); i += options.folds)
      add_windows(recordings[i], options.windows, clips);
    survey.print(*index_of(recordings, options.folds, fold), clips);
  }
}

std::vector<Window> windows_of(const std::string& text) {
  std::vector<Window> windows;
  for (const std::string& part : split(text, ',')) {
    const auto numbers = split(part, ':');
    if (numbers.size() != 2) throw std::invalid_argument("--windows: " + part + " is not L:S");
    windows.push_back({std::stod(numbers[0]), std::stod(numbers[1])});
    if (!(windows.back().length_s > 0 && windows.back().every_s > 0))
      throw std::invalid_argument("--windows: " + part + " never ends");
  }
  return windows;
}

Options options_of(const std::vector<std::string>& words) {
  if (words.size() % 2 == 0) throw std::invalid_argument("usage: CATALOGUE [--option VALUE]...");
  Options options;
  options.catalogue = words[0];
  for (std::size_t i = 1; i < words.size(); i += 2) {
    const std::string& name = words[i];
    const std::string& value = words[i + 1];
    if (name == "--clips") {
      options.clips = value;
    } else if (name == "--left-out") {
      options.left_out = value;
    } else if (name == "--folds") {
      options.folds = std::stoul(value);
      if (options.folds == 1) throw std::invalid_argument("--folds 1 leaves out everything");
    } else if (name == "--windows") {
      options.windows = windows_of(value);
    } else if (name == "--peaks") {
      options.peaks = value;
    } else if (name == "--jobs") {
      options.jobs = std::max(1U, static_cast<unsigned>(std::stoul(value)));
    } else {
      throw std::invalid_argument(name + " is no option");
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    survey(options_of({argv + 1, argv + argc}));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "spintag_alignment_features: %s\n", error.what());
    return 1;
  }
}
