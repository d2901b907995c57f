// db/private_cluster.cpp - a PostgreSQL cluster of one's own: who uses it, and where it lies.
#include "db/private_cluster.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <thread>

#include "db/postmaster.h"
#include "db/store.h"

namespace spintag::db {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// sockaddr_un holds 107 characters and a NUL.
constexpr std::size_t kLongestSocketDirectory = 107 - std::string_view("/.s.PGSQL.5432").size();
constexpr auto kLockPatience = 180s;  // longer than the slowest start

[[noreturn]] void fail(const std::string& what, int error) {
  throw StoreError(StoreError::Kind::unreachable,
                   "private cluster: " + what + ": " + std::strerror(error) +
                       " (choose another place with STATE_DIRECTORY, or a server with --database)");
}

/// A file that exists to be locked. The lock goes with the process, also with kill -9.
class LockFile {
 public:
  LockFile(const ClusterPlaces& places, const char* name)
      : path_(places.directory / name),
        fd_(::openat(places.directory_fd, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    if (fd_ < 0) fail(path_.string(), errno);
    if (places.account && ::fchown(fd_, places.account->uid, places.account->gid) != 0) {
      const int error = errno;
      ::close(fd_);
      fail(path_.string(), error);
    }
  }
  ~LockFile() { ::close(fd_); }
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

  bool try_lock(int kind) noexcept { return ::flock(fd_, kind | LOCK_NB) == 0; }
  void unlock() noexcept { ::flock(fd_, LOCK_UN); }

  /// @return false if somebody else held it all the time
  bool lock(int kind) noexcept {
    const auto until = std::chrono::steady_clock::now() + kLockPatience;
    while (!try_lock(kind)) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(10ms);
    }
    return true;
  }

 private:
  fs::path path_;
  int fd_;
};

fs::path make_state_directory(const fs::path& wanted) {
  std::error_code error;
  const fs::path absolute = fs::absolute(wanted, error);
  fs::create_directories(absolute, error);
  if (error) fail("cannot make " + absolute.string(), error.value());
  const fs::path canonical = fs::canonical(absolute, error);
  if (error) fail(absolute.string(), error.value());
  return canonical;
}

/// Makes a directory of mode 0700 that belongs to the server's account. @return it, open
int make_private_directory(const fs::path& path, const std::optional<ServerAccount>& account) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    fail("cannot make " + path.string(), errno);
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) fail("cannot open " + path.string(), errno);
  struct stat status {};
  ::fstat(fd, &status);
  int error = 0;
  if (account) {
    if (status.st_uid != account->uid && ::fchown(fd, account->uid, account->gid) != 0)
      error = errno;
  } else if (status.st_uid != ::geteuid()) {
    error = EACCES;
  }
  if (error == 0 && (status.st_mode & 0777) != 0700 && ::fchmod(fd, 0700) != 0) error = errno;
  if (error != 0) {
    ::close(fd);
    fail(path.string() + " belongs to another user", error);
  }
  return fd;
}

bool is_private_directory(const fs::path& path, uid_t owner) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == owner &&
         (status.st_mode & 0777) == 0700;
}

/// For a state directory whose path is too long for a socket: a directory of a random name in /tmp,
/// which mkdtemp() makes for its caller alone, and a file that remembers it.
fs::path short_socket_directory(const ClusterPlaces& places) {
  const fs::path record = places.directory / "socket_directory";
  const uid_t owner = places.account ? places.account->uid : ::geteuid();
  std::string remembered;
  std::ifstream(record) >> remembered;
  if (!remembered.empty() && is_private_directory(remembered, owner)) return remembered;
  std::string fresh = "/tmp/spintag-XXXXXX";
  if (::mkdtemp(fresh.data()) == nullptr) fail(fresh, errno);
  if (places.account && ::lchown(fresh.c_str(), owner, places.account->gid) != 0)
    fail(fresh, errno);
  std::ofstream file(record);
  file << fresh << std::flush;
  if (!file) fail("cannot write " + record.string(), EIO);
  return fresh;
}

std::string percent_encode(const std::string& text) {
  constexpr const char* kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::strchr("/._-~", c) != nullptr) {
      encoded += c;
    } else {
      encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return encoded;
}

}  // namespace

/// Two locks. `door` is held by whoever looks, starts or stops, so that these never overlap.
/// `users` is shared by all that use the server: who gets it alone, at the door, is the last one
/// out.
struct PrivateCluster::State {
  explicit State(const fs::path& state_directory) {
    const fs::path root = make_state_directory(state_directory);
    places.directory = root / "postgres";
    places.account = server_account(root, places.directory);
    places.directory_fd = make_private_directory(places.directory, places.account);
    try {
      enter();
    } catch (...) {
      ::close(places.directory_fd);
      throw;
    }
  }

  ~State() {
    leave();
    ::close(places.directory_fd);
  }

  void enter() {
    door.emplace(places, "door");
    users.emplace(places, "users");
    if (!door->lock(LOCK_EX)) fail_busy();
    users->try_lock(LOCK_SH);  // cannot be refused: it is taken alone at the door only
    try {
      ::close(make_private_directory(places.directory / "log", places.account));
      choose_socket_directory();
      make_cluster(places);
      ensure_server(places);
    } catch (...) {
      leave_locked();
      throw;
    }
    door->unlock();
  }

  void revive() {
    if (!door->lock(LOCK_EX)) fail_busy();
    try {
      ensure_server(places);
    } catch (...) {
      door->unlock();
      throw;
    }
    door->unlock();
  }

  [[noreturn]] static void fail_busy() {
    fail("another spintag has been starting or stopping the server for minutes", EBUSY);
  }

  void choose_socket_directory() {
    places.socket_directory = places.directory / "run";
    if (places.socket_directory.string().size() > kLongestSocketDirectory) {
      places.socket_directory = short_socket_directory(places);
    } else {
      ::close(make_private_directory(places.socket_directory, places.account));
    }
  }

  void leave() noexcept {
    if (door->lock(LOCK_EX)) leave_locked();
  }

  void leave_locked() noexcept {
    const bool last = users->try_lock(LOCK_EX);
    if (last && stop_server(places) && places.socket_directory.parent_path() != places.directory) {
      std::error_code ignored;  // an empty directory in /tmp harms nobody
      fs::remove(places.socket_directory, ignored);
      fs::remove(places.directory / "socket_directory", ignored);
    }
    users->unlock();
    door->unlock();
  }

  ClusterPlaces places;
  std::optional<LockFile> door;
  std::optional<LockFile> users;
};

PrivateCluster::PrivateCluster(fs::path state_directory)
    : state_(std::make_unique<State>(state_directory)) {}
PrivateCluster::~PrivateCluster() = default;
PrivateCluster::PrivateCluster(PrivateCluster&&) noexcept = default;
PrivateCluster& PrivateCluster::operator=(PrivateCluster&&) noexcept = default;

void PrivateCluster::ensure_running() { state_->revive(); }

std::string PrivateCluster::url() const {
  return std::string("postgresql:///") + kServerDatabase + "?user=" + kServerUser +
         "&port=5432&host=" + percent_encode(state_->places.socket_directory.string());
}

fs::path default_state_directory() {
  if (const char* given = std::getenv("STATE_DIRECTORY"); given != nullptr && *given != '\0') {
    const std::string list = given;  // a service manager may give several, with colons between
    return list.substr(0, list.find(':'));
  }
  if (const char* given = std::getenv("XDG_STATE_HOME"); given != nullptr && *given == '/') {
    return fs::path(given) / "spintag";
  }
  if (::geteuid() == 0) return "/var/lib/spintag";  // the same place as the service's
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home != '/') {
    const passwd* entry = ::getpwuid(::geteuid());
    home = entry != nullptr ? entry->pw_dir : "/tmp";
  }
  return fs::path(home) / ".local/state/spintag";
}

}  // namespace spintag::db
