// daemon/device_backends.h - what the services have done by a device, many at a time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fingerprint/batch_matcher.h"
#include "fingerprint/heard.h"
#include "fingerprint/index.h"

namespace spintag::daemon {

/// Windows of one index, looked up together. One caller at a time, on any thread.
class MatchBackend {
 public:
  virtual ~MatchBackend() = default;
  virtual std::string device() const = 0;  ///< "cuda:0"
  /// @throws kernels::DeviceError if the device failed or the index does not fit
  virtual void load(const std::shared_ptr<const fingerprint::Index>& index) = 0;
  /// @return as many results. @throws kernels::DeviceError
  virtual std::vector<std::vector<fingerprint::Alignment>> match(
      const std::shared_ptr<const fingerprint::Index>& index,
      std::span<const fingerprint::MatchQuery> queries,
      const fingerprint::MatchOptions& options) = 0;
};

/// Whole recordings' dense peaks, and levels if they are wanted. One caller at a time, on any
/// thread.
class ExtractBackend {
 public:
  virtual ~ExtractBackend() = default;
  virtual std::string device() const = 0;  ///< "cuda:0"
  /// @return as many results. @throws kernels::DeviceError
  virtual std::vector<fingerprint::Extraction> extract(
      std::span<const std::span<const float>> recordings) = 0;
};

/// @param device  the setting: "auto", "cpu" or "cuda:N"
/// @return null when the processor does the work
/// @throws kernels::DeviceError for a CUDA device that was named and cannot be used
std::unique_ptr<MatchBackend> open_match_backend(const std::string& device);
std::unique_ptr<ExtractBackend> open_extract_backend(const std::string& device,
                                                     fingerprint::Wanted wanted);

/// Opening a card and bringing the catalogue to it takes longer than answering for a few songs.
/// @return `device`; "cpu" instead of "auto" if these files are few and small
std::string device_for(const std::string& device, std::span<const std::string> files);

}  // namespace spintag::daemon
