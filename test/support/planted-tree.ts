import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

export interface PlantedTree {
  readonly folder: string;
  /** Runs a tool of node_modules with `--flag value` arguments and parses its output as JSON. */
  run(script: string, ...args: readonly string[]): Promise<unknown>;
  remove(): Promise<void>;
}

/** @param files path to text, which overwrites the copy */
export const plantTree = async (
  copied: readonly string[],
  files: Readonly<Record<string, string>>,
): Promise<PlantedTree> => {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'animal-store-rules-'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const path of copied) await cp(join(root, path), join(folder, path), { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), `${text}\n`);
  }
  return {
    folder,
    run: (script, ...args) => printedJson(folder, [join('node_modules', script), ...args]),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
};

/** A tool with findings exits with a failure and still prints its report. */
const printedJson = (cwd: string, args: readonly string[]): Promise<unknown> =>
  new Promise((done, reject) => {
    execFile(process.execPath, args, { cwd, maxBuffer: 2 ** 26 }, (_error, stdout, stderr) => {
      try {
        done(JSON.parse(stdout));
      } catch {
        reject(new Error(`${args.join(' ')} printed no JSON: ${stderr || stdout.slice(0, 500)}`));
      }
    });
  });
