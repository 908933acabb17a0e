#!/usr/bin/env bash
# Installs files to their places below PREFIX, by their names: install_files.sh PREFIX FILE... For
# tools/install.sh, and for tests of its result.
set -euo pipefail
prefix=$1
shift
root=${DESTDIR:-}$prefix

version=
for file in "$@"; do
  [[ $file != */torc ]] || version=$("$file" --version | sed 's/^torc //')
done

for file in "$@"; do
  name=$(basename "$file")
  case $file in
    docs/*)
      install -D -m 644 "$file" "$root/share/doc/torc/${file#docs/}"
      ;;
    */book/*)
      install -D -m 644 "$file" "$root/share/doc/torc/${file#*/book/}"
      ;;
    */torc | */torc-model | */torc-run | */torc-gemm | */torc-lu)
      install -D -m 755 "$file" "$root/bin/$name"
      ;;
    *.so)
      # Programs linked with it look for the name with the version of the interface.
      soname=$(readelf -d "$file" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
      install -D -m 755 "$file" "$root/lib/$soname"
      [[ $soname == "$name" ]] || ln -sfn "$soname" "$root/lib/$name"
      ;;
    *.h)
      install -D -m 644 "$file" "$root/include/$name"
      ;;
    */job_start/*)
      install -D -m "$([[ $file == *.sh ]] && echo 755 || echo 644)" "$file" "$root/share/torc/job_start/$name"
      ;;
    */convert/*.py)
      install -D -m 644 "$file" "$root/lib/python3/dist-packages/torc_convert/$name"
      ;;
    *.py)
      install -D -m 644 "$file" "$root/lib/python3/dist-packages/$name"
      ;;
    *.bash)
      install -D -m 644 "$file" "$root/share/bash-completion/completions/torc"
      ln -sfn torc "$root/share/bash-completion/completions/torc-model"
      ;;
    *.zsh)
      install -D -m 644 "$file" "$root/share/zsh/site-functions/_torc"
      ;;
    *.fish)
      install -D -m 644 "$file" "$root/share/fish/vendor_completions.d/torc.fish"
      ln -sfn torc.fish "$root/share/fish/vendor_completions.d/torc-model.fish"
      ;;
    *.1)
      install -D -m 644 "$file" "$root/share/man/man1/$name"
      ;;
    *.7)
      install -D -m 644 "$file" "$root/share/man/man7/$name"
      ;;
    *.cmake.in)
      mkdir -p "$root/lib/cmake/torc"
      sed "s/@VERSION@/$version/" "$file" >"$root/lib/cmake/torc/${name%.in}"
      ;;
    */modulefile.in)
      mkdir -p "$root/share/modulefiles/torc"
      sed "s/@VERSION@/$version/" "$file" >"$root/share/modulefiles/torc/$version"
      ;;
    *.pc.in)
      if [[ -z $version ]]; then
        echo "install_files.sh: $name needs the version, which bin/torc tells" >&2
        exit 1
      fi
      mkdir -p "$root/lib/pkgconfig"
      sed "s/@VERSION@/$version/" "$file" >"$root/lib/pkgconfig/${name%.in}"
      ;;
    *)
      echo "install_files.sh: $file has no place" >&2
      exit 1
      ;;
  esac
done
