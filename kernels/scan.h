// kernels/scan.h - running sums, from which lists of unknown length get their places.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/device.h"

namespace spintag::kernels {

/// @return [counts.size() + 1]: before each count the sum of those before it, at the end that of
/// all; modulo 2^32
/// @throws DeviceError if the device fails. One caller per Device at a time.
std::vector<std::uint32_t> exclusive_sums(Device& device, std::span<const std::uint32_t> counts);

namespace cuda {

std::vector<std::uint32_t> exclusive_sums(Device& device, std::span<const std::uint32_t> counts);

}  // namespace cuda
}  // namespace spintag::kernels
