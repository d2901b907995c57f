// fingerprint/audio/libav_log.h - libav's log, which goes to nobody but the error messages of this
// folder.
#pragma once

#include <string>

namespace spintag::fingerprint {

/// Takes libav's log over for the whole process (idempotent). Nothing reaches stderr any more; the
/// last error line of each thread is kept, because libav says there what its error codes do not
/// (why a certificate was refused).
void capture_libav_log();

/// Forgets this thread's line, before a call whose failure is to be explained.
void clear_libav_line();

/// This thread's last error line; empty when there was none.
std::string last_libav_line();

}  // namespace spintag::fingerprint
