// fingerprint/account.cpp - which peaks are missing and what may hide them; which are foreign.
//
// chance_to_find() is a fit to true alignments of real music (tests/eval/fit_confidence.py); the
// reaches were chosen among few that were tried (EXPERIMENTS.md).
#include "fingerprint/account.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "fingerprint/reference.h"
#include "fingerprint/verification_math.h"

namespace spintag::fingerprint {
namespace {

using namespace verification;

// A query peak is the track's when it stands so near to a place where the track has one.
constexpr double kOwnS = 0.026;
constexpr double kOwnU = 1.05;
// So near to one of the query's strongest, the track's may be a neighbour of the same note.
constexpr double kNoteS = 0.040;
constexpr double kNoteU = 2.0;
// A peak hides weaker ones within the reach of its lobe in the spectrogram.
constexpr double kMaskS = 0.100;
constexpr double kMaskHz = 34;
// The loss of salience is told by the track's peaks around, or failing that by those of the moment.
constexpr double kAroundS = 2.3;
constexpr double kAroundHz = 200;
constexpr double kMomentS = 0.7;
constexpr double kFadeS = 1.5;  ///< a song that fades in or out loses another amount so soon
constexpr std::size_t kFewestAround = 4;
constexpr std::size_t kFewestAtAll = 5;
constexpr double kUsualLossDb = 3;
// What a query cannot have: peaks of which it holds no whole frame, and those above its band, which
// ends a little above nearly all of its peaks.
constexpr double kEndS = 0.080;
constexpr double kInBand = 0.985;
constexpr double kAboveU = 3.0;
// A level that is lacking is told by what is beyond a deviation or so of those of right tracks.
constexpr double kUsualDeficitDb = 5;
constexpr double kLargestDeficitDb = 15;
constexpr double kFewestKnown = 0.9;     ///< of the peaks, to be told; a stream forgets its levels
constexpr double kMomentApartS = 0.030;  ///< later than that after a peak begins another moment
constexpr int kStrongestPerS = 12;       ///< of the query, as dense as a reference
constexpr double kForeignDb = 15;        ///< from here on a peak counts as strong
constexpr double kSurest = 0.98;         ///< chance to find a peak that nothing hides ...
constexpr double kLeastSure = 0.03;      ///< ... and one that is hidden

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Bookkeeper {
 public:
  Bookkeeper(const QueryView& query, std::span<const ReferencePoint> reference,
             double reference_pitch, const Fit& fit)
      : query_(query), ln_pitch_change_(std::log(fit.pitch / reference_pitch)) {
    std::vector<Coincidence> coincidences;
    find_coincidences(query, reference, reference_pitch, fit, coincidences);
    const auto inside = points_inside(reference, fit, query.length_s());
    for (std::size_t i = 0; i < coincidences.size(); ++i) {  // none in an empty query
      expected_.push_back({.time_s = coincidences[i].query_time_s,
                           .freq_hz = std::exp(inside[i].ln_freq) * fit.pitch,
                           .u = inside[i].u,
                           .salience_db = inside[i].salience_db,
                           .found = coincidences[i].weight > 0,
                           .loss_db = coincidences[i].loss_db});
    }
    for (const QueryPoint& point : query.points()) {
      freq_hz_.push_back(std::exp(point.ln_freq));
      own_.push_back(is_near(point, kOwnS, kOwnU));
    }
    const double usual_db = usual_loss();
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      expected_[i].masker_db = masker_db(expected_[i]);
      expected_[i].loss_around_db = loss_around(i, usual_db);
      expected_[i].deficit_db = deficit_db(i);
    }
  }

  std::vector<ExpectedPeak> take_expected() { return std::move(expected_); }

  Account account() const {
    Account account;
    if (expected_.empty()) return account;
    const std::vector<ExpectedPeak> possible = possible_peaks();
    account.masking = masking(possible);
    account.missing_share = missing_share(possible);
    account.deficit = deficit(possible);
    account.moments = moments();
    add_foreign(account);
    return account;
  }

 private:
  /// Whether the track has a peak, found, so near to a query point.
  bool is_near(const QueryPoint& point, double seconds, double units) const {
    const double u = point.u - point.slope * ln_pitch_change_;
    const auto first = std::lower_bound(
        expected_.begin(), expected_.end(), point.time_s - seconds,
        [](const ExpectedPeak& expected, double time_s) { return expected.time_s < time_s; });
    for (auto at = first; at != expected_.end() && at->time_s < point.time_s + seconds; ++at) {
      if (at->found && std::abs(u - at->u) < units) return true;
    }
    return false;
  }

  /// Those that the query can have.
  std::vector<ExpectedPeak> possible_peaks() const {
    std::vector<ExpectedPeak> possible;
    if (query_.points().empty()) return possible;
    const double highest_u = band_u();
    std::copy_if(expected_.begin(), expected_.end(), std::back_inserter(possible),
                 [&](const ExpectedPeak& e) {
                   return e.time_s >= kEndS && e.time_s <= query_.length_s() - kEndS &&
                          frequency_to_u(e.freq_hz) <= highest_u;
                 });
    return possible;
  }

  static double missing_share(std::span<const ExpectedPeak> possible) {
    const auto missing = std::count_if(possible.begin(), possible.end(),
                                       [](const ExpectedPeak& e) { return !e.found; });
    return static_cast<double>(missing) / std::max(1.0, static_cast<double>(possible.size()));
  }

  static std::optional<double> deficit(std::span<const ExpectedPeak> possible) {
    double sum_db = 0;
    double known = 0;
    for (const ExpectedPeak& e : possible) {
      sum_db += e.deficit_db.value_or(0);
      known += e.deficit_db ? 1 : 0;
    }
    if (known == 0 || known < kFewestKnown * static_cast<double>(possible.size()))
      return std::nullopt;
    return std::sqrt(sum_db / known);
  }

  static double masking(std::span<const ExpectedPeak> possible) {
    if (possible.empty()) return 0;
    const auto found = std::count_if(possible.begin(), possible.end(),
                                     [](const ExpectedPeak& e) { return e.found; });
    const auto count = static_cast<double>(possible.size());
    const double any = std::clamp(static_cast<double>(found) / count, 0.05, 0.95);
    double decades = 0;
    for (const ExpectedPeak& e : possible) {
      const double sure = chance_to_find(e.salience_db, e.masker_db, e.loss_around_db);
      decades += e.found ? std::log10(sure / any) : std::log10((1 - sure) / (1 - any));
    }
    return decades / std::sqrt(count);
  }

  /// The end of the query's band.
  double band_u() const {
    std::vector<double> u;
    for (const QueryPoint& point : query_.points()) u.push_back(point.u);
    const auto end =
        u.begin() + static_cast<std::ptrdiff_t>(kInBand * static_cast<double>(u.size()));
    std::nth_element(u.begin(), end, u.end());
    return *end + kAboveU;
  }

  int moments() const {
    int count = 0;
    double last_s = -1;
    for (const ExpectedPeak& e : expected_) {
      if (!e.found) continue;
      if (e.time_s - last_s > kMomentApartS) ++count;
      last_s = e.time_s;
    }
    return count;
  }

  /// Median loss of all peaks found.
  double usual_loss() const {
    std::vector<double> losses;
    for (const ExpectedPeak& e : expected_) {
      if (e.found) losses.push_back(e.loss_db);
    }
    return losses.size() >= kFewestAtAll ? median(losses) : kUsualLossDb;
  }

  /// Median loss of the peaks found around one, itself left out.
  double loss_around(std::size_t i, double usual) const {
    std::vector<double> around;
    std::vector<double> moment;
    const ExpectedPeak& at = expected_[i];
    for (std::size_t k = 0; k < expected_.size(); ++k) {
      const ExpectedPeak& other = expected_[k];
      const double distance = std::abs(other.time_s - at.time_s);
      if (k == i || !other.found || distance >= kAroundS) continue;
      if (std::abs(other.freq_hz - at.freq_hz) < kAroundHz) around.push_back(other.loss_db);
      if (distance < kMomentS) moment.push_back(other.loss_db);
    }
    if (around.size() >= kFewestAround) return median(around);
    return moment.size() >= kFewestAround ? median(moment) : usual;
  }

  /// Salience of the strongest query peak that is not the track's and may hide this one; 0 = none.
  double masker_db(const ExpectedPeak& expected) const {
    const QueryArrays query = query_.arrays();
    double masker = 0;
    for (std::uint32_t k = query.first_at(expected.time_s - kMaskS);
         k < query.count && query.points[k].time_s <= expected.time_s + kMaskS; ++k) {
      if (!own_[k] && std::abs(freq_hz_[k] - expected.freq_hz) <= kMaskHz)
        masker = std::max<double>(masker, query.salience_db[k]);
    }
    return masker;
  }

  /// Median loss of all peaks found about the time of one, itself left out; nullopt of too few.
  std::optional<double> loss_at_time(std::size_t i) const {
    std::vector<double> losses;
    for (std::size_t k = 0; k < expected_.size(); ++k) {
      const ExpectedPeak& other = expected_[k];
      if (k != i && other.found && std::abs(other.time_s - expected_[i].time_s) < kFadeS)
        losses.push_back(other.loss_db);
    }
    if (losses.size() < kFewestAround) return std::nullopt;
    return median(losses);
  }

  std::optional<double> deficit_db(std::size_t i) const {
    if (query_.levels() == nullptr) return std::nullopt;
    const ExpectedPeak& expected = expected_[i];
    const auto level =
        query_.levels()->salience_db(query_.start_s() + expected.time_s, expected.freq_hz);
    if (!level) return std::nullopt;
    if (expected.found) return 0;
    const double around_db = expected.loss_around_db;
    const double loss_db = std::max(around_db, loss_at_time(i).value_or(around_db));
    const double lacking_db = expected.salience_db - loss_db - *level;
    return std::clamp(lacking_db - kUsualDeficitDb, 0.0, kLargestDeficitDb);
  }

  /// Of a peak of a track that is on air: a logistic fit (tests/eval/fit_confidence.py --peaks).
  static double chance_to_find(double salience_db, double masker_db, double loss_db) {
    const double v = salience_db / 10;
    const double m = masker_db / 10;
    const double l = std::clamp(loss_db, -10.0, 15.0) / 10;  // what the fit has seen
    const double z = -1.225 + 3.467 * v - 1.995 * m - 6.113 * l - 0.655 * v * v + 0.461 * v * m +
                     1.901 * v * l - 0.28 * m * m - 0.084 * m * l - 0.95 * l * l;
    return std::clamp(1 / (1 + std::exp(-z)), kLeastSure, kSurest);
  }

  void add_foreign(Account& account) const {
    std::vector<Peak> strongest;
    select_strongest(stand_alone(query_peaks()), 0, query_.length_s(), kStrongestPerS, strongest);
    int explained = 0;
    int strong = 0;
    double foreign = 0;
    for (const Peak& peak : strongest) {
      if (is_near(make_query_point(peak, 0), kNoteS, kNoteU)) {
        ++explained;
        continue;
      }
      strong += peak.salience_db >= kForeignDb ? 1 : 0;
      foreign += peak.salience_db;
    }
    const auto count = static_cast<double>(strongest.size());
    account.explained_share = explained / std::max(1.0, count);
    account.foreign_per_s = strong / query_.length_s();
    account.foreign_db = foreign / std::max(1.0, count - explained);
  }

  std::vector<Peak> query_peaks() const {
    const QueryArrays query = query_.arrays();
    std::vector<Peak> peaks;
    for (std::uint32_t i = 0; i < query.count; ++i) {
      peaks.push_back(
          {query.points[i].time_s, static_cast<float>(freq_hz_[i]), query.salience_db[i]});
    }
    return peaks;
  }

  const QueryView& query_;
  double ln_pitch_change_;
  std::vector<ExpectedPeak> expected_;  ///< in time order
  std::vector<double> freq_hz_;         ///< of the query's points
  std::vector<bool> own_;               ///< of them, those that are the track's
};

}  // namespace

std::vector<ExpectedPeak> expected_peaks(const QueryView& query,
                                         std::span<const ReferencePoint> reference,
                                         double reference_pitch, const Fit& fit) {
  return Bookkeeper(query, reference, reference_pitch, fit).take_expected();
}

Account account_for(const QueryView& query, std::span<const ReferencePoint> reference,
                    double reference_pitch, const Fit& fit) {
  constexpr double kSame = 0.006;  // of a logarithm
  const double tempo = std::log(fit.tempo);
  const double pitch = std::log(fit.pitch);
  Account account = Bookkeeper(query, reference, reference_pitch, fit).account();
  account.odd_warp =
      std::abs(tempo) >= kSame && std::abs(pitch) >= kSame && std::abs(tempo - pitch) >= kSame;
  return account;
}

}  // namespace spintag::fingerprint
