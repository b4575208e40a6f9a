#!/bin/sh
# build/publish.sh REGISTRY [FLAG...] builds ebb's image, pushes it as REGISTRY/ebb, and the Helm chart, with this image as
# its default, as REGISTRY/charts/ebb. It needs docker or podman, and Helm 3.8 or newer; no Node.js. REGISTRY may have
# folders: registry.example.com/team. The flags go to the build: --platform linux/amd64.
#
# Log in first: docker login HOST. Helm reads what docker has stored; beside podman, run helm registry login HOST, too.
set -eu

fail() {
  echo "publish: $1" >&2
  exit "$2"
}

project=$(cd "$(dirname "$0")/.." && pwd)
registry=${1:-}
case $registry in
"" | -*) fail "expected a registry: build/publish.sh registry.example.com" 64 ;;
*://*) fail "$registry: expected no scheme: build/publish.sh ${registry#*://}" 64 ;;
docker.io | docker.io/*) fail "$registry: Docker Hub has no folders, so the chart would replace the image" 64 ;;
*[!a-z0-9._:/-]* | */ | *//* | */*:*) fail "$registry: expected HOST[:PORT][/FOLDER]" 64 ;;
localhost | localhost/*) ;;
*) case ${registry%%/*} in *[.:]*) ;; *) fail "$registry: expected a host, such as registry.example.com/$registry" 64 ;; esac ;;
esac
shift

has() { command -v "$1" >/dev/null; }
if has docker; then engine=docker; elif has podman; then engine=podman; else fail "neither docker nor podman is in PATH" 69; fi
has helm || fail "helm is not in PATH, so nothing is built (the image alone: see Dockerfile.distroless)" 69

# a registry on this machine has no TLS; docker knows that
plain= insecure=
case $registry in localhost | localhost[:/]* | 127.*)
  plain=--plain-http
  [ "$engine" = docker ] || insecure=--tls-verify=false
  ;;
esac

version=$(sed -n 's/^appVersion: //p' "$project/build/chart/Chart.yaml")
image=$registry/ebb
"$engine" build -f "$project/Dockerfile.distroless" --target scratch -t "$image:$version" "$@" "$project"
"$engine" push ${insecure:+"$insecure"} "$image:$version"

packed=$(mktemp -d)
trap 'rm -rf "$packed"' EXIT
cp -R "$project/build/chart" "$packed/ebb"
sed "s|^  repository: \"\"|  repository: $image|" "$project/build/chart/values.yaml" >"$packed/ebb/values.yaml"
helm package --destination "$packed" "$packed/ebb"
helm push ${plain:+"$plain"} "$packed/ebb-$version.tgz" "oci://$registry/charts"

cat <<END

image  $image:$version
chart  oci://$registry/charts/ebb

    helm install ebb oci://$registry/charts/ebb --version $version --namespace ebb --create-namespace --wait${plain:+ $plain}

The manual's commands take the chart as a file, ebb-$version.tgz:

    helm pull oci://$registry/charts/ebb --version $version${plain:+ $plain}
END
