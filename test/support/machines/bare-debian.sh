#!/usr/bin/env bash
# A program, for root: makes a minimal Debian with git and npm, with a copy of this checkout, and does there as an ordinary user
# what the README says, then what the argument says. Each step ends with a line "## <name>: <exit code>". Everything is in a name
# space of its own, and gone when this ends, which it does also when its standard input ends. Settings of the machine's (mirror,
# proxies, npm's registry) are taken over.
set -euo pipefail
checkout=$(cd "$(dirname "$0")/../../.." && pwd)
# npm looks for the machine's settings beside the Node that runs it: not the one of a checkout.
PATH=$(printf '%s' "$PATH" | tr : '\n' | grep -v node_modules | paste -sd :)
unset npm_config_globalconfig npm_config_prefix npm_config_local_prefix

guard() {
  exec 3<&0
  folder=$(mktemp -d)
  # Once: the end of the standard input, which comes with most signals, is another.
  trap 'trap "" TERM INT HUP; kill -9 "$inner" 2>/dev/null || true; wait; rm -rf --one-file-system "$folder"' EXIT
  trap 'exit 143' TERM INT HUP
  unshare --mount --pid --fork --kill-child --propagation private bash "$0" inside "$folder" "$1" </dev/null 3<&- &
  inner=$!
  { cat >/dev/null; kill -TERM $$ 2>/dev/null; } <&3 &
  reader=$!
  local code=0
  wait "$inner" || code=$?
  kill "$reader" 2>/dev/null || true
  exit "$code"
}

step() {
  local name=$1 code=0
  shift
  "$@" 2>&1 || code=$?
  printf '\n## %s: %s\n' "$name" "$code"
}

make_debian() {
  # In memory where there is room: packages are unpacked with a sync for each file.
  local free
  free=$(awk '/^MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)
  [ "$free" -lt 8 ] || mount -t tmpfs -o size=5g,mode=755 tmpfs "$root"
  local suite=stable mirror=''
  # shellcheck source=/dev/null
  . /etc/os-release
  if [ "$ID" = debian ]; then
    suite=$VERSION_CODENAME
    mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $suite" 'Component: main' 'Created-By: Packages' | head -n 1)
  fi
  # What was downloaded is kept for the second try.
  local make=(debootstrap --variant=minbase "$suite" "$root" ${mirror:+"$mirror"})
  "${make[@]}" >/dev/null || "${make[@]}" >/dev/null
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  # Nothing of it is kept, and nobody reads about it.
  printf '%s\n' force-unsafe-io 'path-exclude=/usr/share/doc/*' 'path-exclude=/usr/share/man/*' \
    'path-exclude=/usr/share/locale/*' >"$root/etc/dpkg/dpkg.cfg.d/short-lived"
  printf '%s\n' 'Acquire::Retries "3";' 'Acquire::Languages "none";' >"$root/etc/apt/apt.conf.d/short-lived"
  in_debian apt-get update -qq
  in_debian apt-get install -y -qq --no-install-recommends git npm ca-certificates >/dev/null
  in_debian useradd --create-home developer
  (cd "$checkout" && git ls-files -co --exclude-standard -z | tar -c --null --no-recursion --ignore-failed-read -T -) | tar -x -C "$root/home/developer"
  local authorities
  authorities=$(npm config get cafile)
  [ -f "$authorities" ] || authorities=${NODE_EXTRA_CA_CERTS:-}
  if [ -f "$authorities" ]; then cp "$authorities" "$root/etc/machine-authorities.pem"; fi
  in_debian chown -R developer: /home/developer
}

in_debian() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "${proxies[@]}" "$@"; }

as_user() {
  local npm=("npm_config_registry=$(npm config get registry)")
  [ ! -f "$root/etc/machine-authorities.pem" ] || npm+=(npm_config_cafile=/etc/machine-authorities.pem)
  chroot --userspec=developer: "$root" env -i --chdir=/home/developer HOME=/home/developer PATH=/usr/local/bin:/usr/bin:/bin \
    "${proxies[@]}" "${npm[@]}" "$@"
}

# Builds the package as a developer does, and installs, uses and purges it as an operator does.
try_package() {
  as_user sh packaging/build-deb.sh package none
  in_debian sh -euc '
    dpkg -i /home/developer/package/causeway_*.deb
    [ -s /opt/causeway/current/console/dist/index.html ]
    [ "$(stat -c "%U %a" /var/lib/causeway)" = "causeway 700" ]
    options="--control-listen 127.0.0.1:0 --metrics-listen 127.0.0.1:0 --rtmp-listen off"
    options="$options --edge-http-listen 127.0.0.1:0 --edge-https-listen off"
    causeway serve $options >/tmp/said 2>&1 &
    service=$!
    tries=0
    until grep -q "causeway is ready" /tmp/said; do
      tries=$((tries + 1))
      if [ "$tries" = 300 ]; then cat /tmp/said; exit 1; fi
      sleep 0.1
    done
    causeway domain add www.example.com origin.example.net
    causeway db backup --verify
    causeway doctor $options || true # the network is that of the machine
    kill "$service"
    wait "$service"
    [ -z "$(find /var/lib/causeway /var/backups/causeway ! -user causeway)" ]
    dpkg --purge causeway
    [ -e /var/lib/causeway/causeway.db ]
    userdel causeway
    cd /home/developer
    bin/causeway.js install
    bin/causeway.js install
    /usr/local/bin/causeway --version
  '
}

if [ "$1" != inside ]; then guard "$1"; fi
root=$2
cd / # a package's scripts look for the current folder
mapfile -t proxies < <(env | grep -iE '^(https?|no)_proxy=' || true)
step 'a minimal Debian' make_debian
step 'npm ci' as_user npm ci --no-audit --no-fund
step 'npm start without the library' as_user npm start
step 'npm test without the library' as_user npm test
step 'the command without the library' as_user bin/causeway.js --version
step 'the library' in_debian apt-get install -y -qq libatomic1
step 'the first hit' as_user sh -c 'sh bin/find-node.sh && exec node_modules/.bin/node test/support/edge/first-hit.ts'
step 'the package' try_package
step 'the tests' as_user sh -c "$3"
