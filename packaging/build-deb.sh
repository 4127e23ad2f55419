#!/bin/sh
# Builds a Debian package of this checkout, after "npm ci". Usage: packaging/build-deb.sh <folder> [compression of dpkg-deb]
# It prints the path of the package. The package has the Node that npm has installed, for the architecture of this machine.
set -eu
umask 022
folder=$1
compression=${2:-xz}
checkout=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
sh "$checkout/bin/find-node.sh"
PATH=$checkout/node_modules/.bin:$PATH
node "$checkout/console/build.js"
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"
node "$checkout/bin/causeway.js" install --root "$tree" >&2

version=$(node -p 'require(process.argv[1]).version' "$checkout/package.json")
architecture=$(dpkg --print-architecture)
mkdir -p "$tree/DEBIAN" "$folder"
cat >"$tree/DEBIAN/control" <<CONTROL
Package: causeway
Version: $version
Architecture: $architecture
Maintainer: ${DEBFULLNAME:-Causeway} <${DEBEMAIL:-root@localhost}>
Depends: libc6, libatomic1, passwd, util-linux
Recommends: systemd, ca-certificates
Section: net
Priority: optional
Description: content delivery network and SMS service
 Accelerates domains with caching edges and sends SMS over SMPP, managed through
 one interface. Its own Node is part of the package.
CONTROL
echo /etc/causeway/causeway.toml >"$tree/DEBIAN/conffiles"
cat >"$tree/DEBIAN/postinst" <<'POSTINST'
#!/bin/sh
set -e
if ! getent passwd causeway >/dev/null; then
  group=--user-group
  if getent group causeway >/dev/null; then group='--gid causeway'; fi
  useradd --system $group --home-dir /var/lib/causeway --no-create-home --shell /usr/sbin/nologin causeway
fi
for folder in /var/lib/causeway /var/backups/causeway; do
  [ -d "$folder" ] || install -d -m 0700 -o causeway -g causeway "$folder"
done
chown root:causeway /etc/causeway/causeway.toml
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  # Files of the release that ran are gone.
  systemctl try-restart causeway.service
fi
if [ -z "${2:-}" ]; then
  echo 'next: look through /etc/causeway/causeway.toml, run "causeway doctor", then'
  echo '  systemctl enable --now causeway.socket causeway.service causeway-backup.timer'
fi
POSTINST
cat >"$tree/DEBIAN/prerm" <<'PRERM'
#!/bin/sh
set -e
# The data in /var/lib/causeway and /var/backups/causeway stays, also when the package is purged.
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl disable --now causeway.service causeway.socket causeway-backup.timer
fi
PRERM
chmod 755 "$tree/DEBIAN/postinst" "$tree/DEBIAN/prerm"
package=$folder/causeway_${version}_$architecture.deb
dpkg-deb --root-owner-group -Z"$compression" --build "$tree" "$package" >&2
echo "$package"
