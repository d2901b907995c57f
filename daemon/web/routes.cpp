// daemon/web/routes.cpp - what each address of the web server answers.
#include "daemon/web/routes.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "daemon/events.h"
#include "daemon/rfc3339.h"
#include "daemon/signature.h"
#include "daemon/web/metrics.h"
#include "daemon/web/now_playing.h"
#include "daemon/web/status_page.h"

namespace spintag::daemon {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostPlays = 1000;
constexpr std::size_t kUsualPlays = 100;

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

int hex_value(char digit) {
  constexpr std::string_view kDigits = "0123456789abcdef0123456789ABCDEF";
  const std::size_t at = kDigits.find(digit);
  return at == std::string_view::npos ? -1 : static_cast<int>(at % 16);
}

/// %41 becomes A. A '%' that is not followed by two digits stays.
std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 &&
                        hex_value(text[i + 2]) >= 0;
    if (escape) {
      decoded += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

std::optional<std::string> parameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, std::min(query.find('&'), query.size()));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (pair.substr(0, equals) != name) continue;
    return percent_decoded(pair.substr(std::min(equals + 1, pair.size())));
  }
  return std::nullopt;
}

/// Compares digests, so that the time taken says nothing about the token.
bool same_secret(std::string_view a, std::string_view b) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest_a{};
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest_b{};
  const bool made =
      EVP_Digest(a.data(), a.size(), digest_a.data(), nullptr, EVP_sha256(), nullptr) == 1 &&
      EVP_Digest(b.data(), b.size(), digest_b.data(), nullptr, EVP_sha256(), nullptr) == 1;
  return made && CRYPTO_memcmp(digest_a.data(), digest_b.data(), digest_a.size()) == 0;
}

bool allowed(std::string_view authorization, const std::string& token) {
  if (token.empty()) return true;
  const std::size_t blank = std::min(authorization.find(' '), authorization.size());
  std::string scheme(authorization.substr(0, blank));
  std::ranges::transform(scheme, scheme.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const std::string_view given = authorization.substr(std::min(blank + 1, authorization.size()));
  if (scheme == "bearer") return same_secret(given, token);
  return scheme == "basic" && same_secret(given, encode_base64("spintag:" + token));
}

WebAnswer ready(const Status& status) {
  const bool good = status.index_loaded && status.database_up;
  return {good ? 200 : 503, "application/json",
          text_of({{"ready", good},
                   {"index_loaded", status.index_loaded},
                   {"index_tracks", status.index_tracks},
                   {"database_up", status.database_up},
                   {"device", status.device},
                   {"device_failures", status.device_failures},
                   {"outbox_waiting", status.outbox.waiting},
                   {"outbox_dead", status.outbox.dead}})};
}

std::variant<WebAnswer, PlaysQuestion> ask_plays(const Status& status, const std::string& station,
                                                 std::string_view query) {
  if (std::ranges::find(status.stations, station, &StationStatus::name) == status.stations.end()) {
    return error_answer(404, "no station is named \"" + station + "\"");
  }
  PlaysQuestion question;
  question.filter.station = station;
  question.filter.limit = kUsualPlays;
  for (const auto& [name, target] :
       {std::pair{"from", &question.filter.from}, std::pair{"to", &question.filter.to}}) {
    const auto text = parameter(query, name);
    if (!text) continue;
    *target = from_rfc3339(*text);
    if (!*target)
      return error_answer(400, std::string(name) + " is not a time (2026-03-01T12:00:00Z)");
  }
  if (const auto text = parameter(query, "limit")) {
    std::size_t limit = 0;
    const auto result = std::from_chars(text->data(), text->data() + text->size(), limit);
    const bool whole = result.ec == std::errc() && result.ptr == text->data() + text->size();
    if (!whole || limit < 1 || limit > kMostPlays) {
      return error_answer(400, "limit must lie between 1 and " + std::to_string(kMostPlays));
    }
    question.filter.limit = limit;
  }
  return question;
}

/// "/api/stations/wjrh/plays" -> "wjrh" for prefix "/api/stations/" and suffix "/plays".
std::optional<std::string> middle(std::string_view path, std::string_view prefix,
                                  std::string_view suffix) {
  const bool fits = path.size() > prefix.size() + suffix.size() && path.starts_with(prefix) &&
                    path.ends_with(suffix);
  if (!fits) return std::nullopt;
  path.remove_prefix(prefix.size());
  path.remove_suffix(suffix.size());
  return percent_decoded(path);
}

}  // namespace

WebAnswer error_answer(int status, const std::string& message) {
  return {status, "application/json", text_of({{"error", message}})};
}

WebAnswer answer_plays(const std::string& station, const std::vector<db::Play>& plays) {
  std::string body = "{\"station\":" + text_of(station) + ",\"plays\":[";
  std::vector<const db::Play*> newest_first;
  for (const db::Play& play : plays) newest_first.push_back(&play);
  std::ranges::stable_sort(newest_first, std::ranges::greater(),
                           [](const db::Play* play) { return play->started_at; });
  for (const db::Play* play : newest_first) {
    if (play != newest_first.front()) body += ',';
    body += play_data_json(*play);
  }
  return {200, "application/json", body + "]}"};
}

std::variant<WebAnswer, PlaysQuestion> route(const WebRequest& request, const Status& status,
                                             const std::string& token, db::TimePoint now) {
  if (request.method != "GET" && request.method != "HEAD") {
    return error_answer(405, "only GET and HEAD are answered here");
  }
  const std::size_t mark = std::min(request.target.find('?'), request.target.size());
  const std::string_view path = request.target.substr(0, mark);
  const std::string_view query = request.target.substr(std::min(mark + 1, request.target.size()));
  if (path == "/healthz") return WebAnswer{200, "text/plain; charset=utf-8", "ok\n"};
  if (path == "/readyz") return ready(status);
  if (!allowed(request.authorization, token)) {
    return error_answer(401,
                        "a token is needed: \"Authorization: Bearer TOKEN\", or user spintag and "
                        "the token as password");
  }
  if (path == "/") return WebAnswer{200, "text/html; charset=utf-8", status_page(status, now)};
  if (path == "/metrics")
    return WebAnswer{200, "text/plain; version=0.0.4; charset=utf-8", metrics_text(status)};
  if (path == "/api/nowplaying")
    return WebAnswer{200, "application/json", now_playing_json(status, now)};
  if (const auto station = middle(path, "/api/nowplaying/", "")) {
    auto body = now_playing_json(status, *station, now);
    if (!body) return error_answer(404, "no station is named \"" + *station + "\"");
    return WebAnswer{200, "application/json", std::move(*body)};
  }
  if (const auto station = middle(path, "/api/stations/", "/plays"))
    return ask_plays(status, *station, query);
  return error_answer(404, "nothing is here");
}

}  // namespace spintag::daemon
