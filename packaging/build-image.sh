#!/bin/sh
# Builds an image from a package of build-deb.sh, with buildah and debootstrap. Usage: packaging/build-image.sh <package> <name>
# For root. The release and the mirror of Debian are those of this machine, or stable and $DEBIAN_MIRROR.
set -eu
package=$1
name=$2
suite=stable
mirror=${DEBIAN_MIRROR:-}
. /etc/os-release
if [ -z "$mirror" ] && [ "$ID" = debian ]; then
  suite=$VERSION_CODENAME
  mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $suite" 'Component: main' 'Created-By: Packages' | head -n 1)
fi
container=$(buildah from scratch)
trap 'buildah rm "$container" >/dev/null' EXIT
root=$(buildah mount "$container")
debootstrap --variant=minbase --include=libatomic1,ca-certificates "$suite" "$root" ${mirror:+"$mirror"} >/dev/null
cp "$package" "$root/causeway.deb"
chroot "$root" dpkg -i /causeway.deb
rm -rf "$root/causeway.deb" "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/*
buildah umount "$container" >/dev/null
buildah config --user causeway --workingdir /var/lib/causeway --stop-signal SIGTERM \
  --port 80 --port 443 --port 1935 --volume /var/lib/causeway \
  --entrypoint '["/usr/bin/causeway"]' --cmd serve "$container"
buildah commit "$container" "$name"
