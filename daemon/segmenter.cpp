// daemon/segmenter.cpp - names the time in which no known track is on air.
#include "daemon/segmenter.h"

#include <algorithm>
#include <utility>

namespace spintag::daemon {

void Segmenter::second(const SoundSecond& second, bool matched, double play_start,
                       std::vector<SegmentEdge>& edges) {
  const double end_s = second.start_s + 1;
  if (second.sound == Sound::silence) {
    other_kind_since_.reset();
    if (!silent_since_) silent_since_ = second.start_s;
    if (open_kind() != "silence" && end_s - *silent_since_ >= params_.silence_s) {
      begin("silence", *silent_since_, edges);
      unmatched_since_.reset();
    }
    return;
  }
  silent_since_.reset();
  if (open_kind() == "silence") close(second.start_s, edges);
  if (matched) {
    if (open_) close(std::max(play_start, open_->start_s), edges);
    unmatched_since_.reset();
    other_kind_since_.reset();
    return;
  }
  if (!unmatched_since_) unmatched_since_ = second.start_s;
  const std::string kind = to_string(second.sound);
  if (!open_) {
    if (end_s - *unmatched_since_ >= params_.unmatched_s) begin(kind, *unmatched_since_, edges);
  } else if (open_->kind == kind) {
    other_kind_since_.reset();
  } else {
    if (!other_kind_since_) other_kind_since_ = second.start_s;
    if (end_s - *other_kind_since_ >= params_.change_s) begin(kind, *other_kind_since_, edges);
  }
}

void Segmenter::close(double at_s, std::vector<SegmentEdge>& edges) {
  if (open_) {
    open_->what = SegmentEdge::What::ended;
    open_->end_s = std::max(at_s, open_->start_s);
    edges.push_back(*open_);
    open_.reset();
  }
  silent_since_.reset();
  unmatched_since_.reset();
  other_kind_since_.reset();
}

void Segmenter::begin(std::string kind, double start_s, std::vector<SegmentEdge>& edges) {
  const auto unmatched = unmatched_since_;
  const auto silent = silent_since_;
  close(start_s, edges);
  unmatched_since_ = unmatched;
  silent_since_ = silent;
  open_ = SegmentEdge{SegmentEdge::What::begun, std::move(kind), start_s, start_s};
  edges.push_back(*open_);
}

}  // namespace spintag::daemon
