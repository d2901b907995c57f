// db/server_account.cpp - who runs the private server when spintag is root.
#include "db/server_account.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "db/store.h"

namespace spintag::db {

namespace {

ServerAccount account_of(const passwd& entry) {
  ServerAccount account{entry.pw_uid, entry.pw_gid, {}, entry.pw_name};
  int count = 64;
  account.groups.resize(static_cast<std::size_t>(count));
  if (::getgrouplist(entry.pw_name, entry.pw_gid, account.groups.data(), &count) < 0) {
    account.groups.resize(static_cast<std::size_t>(count));
    ::getgrouplist(entry.pw_name, entry.pw_gid, account.groups.data(), &count);
  }
  account.groups.resize(static_cast<std::size_t>(count));
  return account;
}

template <class Look>
std::optional<ServerAccount> look_up(Look&& look) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16384> strings{};
  if (look(&entry, strings.data(), strings.size(), &found) != 0 || found == nullptr) {
    return std::nullopt;
  }
  return account_of(entry);
}

std::optional<ServerAccount> owner_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || status.st_uid == 0) return std::nullopt;
  return look_up([&](auto... rest) { return ::getpwuid_r(status.st_uid, rest...); });
}

}  // namespace

std::optional<ServerAccount> server_account(const std::filesystem::path& state_directory,
                                            const std::filesystem::path& cluster_directory) {
  if (::geteuid() != 0) return std::nullopt;
  if (auto owner = owner_of(cluster_directory)) return owner;
  if (auto owner = owner_of(state_directory)) return owner;
  for (const char* name : {"spintag", "postgres"}) {
    auto account = look_up([&](auto... rest) { return ::getpwnam_r(name, rest...); });
    if (account && account->uid != 0) return account;
  }
  throw StoreError(StoreError::Kind::unreachable,
                   "PostgreSQL does not run as root, and there is no account spintag or postgres"
                   " (adduser --system --group spintag)");
}

}  // namespace spintag::db
