// kernels/sliding_max.cpp - the maximum of a spectrogram over a footprint around every cell.
#include "kernels/sliding_max.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "kernels/line_max.h"
#include "kernels/multiversion.h"
#include "kernels/padded_rows.h"

namespace spintag::kernels {
namespace {

[[gnu::always_inline]] inline float larger(float a, float b) { return a > b ? a : b; }

/// NaN becomes kNothing: it compares as not larger.
SPINTAG_CLONES void copy_without_nan(const float* __restrict in, float* __restrict out,
                                     std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = larger(in[i], kNothing);
}

/// A cell, its two neighbours in its row and its two neighbours in its column.
SPINTAG_CLONES void cross(const float* __restrict below, const float* __restrict row,
                          const float* __restrict above, float* __restrict out, std::size_t count) {
  const float* __restrict left = row - 1;
  const float* __restrict right = row + 1;
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = larger(larger(larger(below[i], above[i]), row[i]), larger(left[i], right[i]));
  }
}

/// out[i] = max of in[i], in[i + a], in[i + b], in[i + c].
SPINTAG_CLONES void max_of_four(const float* __restrict in, std::size_t a, std::size_t b,
                                std::size_t c, float* __restrict out, std::size_t count) {
  const float* __restrict in_a = in + a;
  const float* __restrict in_b = in + b;
  const float* __restrict in_c = in + c;
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = larger(larger(in[i], in_a[i]), larger(in_b[i], in_c[i]));
  }
}

/// into[i] = max of itself, a[i] and b[i].
SPINTAG_CLONES void take_max_of_two(float* __restrict into, const float* __restrict a,
                                    const float* __restrict b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) into[i] = larger(into[i], larger(a[i], b[i]));
}

/// What the three engines below share: `push` takes a row of `bins` cells (nullptr: a row of
/// nothing) and gives the maxima over the last footprint.frames() rows, good until the next call;
/// nullptr as long as fewer have come.

class BoxMax {
 public:
  BoxMax(const Footprint& footprint, std::size_t bins)
      : bins_(bins),
        window_(footprint.bins()),
        width_(bins + window_ - 1),
        lines_(footprint.frames(), 0, width_),
        rows_(3, width_) {}

  const float* push(const float* frame) {
    float* padded = rows_.row(0);
    if (frame == nullptr) {
      std::fill_n(padded + window_ / 2, bins_, kNothing);
    } else {
      copy_without_nan(frame, padded + window_ / 2, bins_);
    }
    const float* row = lines_.push(padded);
    return row == nullptr ? nullptr : along_row(row);
  }

  void reset() { lines_.reset(); }

 private:
  /// Maximum of each window of the row, by windows that grow four-fold and at last overlap.
  const float* along_row(const float* row) {
    std::size_t length = 1;
    std::size_t target = 1;
    while (length < window_) {
      const std::size_t next = std::min(4 * length, window_);
      const std::size_t last = next - length;  // where the last of the overlapping parts begins
      float* out = rows_.row(target);
      max_of_four(row, std::min(length, last), std::min(2 * length, last), last, out,
                  width_ - next + 1);
      row = out;
      target = 3 - target;
      length = next;
    }
    return row;
  }

  std::size_t bins_;
  std::size_t window_;
  std::size_t width_;
  LineMax lines_;
  PaddedRows rows_;  ///< the padded frame, and two to grow windows in
};

/// A diamond of radius R is a rising line of R cells, dilated by a falling line of R cells, dilated
/// by a cross: the two lines give every second cell of the diamond of radius R - 1, those whose
/// distance from its centre has the parity of its corners, and the cross (the cell and its four
/// neighbours) fills the cells between and adds the rim.
class DiamondMax {
 public:
  DiamondMax(const Footprint& footprint, std::size_t bins)
      : bins_(bins),
        radius_(footprint.anchor_frame()),
        margin_(radius_ + 1),
        rising_(std::max<std::size_t>(radius_, 1), 1, bins + 2 * margin_),
        falling_(std::max<std::size_t>(radius_, 1), -1, bins + 2 * margin_),
        padded_(1, bins + 2 * margin_),
        lattice_(3, bins + 2),
        out_(1, bins) {}

  const float* push(const float* frame) {
    float* cells = padded_.row(0) + margin_;
    if (frame == nullptr) {
      std::fill_n(cells, bins_, kNothing);
    } else {
      copy_without_nan(frame, cells, bins_);
    }
    if (radius_ == 0) return cells;
    const float* row = rising_.push(padded_.row(0));
    if (row != nullptr) row = falling_.push(row);
    if (row == nullptr) return nullptr;
    // Only now does the row's centre matter: falling_ gives what begins at bin b, which is what
    // centres on it.
    std::copy_n(row + margin_ - 1, bins_ + 2, lattice_.row(newest_));
    const float* below = lattice_.row((newest_ + 1) % 3) + 1;
    const float* centre = lattice_.row((newest_ + 2) % 3) + 1;
    cross(below, centre, lattice_.row(newest_) + 1, out_.row(0), bins_);
    newest_ = (newest_ + 1) % 3;
    if (lattices_ < 3) ++lattices_;
    return lattices_ < 3 ? nullptr : out_.row(0);
  }

  void reset() {
    rising_.reset();
    falling_.reset();
    lattice_.clear();
    newest_ = 0;
    lattices_ = 0;
  }

 private:
  std::size_t bins_;
  std::size_t radius_;
  std::size_t margin_;  ///< cells of kNothing on each side of a row
  LineMax rising_;
  LineMax falling_;
  PaddedRows padded_;
  PaddedRows lattice_;        ///< the last three rows of both lines' maximum, bins -1 to bins
  std::size_t newest_ = 0;    ///< where in lattice_ the next row goes
  std::size_t lattices_ = 0;  ///< how many of its rows are filled
  PaddedRows out_;
};

/// Any footprint, as runs of neighbouring bins: the maximum over a run is that of two windows of a
/// power of two that overlap, and the windows of every length are made once a row.
class MaskMax {
 public:
  MaskMax(const Footprint& footprint, std::size_t bins)
      : bins_(bins),
        frames_(footprint.frames()),
        width_(bins + footprint.bins()),
        offset_(footprint.anchor_bin()) {
    std::size_t longest = 0;
    for (std::size_t frame = 0; frame < frames_; ++frame) {
      for (std::size_t bin = 0; bin < footprint.bins(); ++bin) {
        if (!footprint.contains(frame, bin)) continue;
        const std::size_t first = bin;
        while (bin < footprint.bins() && footprint.contains(frame, bin)) ++bin;
        const std::size_t length = bin - first;
        std::size_t level = 0;
        while ((std::size_t{2} << level) <= length) ++level;
        runs_.push_back({frame, level, first, bin - (std::size_t{1} << level)});
        longest = std::max(longest, level);
      }
    }
    levels_ = longest + 1;
    windows_.emplace(frames_ * levels_, width_);
    out_.emplace(1, bins);
  }

  const float* push(const float* frame) {
    float* row = windows_->row(newest_ * levels_);
    if (frame == nullptr) {
      std::fill_n(row + offset_, bins_, kNothing);
    } else {
      copy_without_nan(frame, row + offset_, bins_);
    }
    for (std::size_t level = 1; level < levels_; ++level) {
      const std::size_t half = std::size_t{1} << (level - 1);
      float* next = windows_->row(newest_ * levels_ + level);
      max_of_four(row, half, half, half, next, width_ - 2 * half + 1);
      row = next;
    }
    newest_ = (newest_ + 1) % frames_;
    if (rows_ < frames_) ++rows_;
    return rows_ < frames_ ? nullptr : join();
  }

  void reset() {
    newest_ = 0;
    rows_ = 0;
  }

 private:
  struct Run {
    std::size_t frame;
    std::size_t level;   ///< its windows are 2^level long
    std::size_t first;   ///< where the first begins
    std::size_t second;  ///< where the second begins
  };

  const float* join() {
    float* out = out_->row(0);
    std::fill_n(out, bins_, kNothing);
    for (const Run& run : runs_) {
      // newest_ is now the oldest row, the footprint's first.
      const float* windows = windows_->row((newest_ + run.frame) % frames_ * levels_ + run.level);
      take_max_of_two(out, windows + run.first, windows + run.second, bins_);
    }
    return out;
  }

  std::size_t bins_;
  std::size_t frames_;
  std::size_t width_;
  std::size_t offset_;  ///< where bin 0 lies in a padded row
  std::size_t levels_ = 0;
  std::vector<Run> runs_;
  std::optional<PaddedRows> windows_;  ///< a ring of the footprint's rows, each at every level
  std::optional<PaddedRows> out_;
  std::size_t newest_ = 0;  ///< where in the ring the next row goes
  std::size_t rows_ = 0;    ///< rows in the ring
};

using Engine = std::variant<BoxMax, DiamondMax, MaskMax>;

Engine make_engine(const Footprint& footprint, std::size_t bins) {
  switch (footprint.shape()) {
    case Footprint::Shape::kBox:
      return BoxMax(footprint, bins);
    case Footprint::Shape::kDiamond:
      return DiamondMax(footprint, bins);
    case Footprint::Shape::kMask:
      break;
  }
  return MaskMax(footprint, bins);
}

}  // namespace

/// Before the first frame and after the last the engine sees rows of nothing, as many as the
/// footprint reaches.
struct SlidingMax::State {
  State(const Footprint& footprint, std::size_t bins)
      : engine(make_engine(footprint, bins)),
        lead_in(footprint.anchor_frame()),
        look_ahead(footprint.look_ahead()) {}

  const float* feed(const float* frame) {
    return std::visit([frame](auto& e) { return e.push(frame); }, engine);
  }

  Engine engine;
  std::size_t lead_in;
  std::size_t look_ahead;
  bool started = false;
  std::size_t owed = 0;  ///< frames that came and whose maxima were not given out
};

SlidingMax::SlidingMax(const Footprint& footprint, std::size_t bins)
    : bins_(bins), state_(std::make_unique<State>(footprint, bins)) {}

SlidingMax::~SlidingMax() = default;
SlidingMax::SlidingMax(SlidingMax&&) noexcept = default;
SlidingMax& SlidingMax::operator=(SlidingMax&&) noexcept = default;

std::size_t SlidingMax::look_ahead() const { return state_->look_ahead; }

void SlidingMax::reset() {
  std::visit([](auto& e) { e.reset(); }, state_->engine);
  state_->started = false;
  state_->owed = 0;
}

const float* SlidingMax::step(const float* frame) {
  if (!state_->started) {
    state_->started = true;
    for (std::size_t i = 0; i < state_->lead_in; ++i) state_->feed(nullptr);
  }
  ++state_->owed;
  const float* maxima = state_->feed(frame);
  if (maxima != nullptr) --state_->owed;
  return maxima;
}

const float* SlidingMax::drain() {
  while (state_->owed > 0) {
    if (const float* maxima = state_->feed(nullptr)) {
      --state_->owed;
      return maxima;
    }
  }
  return nullptr;
}

namespace cpu {
namespace {

void sliding_max(SpectrogramView spectrogram, const Footprint& footprint, std::span<float> maxima) {
  SlidingMax filter(footprint, spectrogram.bins);
  float* next = maxima.data();
  const auto keep = [&next](std::span<const float> row) {
    next = std::copy(row.begin(), row.end(), next);
  };
  for (std::size_t frame = 0; frame < spectrogram.frames; ++frame) {
    filter.push({spectrogram.frame(frame), spectrogram.bins}, keep);
  }
  filter.finish(keep);
}

}  // namespace
}  // namespace cpu

void sliding_max(Device& device, SpectrogramView spectrogram, const Footprint& footprint,
                 std::span<float> maxima) {
  if (maxima.size() < spectrogram.frames * spectrogram.bins) {
    throw std::invalid_argument("room for " + std::to_string(maxima.size()) + " maxima of " +
                                std::to_string(spectrogram.frames) + " x " +
                                std::to_string(spectrogram.bins) + " cells");
  }
  if (device.is_cuda()) {
    cuda::sliding_max(device, spectrogram, footprint, maxima);
  } else {
    cpu::sliding_max(spectrogram, footprint, maxima);
  }
}

}  // namespace spintag::kernels
