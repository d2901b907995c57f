// daemon/ingest/patient_store.cpp - a worker's connection, which outlasts a restart of the
// database.
#include "daemon/ingest/patient_store.h"

#include <condition_variable>
#include <mutex>

namespace spintag::daemon {

void PatientStore::wait(std::chrono::milliseconds time) const {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop_, time, [] { return false; });
  if (stop_.stop_requested()) throw Stopped{};
}

}  // namespace spintag::daemon
