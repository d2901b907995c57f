#!/usr/bin/env bash
# tests/run.sh - installs what is missing, builds, runs every test that this box can run, and ends with the counts.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/config/packages.sh"
export LC_ALL=C.UTF-8
exec </dev/null

# Three recordings by Michael Kievernagel, GPL, 10 MiB: real music for the tests that ask for it.
music_package=asc-music

usage() {
  cat <<'TEXT'
usage: tests/run.sh [--preset NAME | --asan] [--filter REGEX] [--jobs N] [--no-install]

  --preset NAME   a preset of CMakePresets.json (otherwise: release)
  --asan          the same as --preset asan
  --filter REGEX  only the test programs whose ctest name matches
  --jobs N        for the build and the tests (otherwise: every core)
  --no-install    install nothing
TEXT
}

preset=release
filter=
jobs=$(nproc)
may_install=yes
while (($#)); do
  case $1 in
    --preset | --filter | --jobs)
      if (($# < 2)); then
        echo "tests/run.sh: $1 wants a value" >&2
        exit 2
      fi
      case $1 in
        --preset) preset=$2 ;;
        --filter) filter=$2 ;;
        --jobs) jobs=$2 ;;
      esac
      shift
      ;;
    --asan) preset=asan ;;
    --no-install) may_install=no ;;
    -h | --help) usage && exit 0 ;;
    *)
      echo "tests/run.sh: unknown option $1" >&2
      usage >&2
      exit 2
      ;;
  esac
  shift
done

# give_up TEXT - ends before any test ran; the last line stays one that a machine can read.
give_up() {
  echo "tests/run.sh: $1"
  echo "0 passed, 1 failed"
  exit 1
}

# step TEXT - a heading with the time since the start.
step() { printf '\n== %s (%d s)\n' "$1" "$SECONDS"; }

if [[ $may_install == yes ]]; then
  step "Packages"
  # shellcheck disable=SC2086 # lists of words
  install_missing $packages_build $packages_run $packages_demo $packages_test || give_up "packages are missing"
fi

if [[ -z ${SPINTAG_TEST_MUSIC-} ]]; then
  if unpack_package "$music_package" "$root/build/music"; then
    SPINTAG_TEST_MUSIC=$(find "$root/build/music/$music_package" -type f -name '*.mp3' | LC_ALL=C sort | head -n 1)
  else
    echo "No real recording: $music_package cannot be downloaded. Tests that want one will skip and say so."
  fi
fi
export SPINTAG_TEST_MUSIC=${SPINTAG_TEST_MUSIC-}

step "Configure ($preset)"
build=$root/build/$preset
(cd "$root" && cmake --preset "$preset" -DBUILD_TESTING=ON) || give_up "cmake failed"

step "Build"
cmake --build "$build" --parallel "$jobs" || give_up "the build failed"

step "Test"
results=$build/Testing/results
rm -rf "$results"
mkdir -p "$results"
export GTEST_OUTPUT=json:$results/
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
seconds_per_test=300
[[ $preset == *san ]] && seconds_per_test=900
select=()
[[ -n $filter ]] && select=(-R "$filter")
ctest --test-dir "$build" --output-on-failure --no-tests=error --parallel "$jobs" --timeout "$seconds_per_test" \
  --output-junit "$results/ctest.xml" ${select[@]+"${select[@]}"}
status=$?
ctest --test-dir "$build" --show-only=json-v1 ${select[@]+"${select[@]}"} >"$results/ctest.json"

step "Counts"
exec python3 "$root/tests/count_results.py" "$results" "$status"
