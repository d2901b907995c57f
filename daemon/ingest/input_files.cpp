// daemon/ingest/input_files.cpp - which files the arguments of `spintag ingest` stand for.
#include "daemon/ingest/input_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>
#include <unordered_set>

#include "daemon/ingest/melody_ingester.h"
#include "daemon/ingest/playlist.h"
#include "fingerprint/audio/reader.h"

namespace spintag::daemon {

namespace fs = std::filesystem;

namespace {

// What a music folder holds; a file of any other name can still be named itself.
constexpr std::array<std::string_view, 32> kAudioExtensions{
    ".aac", ".ac3",  ".aif", ".aifc", ".aiff", ".ape", ".au",   ".caf",  ".dsf", ".flac", ".m4a",
    ".m4b", ".mka",  ".mp2", ".mp3",  ".mp4",  ".mpa", ".mpc",  ".mpga", ".oga", ".ogg",  ".opus",
    ".ra",  ".rf64", ".spx", ".tta",  ".w64",  ".wav", ".wave", ".webm", ".wma", ".wv"};

bool has_audio_extension(const fs::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(kAudioExtensions.begin(), kAudioExtensions.end(), extension) !=
         kAudioExtensions.end();
}

class Finder {
 public:
  void add(const std::string& source) {
    if (fingerprint::is_network_source(source)) {
      return bad(source, "a URL: only files are ingested");
    }
    std::error_code error;
    const fs::file_status status = fs::status(source, error);
    if (status.type() == fs::file_type::not_found) return bad(source, "does not exist");
    if (!fs::status_known(status)) return bad(source, error.message());
    if (fs::is_directory(status)) return add_folder(source);
    if (is_playlist(source)) return add_playlist(source);
    if (!fs::is_regular_file(status)) return bad(source, "not a file");
    take(source);
  }

  InputFiles found;

 private:
  void bad(const std::string& source, const std::string& reason) {
    found.bad.push_back({source, reason});
  }

  void take(const std::string& source) {
    if (seen_.insert(source).second) found.files.push_back(source);
  }

  void add_folder(const std::string& folder) {
    const std::size_t met_before = met_;
    visited_.clear();
    walk(folder);
    if (met_ == met_before) bad(folder, "no audio files in this folder, nor MIDI or .notes files");
  }

  void bad_folder(const fs::path& folder, const std::string& reason) {
    ++met_;  // said to be unreadable is enough; not to be empty as well
    bad(folder.string(), reason);
  }

  void walk(const fs::path& folder) {
    struct stat about {};
    if (::stat(folder.c_str(), &about) != 0) return bad_folder(folder, std::strerror(errno));
    if (!visited_.insert({about.st_dev, about.st_ino}).second) return;
    std::error_code error;
    std::vector<fs::path> names;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      if (!entry->path().filename().string().starts_with('.')) names.push_back(entry->path());
    }
    if (error) bad_folder(folder, error.message());
    std::sort(names.begin(), names.end());
    for (const fs::path& path : names) {
      const fs::file_status status = fs::status(path, error);
      if (fs::is_directory(status)) {
        walk(path);
      } else if (has_audio_extension(path) || is_melody_file(path.string())) {
        ++met_;
        if (!fs::is_regular_file(status)) {
          bad(path.string(), error ? error.message() : "not a file");
          continue;
        }
        take(path.string());
      }
    }
  }

  void add_playlist(const std::string& playlist) {
    std::ifstream in(playlist, std::ios::binary);
    if (!in) return bad(playlist, std::strerror(errno));
    const std::string extension = fs::path(playlist).extension().string();
    const bool is_pls = extension.size() == 4 && std::tolower(extension[1]) == 'p';
    const std::vector<std::string> entries = parse_playlist(in, is_pls);
    if (entries.empty()) return bad(playlist, "a playlist without entries");
    for (const std::string& entry : entries) add_entry(playlist, entry);
  }

  void add_entry(const std::string& playlist, const std::string& entry) {
    if (fingerprint::is_network_source(entry)) {
      return bad(entry, "a URL in " + playlist + ": only files are ingested");
    }
    const fs::path folder = fs::path(playlist).parent_path();
    fs::path path = folder / entry;
    std::error_code error;
    if (!fs::exists(path, error) && entry.find('\\') != std::string::npos) {
      std::string slashes = entry;  // as players on Windows write them
      std::replace(slashes.begin(), slashes.end(), '\\', '/');
      path = folder / slashes;
    }
    const fs::file_status status = fs::status(path, error);
    if (fs::is_regular_file(status) && !is_playlist(path)) return take(path.string());
    const std::string why = !fs::exists(status) ? "does not exist"
                            : is_playlist(path) ? "a playlist inside a playlist"
                                                : "not a file";
    bad(path.string(), why + " (named in " + playlist + ")");
  }

  std::unordered_set<std::string> seen_;
  std::set<std::pair<dev_t, ino_t>> visited_;  ///< folders of this argument
  std::size_t met_ = 0;                        ///< files with the name of one to take, in folders
};

}  // namespace

InputFiles find_input_files(const std::vector<std::string>& arguments) {
  Finder finder;
  for (const std::string& argument : arguments) finder.add(argument);
  return std::move(finder.found);
}

}  // namespace spintag::daemon
