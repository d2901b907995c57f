// daemon/demo/announcer.cpp - the voice that names the songs of a programme.
#include "daemon/demo/announcer.h"

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "daemon/demo/child_process.h"
#include "fingerprint/audio/reader.h"

namespace spintag::daemon {

Announcer make_announcer(const std::filesystem::path& directory, int rate_hz) {
  return [file = directory / "talk.wav", log = directory / "espeak.log", rate_hz](
             const Song* ending, const Song& next) {
    std::string words = ending == nullptr ? "This is the spintag demonstration radio. "
                                          : "That was " + ending->title + ". ";
    words += "And now: " + next.title;
    if (!next.artist.empty()) words += ", by " + next.artist;
    words += ".";
    // The words follow "--": a title may begin with a dash.
    ChildProcess voice(
        {.command = {"espeak-ng", "-v", "en", "-a", "120", "-w", file.string(), "--", words},
         .log = log,
         .user = {}});
    if (voice.wait(std::chrono::seconds(20)) != 0) {
      throw std::runtime_error("espeak-ng failed: " + end_of_log(log));
    }
    fingerprint::AudioOptions options;
    options.rate_hz = rate_hz;
    fingerprint::AudioReader reader(file.string(), options);
    std::vector<float> samples;
    while (reader.read(samples)) {
    }
    return samples;
  };
}

}  // namespace spintag::daemon
