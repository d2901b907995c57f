// fingerprint/audio/source.h - what a source string names, and how it is shown to people.
#pragma once

#include <string>

namespace spintag::fingerprint {

enum class SourceKind { kFile, kStandardInput, kNetwork };

/// A string with "://" in it, or one that begins like a libav protocol with sub-arguments
/// ("subfile,,"), is no file name unless a file of that very name exists.
/// @throws AudioError for any scheme but http and https, naming those that are allowed
SourceKind classify_source(const std::string& source);

/// The source as it may stand in a log: a URL loses its user, password and query.
std::string shown_source(const std::string& source);

}  // namespace spintag::fingerprint
