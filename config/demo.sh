#!/usr/bin/env bash
# config/demo.sh - from nothing to tags on a live stream: installs what is missing, builds, runs `spintag demo`.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/config/packages.sh"
export LC_ALL=C.UTF-8

# Sixteen tagged recordings by Maxstack, CC BY-SA 3.0, 49 MiB.
music_package=singularity-music

usage() {
  cat <<'TEXT'
usage: config/demo.sh [--seconds N] [--port N] [--no-install] [FOLDER]

  --seconds N    end after N seconds of radio (otherwise: at Ctrl-C)
  --port N       status page on this port of 127.0.0.1 (otherwise: any free one)
  --no-install   install nothing
  FOLDER         music to play (otherwise: recordings from a Debian package, unpacked in build/)
TEXT
}

folder=
may_install=yes
pass=()
while (($#)); do
  case $1 in
    --seconds | --port)
      if (($# < 2)); then
        echo "config/demo.sh: $1 wants a number" >&2
        exit 2
      fi
      pass+=("$1" "$2")
      shift
      ;;
    --seconds=* | --port=*) pass+=("$1") ;;
    --no-install) may_install=no ;;
    -h | --help) usage && exit 0 ;;
    -*)
      echo "config/demo.sh: unknown option $1" >&2
      usage >&2
      exit 2
      ;;
    *) folder=$1 ;;
  esac
  shift
done

if [[ $may_install == yes ]]; then
  # shellcheck disable=SC2086 # lists of words
  install_missing $packages_build $packages_run $packages_demo || exit 1
fi

if [[ -z $folder ]]; then
  if ! unpack_package "$music_package" "$root/build/music"; then
    echo "config/demo.sh: cannot download $music_package; name a folder with music: config/demo.sh FOLDER" >&2
    exit 1
  fi
  folder=$root/build/music/$music_package
elif [[ ! -d $folder ]]; then
  echo "config/demo.sh: $folder is not a folder" >&2
  exit 2
fi

if [[ ! -f $root/build/release/CMakeCache.txt ]]; then
  (cd "$root" && cmake --preset release -DBUILD_TESTING=OFF)
fi
cmake --build "$root/build/release" --target spintag
exec "$root/build/release/daemon/spintag" demo --music "$folder" ${pass[@]+"${pass[@]}"}
