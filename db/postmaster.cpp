// db/postmaster.cpp - the private server's process: whether it runs, start it, stop it.
#include "db/postmaster.h"

#include <fcntl.h>
#include <libpq-fe.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include "db/child_process.h"
#include "db/postgres_programs.h"
#include "db/store.h"

namespace spintag::db {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPoll = 20ms;
constexpr auto kStartPatience = 120s;  // recovery after a power cut replays at most max_wal_size
constexpr auto kOrphanPatience = 15s;  // backends of a killed postmaster notice and leave
constexpr auto kStopPatience = 60s;

[[noreturn]] void fail(const std::string& what) {
  throw StoreError(StoreError::Kind::unreachable, "private cluster: " + what);
}

/// Line `number` (from 0) of postmaster.pid: 0 = process id, 7 = "starting", "ready", "stopping".
std::string pid_file_line(const ClusterPlaces& places, int number) {
  std::ifstream file(places.data() / "postmaster.pid");
  std::string line;
  for (int i = 0; i <= number; ++i) {
    if (!std::getline(file, line)) return {};
  }
  return line;
}

/// 'R', 'S', 'Z' (ended, but its parent has not looked), ...; 0 = no such process.
char process_state(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto name_end = text.rfind(") ");
  return name_end == std::string::npos ? '\0' : text[name_end + 2];
}

/// Whether a process is the server of `data`. Its working directory tells; the kernel shows that to
/// root and to a process of the same user and group. Where it does not, the name must do: to take a
/// living server for a dead one would cost more.
bool is_server_of(pid_t pid, const fs::path& data) {
  const std::string process = "/proc/" + std::to_string(pid);
  struct stat ours {};
  struct stat theirs {};
  if (::stat(data.c_str(), &ours) != 0) return false;
  if (::stat((process + "/cwd").c_str(), &theirs) == 0) {
    return theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
  }
  if (errno != EACCES && errno != EPERM) return false;
  std::ifstream file(process + "/comm");
  std::string name;
  file >> name;
  return name == "postgres";
}

bool is_alive(pid_t pid) {
  const char state = process_state(pid);
  return state != '\0' && state != 'Z' && state != 'X';
}

std::string end_of(int file) {
  constexpr off_t kBytes = 1500;
  const off_t size = ::lseek(file, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::max<off_t>(0, std::min(size, kBytes))), '\0');
  const ssize_t read =
      ::pread(file, text.data(), text.size(), size - static_cast<off_t>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read)));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

struct Descriptor {
  explicit Descriptor(int number) : fd(number) {}
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int fd;
};

using Connected = std::unique_ptr<PGconn, decltype(&PQfinish)>;

struct ConnectParameters {
  explicit ConnectParameters(const ClusterPlaces& places)
      : host(places.socket_directory.string()) {}
  std::string host;
  std::array<const char*, 6> keywords{"host", "port", "user", "dbname", "connect_timeout", nullptr};
  std::array<const char*, 6> values() const {
    return {host.c_str(), "5432", kServerUser, "postgres", "5", nullptr};
  }
};

PGPing ping(const ClusterPlaces& places) {
  const ConnectParameters parameters(places);
  return PQpingParams(parameters.keywords.data(), parameters.values().data(), 0);
}

/// Made outside initdb, so that a run that was killed between the two is mended by the next.
void ensure_database(const ClusterPlaces& places) {
  const ConnectParameters parameters(places);
  const Connected connection(
      PQconnectdbParams(parameters.keywords.data(), parameters.values().data(), 0), &PQfinish);
  if (PQstatus(connection.get()) != CONNECTION_OK) fail(PQerrorMessage(connection.get()));
  using Result = std::unique_ptr<PGresult, decltype(&PQclear)>;
  const Result found(
      PQexec(connection.get(), "select 1 from pg_database where datname = 'spintag'"), &PQclear);
  if (PQntuples(found.get()) > 0) return;
  const Result made(PQexec(connection.get(), "create database spintag"), &PQclear);
  if (PQresultStatus(made.get()) != PGRES_COMMAND_OK) fail(PQerrorMessage(connection.get()));
}

/// Settings that people may change in data/postgresql.conf. A box with a small disk and little
/// memory is what most will have.
constexpr const char* kInitialSettings = R"(
# spintag: for one small box; change what you like, the server reads it at its next start.
max_connections = 50
shared_buffers = 64MB
max_wal_size = 256MB
min_wal_size = 32MB
wal_level = minimal
max_wal_senders = 0
max_parallel_workers_per_gather = 0
jit = off
# Seven files, one a day of the week, each begun anew after a week: the log cannot fill the disk.
logging_collector = on
log_directory = '../log'
log_filename = 'postgresql-%a.log'
log_file_mode = 0600
log_rotation_age = 1d
log_rotation_size = 0
log_truncate_on_rotation = on
log_min_messages = warning
log_min_error_statement = panic
log_checkpoints = off
log_timezone = UTC
timezone = UTC
)";

void write_file(const fs::path& path, const std::string& text, std::ios::openmode mode) {
  std::ofstream file(path, mode);
  file << text << std::flush;
  if (!file) fail("cannot write " + path.string());
}

void sync_path(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd >= 0) ::fsync(file.fd);
}

/// Some 950 files with one call instead of two for each.
void sync_file_system(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd < 0 || ::syncfs(file.fd) != 0) fail("cannot sync " + path.string());
}

std::string locale_of_cluster() {
  const locale_t found = ::newlocale(LC_ALL_MASK, "C.UTF-8", nullptr);
  if (found == nullptr) return "C";
  ::freelocale(found);
  return "C.UTF-8";
}

void run_initdb(const ClusterPlaces& places, const fs::path& directory) {
  const Descriptor output(::memfd_create("initdb", MFD_CLOEXEC));
  ChildCommand command;
  command.arguments = {find_postgres(std::nullopt).initdb.string(),
                       "--pgdata=" + places.as_server_sees(directory),
                       "--username=" + std::string(kServerUser),
                       "--encoding=UTF8",
                       "--locale=" + locale_of_cluster(),
                       "--auth=trust",
                       "--wal-segsize=4",
                       "--data-checksums",
                       "--no-sync"};  // make_cluster() does it at once, in half the time
  command.account = places.account;
  command.directory = places.account ? places.directory_fd : -1;
  command.output = output.fd;
  if (run_child(command) != 0) fail("initdb failed: " + end_of(output.fd));
}

void remove_leftovers(const ClusterPlaces& places) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(places.directory, error)) {
    if (entry.path().filename().string().starts_with("data.new.")) {
      fs::remove_all(entry.path(), error);
    }
  }
}

/// Of a server that is no more: PostgreSQL would take them for a living one's if another process
/// has got its number.
void clear_stale_files(const ClusterPlaces& places) {
  std::error_code error;
  fs::remove(places.data() / "postmaster.pid", error);
  fs::remove(places.socket_directory / ".s.PGSQL.5432", error);
  fs::remove(places.socket_directory / ".s.PGSQL.5432.lock", error);
}

pid_t launch(const ClusterPlaces& places, int output) {
  ChildCommand command;
  const auto major = cluster_version(places.data());
  const bool inside = places.socket_directory.parent_path() == places.directory;
  command.arguments = {
      find_postgres(major).postgres.string(), "-D", places.as_server_sees(places.data()), "-p",
      "5432",
      // Who may connect is decided by the directory of the socket (mode 0700), not by these
      // settings' neighbours in a file.
      "-c", "listen_addresses=", "-c",
      "unix_socket_directories=" + (inside ? places.as_server_sees(places.socket_directory)
                                           : places.socket_directory.string()),
      "-c", "unix_socket_permissions=0700"};
  command.account = places.account;
  command.directory = places.account ? places.directory_fd : -1;
  command.output = output;
  return start_detached(command);
}

bool stop_process(pid_t pid, int signal, Clock::duration patience) {
  if (::kill(pid, signal) != 0) return errno == ESRCH;
  for (const auto until = Clock::now() + patience; Clock::now() < until;) {
    if (!is_alive(pid)) return true;
    std::this_thread::sleep_for(kPoll);
  }
  return !is_alive(pid);
}

/// @return false if the process ends before it takes connections
bool wait_until_ready(const ClusterPlaces& places, pid_t pid) {
  for (const auto until = Clock::now() + kStartPatience; Clock::now() < until;) {
    if (!is_alive(pid)) return false;
    // Asked before it is ready, it would write the question into its log.
    if (pid_file_line(places, 7).starts_with("ready") && ping(places) == PQPING_OK) return true;
    std::this_thread::sleep_for(kPoll);
  }
  fail("the server (process " + std::to_string(pid) +
       ") runs, but takes no connections; its log is in " + (places.directory / "log").string());
}

void start_server(const ClusterPlaces& places) {
  const Descriptor output(::openat(places.directory_fd, "start.log",
                                   O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  for (const auto until = Clock::now() + kOrphanPatience;;) {
    clear_stale_files(places);
    if (wait_until_ready(places, launch(places, output.fd))) return;
    // Backends that outlive a killed postmaster for a moment keep its shared memory, and the new
    // server waits for that.
    const std::string reason = end_of(output.fd);
    if (reason.find("shared memory block") == std::string::npos || Clock::now() > until) {
      fail("the server does not start: " + reason + " (see also " +
           (places.directory / "log").string() + ")");
    }
    std::this_thread::sleep_for(200ms);
  }
}

}  // namespace

std::string ClusterPlaces::as_server_sees(const fs::path& path) const {
  if (!account) return path.string();
  return "/proc/self/fd/" + std::to_string(kChildDirectory) + "/" +
         path.lexically_relative(directory).string();
}

void make_cluster(const ClusterPlaces& places) {
  remove_leftovers(places);
  if (cluster_version(places.data())) return;
  if (fs::exists(places.data())) {
    fail(places.data().string() +
         " holds no cluster of PostgreSQL (its PG_VERSION is missing): move it away");
  }
  std::string pattern = (places.directory / "data.new.XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) fail(pattern + ": " + std::strerror(errno));
  const fs::path fresh = pattern;
  if (places.account && ::lchown(fresh.c_str(), places.account->uid, places.account->gid) != 0) {
    fail(pattern + ": " + std::strerror(errno));
  }
  run_initdb(places, fresh);
  std::string settings = kInitialSettings;
  if (cluster_version(fresh).value_or(0) >= 14) {
    settings += "recovery_init_sync_method = syncfs  # after a crash: not file by file\n";
  }
  write_file(fresh / "postgresql.conf", settings, std::ios::app);
  // Trust is right here: whoever can enter the directory of the socket is the account that owns the
  // files, or root.
  write_file(
      fresh / "pg_hba.conf",
      "# spintag: the socket's directory (mode 0700) says who may connect.\nlocal all all trust\n",
      std::ios::trunc);
  sync_file_system(fresh);
  fs::rename(fresh, places.data());  // from here on it is whole
  sync_path(places.directory);
}

std::optional<pid_t> running_server(const ClusterPlaces& places) {
  const std::string line = pid_file_line(places, 0);
  if (line.empty() || line.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  const pid_t pid = static_cast<pid_t>(std::strtol(line.c_str(), nullptr, 10));
  if (pid <= 0 || !is_alive(pid) || !is_server_of(pid, places.data())) return std::nullopt;
  return pid;
}

void ensure_server(const ClusterPlaces& places) {
  std::optional<pid_t> pid = running_server(places);
  if (pid && pid_file_line(places, 7).starts_with("stopping")) {
    stop_server(places);  // somebody began it (a service manager, a shutdown that was taken back):
                          // end it, then start anew
    pid.reset();
  }
  if (!pid || !wait_until_ready(places, *pid)) start_server(places);
  ensure_database(places);
}

bool stop_server(const ClusterPlaces& places) noexcept {
  const std::optional<pid_t> pid = running_server(places);
  if (!pid) return true;
  return stop_process(*pid, SIGINT, kStopPatience) || stop_process(*pid, SIGQUIT, 10s);
}

}  // namespace spintag::db
