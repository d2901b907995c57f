// daemon/match_service.cpp - whom stations and commands ask what a window is.
#include "daemon/match_service.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace spintag::daemon {

namespace {

using fingerprint::Alignment;
using fingerprint::Index;
using fingerprint::MatchOptions;
using fingerprint::MatchQuery;

// Windows of one batch: as many stations as one machine holds, or an hour and a half of a mix.
constexpr std::size_t kMostWindows = 1024;

bool same_options(const MatchOptions& a, const MatchOptions& b) {
  const auto same = [](const fingerprint::Hypothesis& x, const fingerprint::Hypothesis& y) {
    return x.tempo == y.tempo && x.pitch == y.pitch;
  };
  return a.any_speed == b.any_speed && a.min_confidence == b.min_confidence &&
         a.max_matches == b.max_matches && std::ranges::equal(a.hypotheses, b.hypotheses, same);
}

}  // namespace

MatchService::MatchService(std::size_t matchers, std::unique_ptr<MatchBackend> backend,
                           OnFailure on_failure)
    : matchers_(matchers),
      backend_(std::move(backend)),
      on_failure_(std::move(on_failure)),
      device_name_(backend_ ? backend_->device() : "") {
  if (!backend_) return;
  works_ = true;
  desk_.emplace(
      "match", kMostWindows,
      [this](std::span<const Question> questions) { return answer(questions); },
      [this](const kernels::DeviceError& error) { failed(error); });
}

void MatchService::load(const std::shared_ptr<const Index>& index) {
  if (!works_) return;
  try {
    backend_->load(index);
  } catch (const kernels::DeviceError& error) {
    desk_->close();
    failed(error);
  }
}

std::vector<Alignment> MatchService::match(const std::shared_ptr<const Index>& index,
                                           const fingerprint::Heard& heard, double start_s,
                                           double end_s, const MatchOptions& options) {
  const MatchQuery query{heard, start_s, end_s};
  return std::move(match(index, {&query, 1}, options).front());
}

std::vector<std::vector<Alignment>> MatchService::match(const std::shared_ptr<const Index>& index,
                                                        std::span<const MatchQuery> queries,
                                                        const MatchOptions& options) {
  Results results;
  while (!queries.empty()) {
    const Question question{index, queries.first(std::min(queries.size(), kMostWindows)), &options};
    std::optional<Results> some;
    if (desk_) some = desk_->ask(question, question.queries.size());
    if (!some) some = on_cpu(question);
    std::ranges::move(*some, std::back_inserter(results));
    queries = queries.subspan(question.queries.size());
  }
  return results;
}

std::string MatchService::device() const {
  if (works_) return device_name_;
  return device_name_.empty() ? "cpu" : "cpu (" + device_name_ + " failed)";
}

// One batch for each index and set of options among them: mostly one, two while the catalogue
// changes.
std::vector<MatchService::Results> MatchService::answer(std::span<const Question> questions) {
  std::vector<Results> answers(questions.size());
  std::vector<bool> answered(questions.size());
  for (std::size_t first = 0; first < questions.size(); ++first) {
    if (answered[first]) continue;
    const Question& question = questions[first];
    std::vector<MatchQuery> queries;
    std::vector<std::size_t> askers;
    for (std::size_t i = first; i < questions.size(); ++i) {
      const Question& other = questions[i];
      if (other.index != question.index || !same_options(*other.options, *question.options)) {
        continue;
      }
      queries.insert(queries.end(), other.queries.begin(), other.queries.end());
      askers.push_back(i);
      answered[i] = true;
    }
    Results results = backend_->match(question.index, queries, *question.options);
    auto next = std::make_move_iterator(results.begin());
    for (const std::size_t asker : askers) {
      const auto end = next + static_cast<std::ptrdiff_t>(questions[asker].queries.size());
      answers[asker].assign(next, end);
      next = end;
    }
  }
  return answers;
}

MatchService::Results MatchService::on_cpu(const Question& question) {
  const MatcherPool::Lease matcher(matchers_);
  Results results;
  for (const MatchQuery& query : question.queries) {
    results.push_back((*matcher).match(*question.index, query.heard, query.start_s, query.end_s,
                                       *question.options));
  }
  return results;
}

void MatchService::failed(const kernels::DeviceError& error) {
  spdlog::error("{}; recognition goes on with the CPU (a restart tries {} again)", error.what(),
                device_name_);
  works_ = false;
  backend_.reset();
  if (on_failure_) on_failure_();
}

}  // namespace spintag::daemon
