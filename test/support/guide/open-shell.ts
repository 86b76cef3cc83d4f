import { spawn } from 'node:child_process';

/** One shell for many blocks of commands: variables and the current folder stay. */
export interface OpenShell {
  /** @returns what the block printed to both outputs @throws Error with that when a command of it fails */
  run(block: string): Promise<string>;
  end(): void;
}

/** Reads blocks from descriptor 3, so that commands find nothing to read in their standard input. */
const loop = `exec 2>&1
while IFS= read -r -d '' -u 3 block; do eval "$block"; printf '\\0'; done 3<&0 </dev/null`;

export const openShell = (folder: string, env: NodeJS.ProcessEnv): OpenShell => {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', loop], { cwd: folder, env });
  child.stdin.on('error', () => undefined);
  let printed = '';
  let look = (): void => undefined;
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    printed += more;
    look();
  });
  child.once('exit', () => {
    look();
  });
  const run = (block: string) =>
    new Promise<string>((resolve, reject) => {
      look = () => {
        const [told = '', ...rest] = printed.split('\0');
        const hasEnded = child.exitCode !== null || child.signalCode !== null;
        if (rest.length > 0) {
          printed = rest.join('\0');
          resolve(told);
        } else if (hasEnded) reject(new Error(`this failed:\n${block}\n${printed}`));
      };
      child.stdin.write(`${block}\0`);
      look();
    });
  return { run, end: () => void child.stdin.end() };
};
