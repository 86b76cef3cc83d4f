import { readdirSync, readFileSync } from 'node:fs';

/** Of /proc/<pid>/stat (proc(5)), on every Linux that Node runs on. */
const ticksPerSecond = 100;

interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly cpuSeconds: number;
}

/** What a process and all below it have used of the processor until now. */
export const cpuSecondsOf = (pid: number): number =>
  treeOf(pid).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);

/** Resident memory of a process and all below it. */
export const megabytesOf = (pid: number): number =>
  treeOf(pid).reduce((sum, one) => sum + kilobytesOf(one.pid) / 1024, 0);

const kilobytesOf = (pid: number): number => {
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
};

export const childrenOf = (pid: number): readonly number[] =>
  treeOf(pid)
    .filter(({ parent }) => parent === pid)
    .map((child) => child.pid);

const treeOf = (root: number): readonly ProcessStat[] => {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(Number(name)));
  const below = (pid: number): readonly ProcessStat[] =>
    all.filter(({ parent }) => parent === pid).flatMap((child) => [child, ...below(child.pid)]);
  return [...all.filter(({ pid }) => pid === root), ...below(root)];
};

/** None for a process that has ended meanwhile. */
const statOf = (pid: number): readonly ProcessStat[] => {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    // The second field is a name in brackets, which may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [, parent, user, system] = [0, 1, 11, 12].map((at) => Number(fields[at]));
    const ticks = (user ?? 0) + (system ?? 0);
    return [{ pid, parent: parent ?? 0, cpuSeconds: ticks / ticksPerSecond }];
  } catch {
    return [];
  }
};
