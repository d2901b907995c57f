// config/nearest.h - the known word that somebody most likely meant.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace spintag::config {

/// Insertions, deletions, substitutions and swaps of neighbours that turn one word into the other.
/// Damerau 1964, in the form without edits inside a swapped pair (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// "did you mean X?" when a known word is near enough, else "known: A, B, C".
std::string suggest(std::string_view word, std::span<const std::string_view> known);

}  // namespace spintag::config
