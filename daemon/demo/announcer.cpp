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
  return [directory, file = directory / "talk.wav", log = directory / "espeak.log", rate_hz](
             const Song* ending, const Song& next) {
    std::string words = ending == nullptr ? "This is the spintag demonstration radio. "
                                          : "That was " + ending->title + ". ";
    words += "And now: " + next.title;
    if (!next.artist.empty()) words += ", by " + next.artist;
    words += ".";
    // espeak-ng asks for a sound server even when it writes a file, and the server's library leaves
    // a folder in $HOME or /tmp unless it is given one. The words follow "--": a title may begin
    // with a dash.
    ChildProcess voice(
        {.command = {"env", "PULSE_RUNTIME_PATH=" + (directory / "sound").string(), "espeak-ng",
                     "-v", "en", "-a", "120", "-w", file.string(), "--", words},
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
