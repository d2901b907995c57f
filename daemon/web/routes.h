// daemon/web/routes.h - what each address of the web server answers, without a socket.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/status_board.h"

namespace spintag::daemon {

struct WebRequest {
  std::string_view method;         ///< "GET"
  std::string_view target;         ///< path and query as they came
  std::string_view authorization;  ///< header Authorization; may be empty
};

struct WebAnswer {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
};

/// The plays that somebody wants; whoever may block asks the store for them.
struct PlaysQuestion {
  db::PlayFilter filter;
};

/// @param token  empty = nobody needs one. Accepted as "Bearer TOKEN", and as "Basic" with user
/// spintag and the token as
///               password, which browsers can ask for.
std::variant<WebAnswer, PlaysQuestion> route(const WebRequest& request, const Status& status,
                                             const std::string& token, db::TimePoint now);

/// {"station":...,"plays":[...]}, the newest first.
WebAnswer answer_plays(const std::string& station, const std::vector<db::Play>& plays);

/// {"error":"..."}
WebAnswer error_answer(int status, const std::string& message);

}  // namespace spintag::daemon
