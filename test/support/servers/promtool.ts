import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { findServer } from './debian-server.ts';

/** Both programs of Prometheus, which lie in one package. */
export const findPrometheus = async (): Promise<{ prometheus: string; promtool: string }> => {
  const { executable } = await findServer('prometheus', ['prometheus']);
  return { prometheus: executable, promtool: join(executable, '../promtool') };
};

/** @param input for its standard input */
export const promtool = async (
  args: readonly string[],
  input = '',
): Promise<{ readonly code: number; readonly output: string }> => {
  const program = await findPrometheus();
  const child = spawn(program.promtool, args);
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject).once('close', (code) => {
      resolve(code ?? 1);
    });
  });
  child.stdin.end(input);
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, output: out + err };
};
