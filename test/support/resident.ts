/** What a process has in memory, by the system's own account. */
import { readFileSync } from 'node:fs';

const SAMPLE_MS = 50;

export function residentMib(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kib) / 1024);
}

/** `stop` gives the most that was seen, in MiB. */
export function watchMemory(pid: number): { stop(): number } {
  let most = residentMib(pid);
  const look = () => {
    most = Math.max(most, residentMib(pid));
  };
  const timer = setInterval(look, SAMPLE_MS);
  return {
    stop: () => {
      clearInterval(timer);
      look();
      return most;
    },
  };
}
