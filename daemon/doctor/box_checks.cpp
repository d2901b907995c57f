// daemon/doctor/box_checks.cpp - what the machine itself offers.
#include "daemon/doctor/box_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/timex.h>
#include <sys/utsname.h>

#include <array>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "fingerprint/audio/library.h"
#include "kernels/device.h"

namespace spintag::daemon {

using Health = Finding::Health;

namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr double kLittleRoom_bytes = 2 * kGiB;  ///< a year of plays and a snapshot being rewritten
constexpr double kNoRoom_bytes = 0.25 * kGiB;   ///< PostgreSQL stops when it cannot write

std::string processor_level() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return "x86-64-v4 (AVX-512)";
  if (__builtin_cpu_supports("x86-64-v3")) return "x86-64-v3 (AVX2)";
  if (__builtin_cpu_supports("x86-64-v2")) return "x86-64-v2";
  return "x86-64";
#else
  utsname name{};
  return uname(&name) == 0 ? name.machine : "unknown";
#endif
}

std::string cuda_version(int number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

}  // namespace

std::string human_bytes(double bytes) {
  constexpr std::array kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return unit == 0 ? fmt::format("{:.0f} bytes", bytes)
                   : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

void check_processor(const Report& report) {
  report({Health::ok, "processor",
          fmt::format("{} cores, {}", std::thread::hardware_concurrency(), processor_level()), ""});
}

void check_device(const std::string& wanted, const Report& report) {
  const auto cuda = kernels::list_cuda_devices();
  if (cuda.devices.empty()) {
    report(
        {Health::ok, "gpu", "none (" + cuda.none_because + "); the processor does the work", ""});
  }
  for (const auto& device : cuda.devices) {
    report({Health::ok, "gpu",
            fmt::format("cuda:{} {}, {}, compute {}.{}, driver for CUDA {}, built with CUDA {}",
                        device.index, device.name,
                        human_bytes(static_cast<double>(device.memory_bytes)), device.compute_major,
                        device.compute_minor, cuda_version(cuda.driver_version),
                        cuda_version(cuda.runtime_version)),
            ""});
  }
  try {
    const auto device = kernels::Device::open(kernels::DeviceChoice::parse(wanted));
    const bool skipped = wanted == "auto" && !device.is_cuda() && !cuda.devices.empty();
    report({skipped ? Health::warn : Health::ok, "device",
            fmt::format("recognition.device = \"{}\" gives {}", wanted, device.name()),
            skipped ? "spintag doctor --device cuda:0 says why the card is not used" : ""});
  } catch (const kernels::DeviceError& error) {
    report({Health::fail, "device", error.what(), "set recognition.device to \"auto\" or \"cpu\""});
  }
}

void check_audio_library(const Report& report) {
  const auto library = fingerprint::describe_audio_library();
  std::string message =
      fmt::format("FFmpeg {}: {}", library.version, fmt::join(library.decoders, ", "));
  if (library.https) message += "; https";
  if (library.missing.empty() && library.https) {
    report({Health::ok, "audio", message, ""});
    return;
  }
  auto missing = library.missing;
  if (!library.https) missing.emplace_back("https");
  report({Health::warn, "audio", message,
          fmt::format("streams in these will not open: {}; install the distribution's FFmpeg "
                      "libraries",
                      fmt::join(missing, ", "))});
}

void check_clock(const Report& report) {
  timex state{};
  const int result = adjtimex(&state);
  if (result < 0) {
    report({Health::warn, "clock", "this system does not say whether its clock is kept right",
            "times in the play log are as good as the clock: run an NTP client"});
  } else if (result == TIME_ERROR || (state.status & STA_UNSYNC) != 0) {
    report({Health::warn, "clock", "nothing keeps it right",
            "times in the play log are as good as the clock: apt-get install systemd-timesyncd "
            "or chrony (in a container: on its host)"});
  } else {
    report({Health::ok, "clock",
            fmt::format("synchronised, error at most {:.0f} ms",
                        static_cast<double>(state.maxerror) / 1000.0),
            ""});
  }
}

void check_disk(const std::filesystem::path& directory, const Report& report) {
  std::error_code error;
  auto existing = std::filesystem::absolute(directory, error);
  while (!std::filesystem::exists(existing, error) && existing != existing.parent_path()) {
    existing = existing.parent_path();
  }
  const auto space = std::filesystem::space(existing, error);
  if (error) {
    report({Health::warn, "disk", existing.string() + ": " + error.message(), ""});
    return;
  }
  const auto free_bytes = static_cast<double>(space.available);
  const auto health = free_bytes < kNoRoom_bytes       ? Health::fail
                      : free_bytes < kLittleRoom_bytes ? Health::warn
                                                       : Health::ok;
  report(
      {health, "disk", fmt::format("{} free for {}", human_bytes(free_bytes), directory.string()),
       health == Health::ok ? "" : "make room, or set database.state_directory to another disk"});
}

}  // namespace spintag::daemon
