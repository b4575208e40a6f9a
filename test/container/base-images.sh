#!/usr/bin/env bash
# Makes the base images that Dockerfile.distroless names from Debian's packages and npm alone, so that it can be built
# where no image registry is reached. `base-images.sh STORE RUN` puts them into an image store of their own (its folder,
# and one for what a restart may lose): images in the machine's own store keep their names. What is there is left alone:
# removing STORE makes all of it anew.
set -euo pipefail
store=$1 run=$2
debian=localhost/debian:12 node=docker.io/library/node:24-bookworm-slim distroless=gcr.io/distroless/static-debian12:nonroot
certificates=etc/ssl/certs/ca-certificates.crt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 0755 "$work" # apt downloads as its own user

image() { buildah --root "$store" --runroot "$run" --storage-driver overlay "$@"; }

lacks() { ! image inspect --type image "$1" >/dev/null 2>&1; }

commit() { # BASE FOLDER NAME [CONFIG...]: the folder on top of the base
  local container
  container=$(image from --pull-never "$1")
  image copy -q "$container" "$2" / >/dev/null
  [ $# -eq 3 ] || image config "${@:4}" "$container"
  image commit -q --rm "$container" "$3" >/dev/null
  echo "made $3"
}

make_debian() { # from the mirror that this machine uses
  local mirror root=$work/debian
  mirror=$(awk '/^(URIs:|deb )/ {print $2; exit}' /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null || true)
  debootstrap --variant=minbase bookworm "$root" ${mirror:+"$mirror"} >"$work/log" 2>&1 || { tail "$work/log" >&2; exit 1; }
  rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "${root:?}"/dev/*
  commit scratch "$root" "$debian"
}

make_node() {
  local root=$work/node/usr/local arch
  arch=$(node -p process.arch)
  mkdir -p "$root/bin" "$root/lib/node_modules" "$work/pack"
  (cd "$work/pack" && npm pack --silent "node-linux-$arch@24" npm@11 >/dev/null)
  tar -xzf "$work"/pack/node-linux-*.tgz -C "$work/pack" package/bin/node
  install -m 0755 "$work/pack/package/bin/node" "$root/bin/node"
  rm -rf "$work/pack/package"
  tar -xzf "$work"/pack/npm-*.tgz -C "$work/pack"
  mv "$work/pack/package" "$root/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/bin/npm"
  chmod 0755 "$root"/lib/node_modules/npm/bin/*.js
  commit "$debian" "$work/node" "$node"
}

make_distroless() { # the packages that distroless/static is made of, without any program
  local root=$work/distroless package
  mkdir -p "$root/home/nonroot" "$root/tmp" "$root/${certificates%/*}" "$work/packages"
  chmod 1777 "$root/tmp" "$work/packages"
  (cd "$work/packages" && apt-get download -qq base-files media-types netbase tzdata)
  for package in "$work"/packages/*.deb; do dpkg -x "$package" "$root"; done
  rm -rf "${root:?}"/{bin,sbin,usr/bin,usr/sbin}
  cp "/$certificates" "$root/$certificates"
  printf '%s:x:%d:%d:%s:%s:/sbin/nologin\n' root 0 0 root /root nobody 65534 65534 nobody /nonexistent \
    nonroot 65532 65532 nonroot /home/nonroot >"$root/etc/passwd"
  printf '%s:x:%d:\n' root 0 nobody 65534 nonroot 65532 >"$root/etc/group"
  chown 65532:65532 "$root/home/nonroot"
  commit scratch "$root" "$distroless" --user 65532 --workingdir /home/nonroot \
    --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --env SSL_CERT_FILE=/$certificates
}

if lacks "$node"; then
  if lacks "$debian"; then make_debian; fi
  make_node
fi
if lacks "$distroless"; then make_distroless; fi
