// fingerprint/audio/libav_log.h - libav's log, which goes to nobody but the error messages of this
// folder.
#pragma once

#include <string>

namespace spintag::fingerprint {

/// Takes libav's log over for the whole process (idempotent). Nothing reaches stderr any more; the
/// first error lines of each thread are kept, because libav says there what its error codes do not
/// (why a certificate was refused).
void capture_libav_log();

/// Forgets this thread's lines, before a call whose failure is to be explained.
void clear_libav_lines();

/// This thread's error lines since then, up to a thousand bytes.
std::string libav_lines();

}  // namespace spintag::fingerprint
