#!/bin/sh
# Builds an image from a package of build-deb.sh, with buildah and debootstrap. Usage: packaging/build-image.sh <package> <name>
# For root; without root run it in "buildah unshare". The mirror is that of the machine, or $DEBIAN_MIRROR.
set -eu
package=$1
name=$2
container=$(buildah from scratch)
trap 'buildah rm "$container" >/dev/null' EXIT
root=$(buildah mount "$container")
debootstrap --variant=minbase --include=libatomic1,ca-certificates stable "$root" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >/dev/null
cp "$package" "$root/causeway.deb"
chroot "$root" dpkg -i /causeway.deb
rm -rf "$root/causeway.deb" "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/*
buildah umount "$container" >/dev/null
buildah config --user causeway --workingdir /var/lib/causeway --stop-signal SIGTERM \
  --port 80 --port 443 --port 1935 --volume /var/lib/causeway \
  --entrypoint '["/usr/bin/causeway"]' --cmd serve "$container"
buildah commit "$container" "$name"
