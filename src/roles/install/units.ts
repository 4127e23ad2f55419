/** The units of systemd, as text. Pure. docs/decisions/0615 */
import { BACKUP_DIRECTORY, CURRENT, DATA_DIRECTORY, MADE_BY, SERVICE_USER, SETTINGS_FILE } from './places.ts';

interface UnitOptions {
  /** Path of the Node that runs the service. */
  readonly node: string;
  /** Whether systemd holds the sockets of ports 80 and 443. */
  readonly hasSocket: boolean;
}

/** Returns the units by file name. */
export function createUnits({ node, hasSocket }: UnitOptions): Readonly<Record<string, string>> {
  const units = {
    'causeway.service': service(node, hasSocket),
    'causeway-backup.service': backupService(node),
    'causeway-backup.timer': BACKUP_TIMER,
  };
  return hasSocket ? { ...units, 'causeway.socket': SOCKET } : units;
}

/** Words of a command line of ours. */
export function commandLine(node: string): string {
  // SIGUSR1 would open a debugger.
  return `${node} --disable-sigusr1 ${CURRENT}/src/main.ts`;
}

/** A port alone is IPv6 and IPv4 together, and IPv4 on a machine without IPv6. systemd.socket(5) */
const SOCKET = `${MADE_BY} Other ports: "systemctl edit causeway.socket", and the settings.
[Unit]
Description=Sockets of Causeway for viewers

[Socket]
ListenStream=80
ListenStream=443
Backlog=4096

[Install]
WantedBy=sockets.target
`;

function service(node: string, hasSocket: boolean): string {
  const command = commandLine(node);
  const socket = hasSocket ? 'Requires=causeway.socket\nAfter=causeway.socket\n' : '';
  return `${MADE_BY} Changes: "systemctl edit causeway.service".
[Unit]
Description=Causeway, content delivery network and SMS service
Documentation=file:${CURRENT}/docs/install.md
Wants=network-online.target
After=network-online.target time-sync.target postgresql.service
${socket}
[Service]
Type=notify
NotifyAccess=all
ExecStart=${command} serve --config ${SETTINGS_FILE}
ExecReload=${command} restart --config ${SETTINGS_FILE}
User=${SERVICE_USER}
Group=${SERVICE_USER}
WorkingDirectory=${DATA_DIRECTORY}
StateDirectory=causeway
StateDirectoryMode=0700
# Only the supervisor is asked to stop; it stops its parts, which have 10 s.
KillMode=mixed
TimeoutStopSec=30
# A new release may bring a large database up to date.
TimeoutStartSec=600
Restart=on-failure
RestartSec=2
# The supervisor starts a killed part again by itself.
OOMPolicy=continue
LimitNOFILE=1048576
TasksMax=infinity
${hasSocket ? NO_CAPABILITIES : LOW_PORTS}
${HARDENING}
[Install]
WantedBy=multi-user.target
`;
}

const NO_CAPABILITIES = `CapabilityBoundingSet=
PrivateUsers=yes`;

const LOW_PORTS = `CapabilityBoundingSet=CAP_NET_BIND_SERVICE
AmbientCapabilities=CAP_NET_BIND_SERVICE`;

/** MemoryDenyWriteExecute is left out, since V8 compiles to memory. AF_NETLINK lists the addresses of this machine. */
const HARDENING = `NoNewPrivileges=yes
UMask=0077
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
LockPersonality=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged
SystemCallErrorNumber=EPERM
`;

function backupService(node: string): string {
  return `${MADE_BY}
[Unit]
Description=Backup of Causeway's database
Documentation=file:${CURRENT}/docs/operations.md
ConditionPathExists=${DATA_DIRECTORY}/lock

[Service]
Type=oneshot
ExecStart=${commandLine(node)} db backup --verify --config ${SETTINGS_FILE}
User=${SERVICE_USER}
Group=${SERVICE_USER}
WorkingDirectory=${DATA_DIRECTORY}
ReadWritePaths=${DATA_DIRECTORY} -${BACKUP_DIRECTORY}
Nice=10
IOSchedulingClass=idle
${NO_CAPABILITIES}
${HARDENING}`;
}

const BACKUP_TIMER = `${MADE_BY} Other times: "systemctl edit causeway-backup.timer".
[Unit]
Description=Daily backup of Causeway's database

[Timer]
OnCalendar=daily
RandomizedDelaySec=1h
Persistent=yes

[Install]
WantedBy=timers.target
`;
