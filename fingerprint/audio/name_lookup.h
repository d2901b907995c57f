// fingerprint/audio/name_lookup.h - a host name looked up so that the wait can be ended.
#pragma once

#include <string>

#include "fingerprint/audio/interrupt.h"

namespace spintag::fingerprint {

/// Waits until the name servers have answered for `host`, with whatever answer, or until
/// `interrupt` ends the wait. libav resolves names itself in a call that nothing can end, which
/// with dead name servers takes up to half a minute; after this it asks for what was answered a
/// moment ago.
/// @return false when the wait was ended
bool wait_for_name(const std::string& host, Interrupt& interrupt);

}  // namespace spintag::fingerprint
