// fingerprint/audio/name_lookup.cpp - a host name looked up so that the wait can be ended.
#include "fingerprint/audio/name_lookup.h"

#include <netdb.h>

#include <ctime>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace spintag::fingerprint {
namespace {

constexpr long kWaitNs = 50'000'000;  // how soon a stop or a deadline is seen

struct Lookup {
  explicit Lookup(std::string name) : host(std::move(name)) { request.ar_name = host.c_str(); }
  ~Lookup() {
    if (request.ar_result != nullptr) ::freeaddrinfo(request.ar_result);
  }
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  bool in_progress() { return ::gai_error(&request) == EAI_INPROGRESS; }

  std::string host;
  gaicb request{};
};

/// Lookups that nobody waits for any more but that the C library still writes to.
class AbandonedLookups {
 public:
  void add(std::unique_ptr<Lookup> lookup) {
    const std::lock_guard lock(mutex_);
    lookups_.remove_if([](const auto& old) { return !old->in_progress(); });
    lookups_.push_back(std::move(lookup));
  }

 private:
  std::mutex mutex_;  ///< guards lookups_
  std::list<std::unique_ptr<Lookup>> lookups_;
};

}  // namespace

bool wait_for_name(const std::string& host, Interrupt& interrupt) {
  // Never destroyed: the C library may still write to a lookup while the process ends.
  static auto* abandoned = new AbandonedLookups;
  auto lookup = std::make_unique<Lookup>(host);
  gaicb* requests[] = {&lookup->request};
  if (::getaddrinfo_a(GAI_NOWAIT, requests, 1, nullptr) != 0) return true;  // libav will tell
  while (lookup->in_progress()) {
    if (interrupt.should_end()) {
      if (::gai_cancel(&lookup->request) == EAI_NOTCANCELED) abandoned->add(std::move(lookup));
      return false;
    }
    const timespec wait{0, kWaitNs};
    ::gai_suspend(requests, 1, &wait);
  }
  return true;
}

}  // namespace spintag::fingerprint
