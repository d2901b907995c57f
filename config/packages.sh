# config/packages.sh - the Debian and Ubuntu packages that spintag needs, and how the scripts install what is missing.
# Sourced by config/demo.sh and tests/run.sh; does nothing by itself.
# shellcheck shell=bash disable=SC2034 # the lists are read by those scripts

# To compile. libboost-dev brings headers only.
packages_build="
  g++ cmake ninja-build pkg-config
  libavformat-dev libavcodec-dev libavutil-dev libswresample-dev
  libfftw3-dev libpqxx-dev libboost-dev libssl-dev libtag1-dev
  libtomlplusplus-dev libcli11-dev libspdlog-dev libfmt-dev nlohmann-json3-dev
"

# To run: PostgreSQL's programs for the private cluster, authorities for https streams.
packages_run="postgresql ca-certificates"

# For `spintag demo`: the radio station that it builds.
packages_demo="icecast2 ffmpeg espeak-ng"

# For the tests, on top of all of the above.
packages_test="
  libgtest-dev libgmock-dev libbenchmark-dev
  python3 python3-numpy python3-scipy python3-soundfile python3-matplotlib
  libchromaprint-tools sox curl openssl
"

# missing_packages PACKAGE... - those that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    if [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
      printf '%s\n' "$package"
    fi
  done
}

# as_root COMMAND... - runs it with the rights that installing takes.
as_root() {
  if ((EUID == 0)); then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

# refresh_package_lists - `apt-get update`, at most once in a script.
refresh_package_lists() {
  [[ -n ${package_lists_are_fresh-} ]] && return 0
  as_root apt-get -qq update || return 1
  package_lists_are_fresh=yes
}

# quiet_services PACKAGE... - Debian starts a package's service when it installs the package. Only the programs are
# wanted here, so the services of the packages named, which this script has just installed, are stopped again.
quiet_services() {
  local package
  for package in "$@"; do
    case $package in
      postgresql | icecast2)
        if [[ -d /run/systemd/system ]]; then
          as_root systemctl --quiet disable --now "$package" || true
        else
          as_root invoke-rc.d --quiet "$package" stop </dev/null >/dev/null 2>&1 || true
          as_root update-rc.d "$package" disable >/dev/null 2>&1 || true
        fi
        ;;
    esac
  done
}

# install_missing PACKAGE... - installs what is missing and says so; 1 with a message when it cannot.
install_missing() {
  local -a missing
  local package
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This is neither Debian nor Ubuntu: taking for granted that these are installed: $*" >&2
    return 0
  fi
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]} == 0)) && return 0
  echo "Installing ${#missing[@]} packages: ${missing[*]}"
  if ((EUID != 0)) && ! command -v sudo >/dev/null; then
    echo "Cannot install them: not root, and there is no sudo. As root:" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    return 1
  fi
  # A box that was never updated has no lists, one that was updated long ago may have stale ones.
  for package in "${missing[@]}"; do
    [[ -n $(apt-cache --quiet madison "$package" 2>/dev/null) ]] || refresh_package_lists || break
  done
  if ! apt_install "${missing[@]}"; then
    if ! refresh_package_lists || ! apt_install "${missing[@]}"; then
      echo "Installing failed; apt-get's message is above." >&2
      return 1
    fi
  fi
  quiet_services "${missing[@]}"
}

# A terminal sees apt-get at work; anything else gets its output only when it fails.
apt_install() {
  local -a get=(apt-get -q -y --no-install-recommends -o Dpkg::Use-Pty=0 install "$@")
  local log status=0
  if [[ -t 1 ]]; then
    as_root "${get[@]}" </dev/null
    return
  fi
  log=$(mktemp) || return 1
  as_root "${get[@]}" </dev/null >"$log" 2>&1 || { status=$? && cat "$log"; }
  rm -f "$log"
  return "$status"
}

# unpack_package PACKAGE FOLDER - the files of a package in FOLDER/PACKAGE, without installing it; 1 when it cannot be
# downloaded. What is there already is kept.
unpack_package() {
  local package=$1 folder=$2 scratch
  [[ -d $folder/$package ]] && return 0
  mkdir -p "$folder" || return 1
  scratch=$(mktemp -d "$folder/download.XXXXXX") || return 1
  if (cd "$scratch" && download_package "$package" && dpkg -x ./*.deb "$scratch/tree" && rm -f ./*.deb) &&
    mv -T "$scratch/tree" "$folder/$package"; then
    rm -rf "$scratch"
    return 0
  fi
  rm -rf "$scratch"
  return 1
}

# Into the current folder. apt's own user may not write there, hence the option; it has no effect for others.
download_package() {
  local -a get=(apt-get -q -o APT::Sandbox::User=root download "$1")
  command -v apt-get >/dev/null || return 1
  "${get[@]}" </dev/null && return 0
  if [[ ${may_install:-yes} == yes ]] && { ((EUID == 0)) || command -v sudo >/dev/null; }; then
    refresh_package_lists && "${get[@]}" </dev/null
  else
    return 1
  fi
}
