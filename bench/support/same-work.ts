/**
 * The same work for an edge and for nginx: a cache in front of an origin for 10,000 domains, with lists of addresses, Referers and
 * User-Agents and one line for each request. nginx is set up as for speed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SiteSpec } from '#sites/spec.ts';
import { plainSite } from './edge-alone.ts';
import { childrenOf, cpuMsOf } from './service.ts';

interface NginxCacheOptions {
  readonly folder: string;
  readonly port: number;
  readonly originPort: number;
  /** Where `cert.pem` and `key.pem` are; absent: plain HTTP. */
  readonly certificateIn?: string;
  /** Plain HTTP beside TLS. */
  readonly plainPort?: number;
  /** Disk space of the cache, kept to by a process of its own. Absent: 4 GB that nobody enforces. */
  readonly cacheBytes?: number;
}

const DOMAINS = 10_000;

/** `site-<n>.example.com`, from 1. */
export function ruledSites(originPort: number): SiteSpec[] {
  return Array.from({ length: DOMAINS }, (_, index) => ({
    ...plainSite(index + 1, originPort),
    access: {
      deniedAddresses: Array.from({ length: 50 }, (_none, entry) => `10.${entry}.0.0/16`),
      referer: { mode: 'allow', allowsBlank: true, entries: ['example.com', 'example.org'] },
      deniedUserAgents: [
        'sqlmap*',
        '*nikto*',
        '*masscan*',
        '*scrapy*',
        '*AhrefsBot*',
        '*SemrushBot*',
        '*python-requests*',
      ],
    },
  }));
}

export async function openNginxCache(options: NginxCacheOptions) {
  const { folder, port, cacheBytes } = options;
  const home = join(folder, 'nginx-cache');
  mkdirSync(home, { recursive: true });
  chmodSync(folder, 0o755);
  const hosts = Array.from({ length: DOMAINS }, (_, index) => `site-${index + 1}.example.com ${index + 1};`);
  writeFileSync(join(home, 'domains.map'), hosts.join('\n'));
  const denied = Array.from({ length: 50 }, (_, index) => `10.${index}.0.0/16 1;`);
  writeFileSync(join(home, 'denied.geo'), denied.join('\n'));
  const file = join(home, 'nginx.conf');
  writeFileSync(file, configuration(home, options));
  const child = spawn('nginx', ['-p', home, '-c', file, '-e', join(home, 'error.log')], { stdio: 'inherit' });
  await once(child, 'spawn');
  return {
    name: 'nginx',
    port,
    /** All its processes. */
    cpuMs: () =>
      [String(child.pid), ...(cacheBytes === undefined ? [] : childrenOf(child.pid ?? 0))]
        .map(cpuMsOf)
        .reduce((sum, ms) => sum + ms, 0),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** Files of the cache stay open; small bodies are not sent by `sendfile`, which costs more than it saves there. */
function configuration(
  home: string,
  { port, originPort, certificateIn, plainPort, cacheBytes }: NginxCacheOptions,
): string {
  const certificate = `ssl_certificate ${certificateIn}/cert.pem; ssl_certificate_key ${certificateIn}/key.pem; ssl_protocols TLSv1.2 TLSv1.3;`;
  return `
daemon off;
master_process ${cacheBytes === undefined ? 'off' : 'on'};
worker_processes 1;
pid ${home}/pid;
pcre_jit on;
worker_rlimit_nofile 20000;
events { worker_connections 8192; multi_accept on; }
http {
  client_body_temp_path ${home}/body; proxy_temp_path ${home}/proxy; fastcgi_temp_path ${home}/fastcgi;
  uwsgi_temp_path ${home}/uwsgi; scgi_temp_path ${home}/scgi;
  sendfile off; tcp_nopush off; tcp_nodelay on; output_buffers 1 1m;
  keepalive_requests 1000000000; keepalive_timeout 600;
  open_file_cache max=16000 inactive=1h; open_file_cache_valid 1h; open_file_cache_min_uses 1;
  map_hash_max_size 65536; map_hash_bucket_size 128;
  map $host $domain { default ""; include ${home}/domains.map; }
  map $http_user_agent $is_robot { default 0; "~*(?:^sqlmap|nikto|masscan|scrapy|ahrefsbot|semrushbot|python-requests)" 1; }
  map $http_referer $is_stranger { default 1; "" 0; "~^https?://(?:[^/:?#]+\\.)?example\\.(?:com|org)(?:[/:?#]|$)" 0; }
  geo $is_denied { default 0; include ${home}/denied.geo; }
  log_format edge escape=default '$remote_addr\\t$time_iso8601\\t$request_time\\t$request_length\\t$bytes_sent\\t$host\\t$request_method\\t$request_uri\\t$server_protocol\\t$upstream_cache_status/$status\\t$sent_http_content_type\\t$http_referer\\t$http_user_agent';
  access_log ${home}/access.log edge buffer=256k flush=500ms;
  proxy_cache_path ${home}/cache levels=1:2 keys_zone=c:64m max_size=${cacheBytes ?? '4g'} inactive=1d use_temp_path=off;
  proxy_buffer_size 16k; proxy_buffers 16 64k; proxy_busy_buffers_size 128k;
  upstream origin { server 127.0.0.1:${originPort}; keepalive 64; }
  server {
    listen 127.0.0.1:${port} ${certificateIn === undefined ? '' : 'ssl http2'} backlog=4096;
    ${plainPort === undefined ? '' : `listen 127.0.0.1:${plainPort} backlog=4096;`}
    ${certificateIn === undefined ? '' : certificate}
    server_tokens off;
    if ($domain = "") { return 403; }
    if ($is_denied) { return 403; }
    if ($is_robot) { return 403; }
    if ($is_stranger) { return 403; }
    location / {
      proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
      proxy_cache c; proxy_cache_key "$domain$uri$is_args$args"; proxy_cache_valid 200 1h; proxy_cache_lock on;
      add_header X-Cache $upstream_cache_status;
    }
  }
}
`;
}
