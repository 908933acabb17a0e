#!/usr/bin/env bash
# Makes Debian packages of torc, in FOLDER (default: packages). On a bare Debian 12 it first
# installs the build's requirements.
#
#   bash tools/package.sh [FOLDER]
#   apt install ./packages/*.deb
#
#   libtorc1     libtorc.so.1 and libtorc_pmpi.so.1     libtorc-dev  headers, pkg-config, CMake
#   torc         the programs, man pages, completion    torc-linalg  multiplication and LU
#   torc-doc     the pages, as HTML too                       python3-torc the module
#   torc-openmpi libraries, headers and torc-run for Open MPI, beside those of MPICH: /usr/lib/torc/openmpi
#
# $TORC_MAINTAINER: their maintainer, as `Name <mail@host>` (default: the author of the last
# commit).
set -euo pipefail
if [[ $# -gt 1 || ${1-} == -* ]]; then
  echo "usage: bash tools/package.sh [FOLDER]" >&2
  exit 2
fi
folder=$(realpath -m "${1:-packages}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

openmpi=usr/lib/torc/openmpi
DESTDIR=$work/torc-openmpi bash tools/install.sh --mpi openmpi "/$openmpi"
DESTDIR=$work/all bash tools/install.sh /usr
version=$("$work/all/usr/bin/torc" --version | sed 's/^torc //')
architecture=$(dpkg --print-architecture)
maintainer=${TORC_MAINTAINER:-$(git log -1 --format='%an <%ae>' 2>/dev/null || echo 'torc <torc@localhost>')}
epoch=$(git log -1 --format=%ct 2>/dev/null || date +%s)

# take PACKAGE PATTERN...: files of /usr go to a package.
take() {
  local package=$1 file
  shift
  for pattern in "$@"; do
    for file in "$work/all/usr"/$pattern; do
      mkdir -p "$work/$package/usr/$(dirname "${file#"$work/all/usr/"}")"
      mv "$file" "$work/$package/usr/${file#"$work/all/usr/"}"
    done
  done
}
take torc-linalg lib/libtorc_linalg.so.* bin/torc-{gemm,lu} share/man/man1/torc-{gemm,lu}.1
take libtorc-dev 'lib/*.so' include lib/pkgconfig lib/cmake
take libtorc1 'lib/*.so.*'
take python3-torc lib/python3
take torc bin share/man share/bash-completion share/fish share/zsh share/torc
mv "$work/torc/usr/share/zsh/"{site-functions,vendor-completions}
take torc-doc share/doc/torc
if [[ ! -e $work/torc-doc/usr/share/doc/torc/index.html ]]; then
  echo "package.sh: torc-doc has no book" >&2
  exit 1
fi
mkdir "$work/torc-doc/usr/share/doc-base"
cat >"$work/torc-doc/usr/share/doc-base/torc-doc.torc" <<'END'
Document: torc
Title: torc: collectives of torus networks, compiled
Author: the torc authors
Abstract: Tutorials and reference for users, sites, researchers and developers.
Section: Science/Engineering

Format: HTML
Index: /usr/share/doc/torc/index.html
Files: /usr/share/doc/torc/*.html /usr/share/doc/torc/*/*.html
END
# Environment modules are for separate installation trees.
rm -r "$work/all/usr/share/modulefiles"
rm -r "$work/torc-openmpi/$openmpi/"{share,lib/python3} "$work/torc-openmpi/$openmpi/bin/"{torc,torc-model}
left=$(find "$work/all" -type f -o -type l)
if [[ -n $left ]]; then
  echo "package.sh: no package has $left" >&2
  exit 1
fi

# Files that python3 has compiled of the module are removed with it.
mkdir "$work/python3-torc/DEBIAN"
printf '#!/bin/sh\nset -e\nif command -v py3compile >/dev/null 2>&1; then\n  py3compile -p python3-torc\nfi\n' >"$work/python3-torc/DEBIAN/postinst"
printf '#!/bin/sh\nset -e\nif command -v py3clean >/dev/null 2>&1; then\n  py3clean -p python3-torc\nfi\n' >"$work/python3-torc/DEBIAN/prerm"
chmod 755 "$work/python3-torc/DEBIAN/"{postinst,prerm}

# describe PACKAGE SECTION DEPENDS TITLE TEXT
describe() {
  local package=$1 section=$2 depends=$3 title=$4 text=$5 root=$work/$1 elf=() found=
  mapfile -t elf < <(find "$root" -type f \( -path '*/bin/*' -o -name '*.so.*' \))
  if [[ ${#elf[@]} -gt 0 ]]; then
    strip --strip-unneeded --remove-section=.comment --remove-section=.note "${elf[@]}"
    find "$root" -name '*.so.*' -exec chmod 644 {} +
    # It requires a source package.
    mkdir -p "$work/debian"
    printf 'Source: torc\n\nPackage: %s\nArchitecture: any\n' "$package" >"$work/debian/control"
    found=$(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info -l"$work/libtorc1/usr/lib" "${elf[@]/#/-e}" \
      2>/dev/null | sed -n 's/^shlibs:Depends=//p')
  fi
  find "$root" -path '*/man[17]/*.[17]' -exec gzip -9n {} +
  local pages=$root/usr/share/doc/$package
  mkdir -p "$root/DEBIAN" "$pages"
  {
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: torc\n\n'
    printf 'Files: *\nCopyright: %s the torc authors\nLicense: Apache-2.0\n On Debian systems: /usr/share/common-licenses/Apache-2.0\n' "$(date -u -d "@$epoch" +%Y)"
  } >"$pages/copyright"
  printf 'torc (%s) unstable; urgency=medium\n\n  * As of %s; CHANGELOG.md says what is new.\n\n -- %s  %s\n' \
    "$version" "$(git rev-parse --short HEAD 2>/dev/null || echo unknown)" "$maintainer" "$(date -R -u -d "@$epoch")" |
    gzip -9n >"$pages/changelog.gz"
  local all=${depends}${found:+${depends:+, }$found} kind=$architecture
  [[ ${#elf[@]} -gt 0 || $package == libtorc-dev ]] || kind=all
  {
    printf 'Package: %s\nSource: torc\nVersion: %s\nArchitecture: %s\nMaintainer: %s\n' "$package" "$version" "$kind" "$maintainer"
    printf 'Installed-Size: %s\n' "$(du -ks --exclude=DEBIAN "$root" | cut -f1)"
    [[ -z $all ]] || printf 'Depends: %s\n' "$all"
    printf 'Section: %s\nPriority: optional\nDescription: %s\n%s\n' "$section" "$title" "$text"
  } >"$root/DEBIAN/control"
  local library
  for library in "$root"/usr/lib/*.so.1; do
    [[ -e $library ]] || continue
    printf '%s 1 %s (>= %s)\n' "$(basename "$library" .so.1)" "$package" "$version" >>"$root/DEBIAN/shlibs"
    echo 'activate-noawait ldconfig' >"$root/DEBIAN/triggers"
  done
  # A name missing from the list, or too many, is a fault.
  [[ ! -e tools/packaging/$package.symbols ]] ||
    dpkg-gensymbols -c4 -q -p"$package" -P"$root" -v"$version" -Itools/packaging/"$package.symbols" -O"$root/DEBIAN/symbols"
  (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
  find "$root" -type d -exec chmod 755 {} +
  find "$root" -exec touch -h -d "@$epoch" {} +
  mkdir -p "$folder"
  dpkg-deb --root-owner-group --build "$root" "$folder/${package}_${version}_$kind.deb" >/dev/null
}
describe libtorc1 libs "" "compiled collectives of torus networks (libraries)" \
  " The runtime that replays compiled schedules over MPICH, and the library that
 serves the collectives of unmodified programs by LD_PRELOAD."
describe libtorc-dev libdevel "libtorc1 (= $version), torc-linalg (= $version), libmpich-dev" "compiled collectives of torus networks (headers)" \
  " Headers, pkg-config files and the CMake package of torc's C API."
describe torc science "libtorc1 (= $version), mpich" "compiler of MPI collectives on torus networks" \
  " torc lowers a collective and a torus shape through passes into a schedule,
 proves it, and writes it to a file, which the runtime replays over MPI."
describe python3-torc python "python3:any, torc (>= $version)" "compiled collectives of torus networks (Python)" \
  " A module that writes schedules chunk by chunk, and gives what torc knows of
 schedules as values."
describe torc-linalg science "libtorc1 (= $version)" "dense linear algebra in 2.5D on torus collectives" \
  " Matrix multiplication and LU factorization in the place of pdgemm and
 pdgetrf, on line collectives."
describe torc-openmpi science "torc (= $version), openmpi-bin" "compiled collectives of torus networks (Open MPI)" \
  " The libraries, headers and torc-run for programs of Open MPI, below
 /usr/lib/torc/openmpi. Schedules serve both MPIs."
describe torc-doc doc "" "compiled collectives of torus networks (pages)" \
  " A book for users, sites, developers and researchers, with tutorials and
 examples: /usr/share/doc/torc/index.html."
ls -l "$folder" | awk 'NR > 1 { print $5, $9 }'
