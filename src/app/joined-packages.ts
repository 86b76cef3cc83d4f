import { readFileSync } from 'node:fs';

interface Joined {
  /** What can be imported from it. */
  readonly names: readonly string[];
  /** Of the packages in it, by their folders. */
  readonly versions: Readonly<Record<string, string>>;
}

const installed = new URL('../../node_modules/', import.meta.url);

const read = (path: string, packages: URL): unknown =>
  JSON.parse(readFileSync(new URL(path, packages), 'utf8'));

/**
 * Where packages of hundreds of files are as one file each, by the name that imports them: join-packages.js makes these files.
 * @returns none if they were not made, or if other versions of a package have been installed since
 */
export const joinedPackages = (packages = installed): ReadonlyMap<string, string> => {
  try {
    const { names, versions } = read('.joined/joined.json', packages) as Joined;
    const isCurrent = Object.entries(versions).every(([folder, version]) => {
      const one = read(`${folder}/package.json`, packages) as { readonly version: string };
      return one.version === version;
    });
    const found = isCurrent ? names : [];
    return new Map(found.map((name) => [name, new URL(`.joined/${name}.mjs`, packages).href]));
  } catch {
    return new Map();
  }
};
