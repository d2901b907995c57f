// db/server_address.cpp - a database URL taken apart: how to connect, how to name the server, what
// never to print.
#include "db/server_address.h"

#include <libpq-fe.h>

#include <array>
#include <memory>
#include <string_view>

#include "db/store.h"

namespace spintag::db {

namespace {

/// libpq quotes the part of the URL that it stumbled over, which may be the password.
std::string without_quotations(std::string_view message) {
  std::string text;
  bool quoted = false;
  for (const char c : message) {
    if (c == '"') {
      quoted = !quoted;
      if (quoted) text += "\"...\"";
    } else if (!quoted && c != '\n') {
      text += c;
    }
  }
  return text;
}

using Options = std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;

Options parse_options(const std::string& url) {
  char* reason = nullptr;
  Options options(PQconninfoParse(url.c_str(), &reason), &PQconninfoFree);
  const std::unique_ptr<char, decltype(&PQfreemem)> owned(reason, &PQfreemem);
  if (!options) {
    throw StoreError(StoreError::Kind::refused,
                     "the database URL cannot be read: " +
                         without_quotations(reason != nullptr ? reason : "out of memory") +
                         " (try postgresql://USER@HOST/DATABASE)");
  }
  return options;
}

/// What libpq takes where the URL is silent: PGHOST, PGDATABASE, ...
std::string value_or_default(const PQconninfoOption* options, std::string_view keyword) {
  const Options defaults(PQconndefaults(), &PQconninfoFree);
  for (const PQconninfoOption* list :
       {options, static_cast<const PQconninfoOption*>(defaults.get())}) {
    for (; list != nullptr && list->keyword != nullptr; ++list) {
      if (keyword == list->keyword && list->val != nullptr && *list->val != '\0') return list->val;
    }
  }
  return {};
}

std::string name_server(const PQconninfoOption* options) {
  std::string host = value_or_default(options, "host");
  if (host.empty()) host = value_or_default(options, "hostaddr");
  const std::string port = value_or_default(options, "port");
  const std::string user = value_or_default(options, "user");
  std::string database = value_or_default(options, "dbname");
  if (database.empty()) database = user;
  std::string name = host.empty() ? "the local socket" : host;
  if (!port.empty() && !name.starts_with('/')) name += ":" + port;
  if (!database.empty()) name += ", database " + database;
  if (!user.empty()) name += ", user " + user;
  return name;
}

}  // namespace

std::string ServerAddress::mask(std::string message) const {
  if (password.empty()) return message;
  for (auto at = message.find(password); at != std::string::npos;
       at = message.find(password, at + 4)) {
    message.replace(at, password.size(), "****");
  }
  return message;
}

ServerAddress parse_address(const std::string& url) {
  const Options parsed = parse_options(url);
  ServerAddress address;
  for (const PQconninfoOption* option = parsed.get(); option->keyword != nullptr; ++option) {
    if (option->val == nullptr) continue;
    address.options.emplace_back(option->keyword, option->val);
    if (std::string_view(option->keyword) == "password") address.password = option->val;
  }
  // A name that does not answer must not hold up a start for minutes, and a server whose cable was
  // pulled must be noticed within a minute: keepalives for a connection that waits, the user
  // timeout for one that sends.
  const std::array<std::pair<const char*, const char*>, 6> ours{
      {{"connect_timeout", "5"},
       {"keepalives_idle", "30"},
       {"keepalives_interval", "10"},
       {"keepalives_count", "3"},
       {"tcp_user_timeout", "60000"},
       {"fallback_application_name", "spintag"}}};
  for (const auto& [keyword, value] : ours) {
    bool given = false;
    for (const auto& option : address.options) given = given || option.first == keyword;
    if (!given) address.options.emplace_back(keyword, value);
  }
  std::erase_if(address.options,
                [](const auto& option) { return option.first == "client_encoding"; });
  address.options.emplace_back("client_encoding", "UTF8");
  address.name = name_server(parsed.get());
  return address;
}

std::string connection_hint(const std::string& reason) {
  const auto says = [&](const char* words) { return reason.find(words) != std::string::npos; };
  if (says("password authentication failed") || says("no password supplied")) {
    return "check user and password in the database URL";
  }
  if (says("could not translate host name")) return "check the host name in the database URL";
  if (says("database \"") && says("does not exist")) return "make it with createdb";
  if (says("role \"") && says("does not exist")) return "make it with createuser";
  if (says("no pg_hba.conf entry")) return "allow this host and user in the server's pg_hba.conf";
  if (says("too many clients") || says("remaining connection slots")) {
    return "raise max_connections, or stop a program that holds many";
  }
  if (says("Connection refused") || says("No such file or directory")) {
    return "is PostgreSQL running there?";
  }
  if (says("timeout expired")) return "is the host up, and does a firewall let port 5432 through?";
  return {};
}

}  // namespace spintag::db
