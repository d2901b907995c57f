// daemon/doctor/box_checks.h - what the machine itself offers: processor, card, audio library,
// clock.
#pragma once

#include <filesystem>

#include "daemon/doctor/finding.h"

namespace spintag::daemon {

void check_processor(const Report& report);
/// @param wanted  the setting: "auto", "cpu" or "cuda:N"
void check_device(const std::string& wanted, const Report& report);
void check_audio_library(const Report& report);
/// Whether the kernel believes that something keeps its clock right.
void check_clock(const Report& report);
/// Room where the state lives, or will live.
void check_disk(const std::filesystem::path& directory, const Report& report);

}  // namespace spintag::daemon
