// db/postgres_programs.cpp - where initdb and postgres are on this box.
#include "db/postgres_programs.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <vector>

#include "db/store.h"

namespace spintag::db {

namespace {

namespace fs = std::filesystem;

std::optional<int> leading_number(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  return number;
}

std::string first_line_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "re"), &::pclose);
  std::string line;
  for (int c = pipe ? std::fgetc(pipe.get()) : EOF; c != EOF && c != '\n';
       c = std::fgetc(pipe.get())) {
    line += static_cast<char>(c);
  }
  return line;
}

bool has_programs(const fs::path& bin) {
  return ::access((bin / "initdb").c_str(), X_OK) == 0 &&
         ::access((bin / "postgres").c_str(), X_OK) == 0;
}

/// "postgres (PostgreSQL) 15.18 (Debian ...)" -> 15
std::optional<int> version_of(const fs::path& bin) {
  const std::string line = first_line_of("'" + (bin / "postgres").string() + "' --version");
  const auto at = line.find_first_of("0123456789");
  return at == std::string::npos ? std::nullopt : leading_number(line.substr(at));
}

/// Debian and Ubuntu keep several majors side by side.
std::map<int, fs::path> debian_versions() {
  std::map<int, fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", error)) {
    const auto major = leading_number(entry.path().filename().string());
    if (major && has_programs(entry.path() / "bin")) found[*major] = entry.path() / "bin";
  }
  return found;
}

std::vector<fs::path> other_places() {
  std::vector<fs::path> places{first_line_of("pg_config --bindir 2>/dev/null")};
  const char* path = std::getenv("PATH");
  std::istringstream list(path != nullptr ? path : "");
  for (std::string part; std::getline(list, part, ':');) places.emplace_back(part);
  return places;
}

std::map<int, fs::path> installed_versions() {
  std::map<int, fs::path> found = debian_versions();
  if (!found.empty()) return found;
  for (const fs::path& place : other_places()) {
    if (!place.is_absolute() || place.string().find('\'') != std::string::npos) continue;
    if (!has_programs(place)) continue;
    if (const auto major = version_of(place)) found.emplace(*major, place);
  }
  return found;
}

}  // namespace

PostgresPrograms find_postgres(std::optional<int> major) {
  const std::map<int, fs::path> installed = installed_versions();
  if (installed.empty()) {
    throw StoreError(
        StoreError::Kind::unreachable,
        "PostgreSQL is not installed here (apt install postgresql), and no --database was given");
  }
  auto chosen = std::prev(installed.end());
  if (major) chosen = installed.find(*major);
  if (chosen == installed.end()) {
    const std::string number = std::to_string(*major);
    throw StoreError(StoreError::Kind::unreachable,
                     "the private cluster was made by PostgreSQL " + number +
                         ", which is not installed here, only " +
                         std::to_string(installed.rbegin()->first) + " (apt install postgresql-" +
                         number + ", or move the data with pg_upgrade)");
  }
  return {chosen->second / "initdb", chosen->second / "postgres"};
}

std::optional<int> cluster_version(const fs::path& data_directory) {
  std::ifstream file(data_directory / "PG_VERSION");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return leading_number(line);
}

}  // namespace spintag::db
