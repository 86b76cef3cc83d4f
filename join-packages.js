import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

// Run by `make install`. Node takes 0.2 ms and 50 kB for each module that it imports, and these packages have 500 of
// them, which every start and nearly every command needs. src/app/joined-packages.ts finds what this makes.

/** What the program imports of them. Only packages of ECMAScript modules: the others would lose the names they export. */
const names = ['inversify', 'kysely', 'kysely/migration'];
const packages = join(import.meta.dirname, 'node_modules');
const folder = join(packages, '.joined');

rmSync(folder, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: import.meta.dirname,
  entryPoints: Object.fromEntries(names.map((name) => [name, name])),
  outdir: folder,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  // What they share is in a file of its own, so that there is one of each class.
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.18',
  // It changes a global object, and a package that is not joined imports it, too.
  external: ['reflect-metadata'],
  metafile: true,
});

const insideOf = (path) =>
  /^node_modules\/((?:.*\/)?node_modules\/)?(@[^/]+\/)?[^/]+/.exec(path)?.[0];
const inside = new Set(Object.keys(metafile.inputs).map(insideOf).filter(Boolean));
const versions = Object.fromEntries(
  [...inside].toSorted().map((path) => {
    const { version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
    return [path.slice('node_modules/'.length), version];
  }),
);
writeFileSync(join(folder, 'joined.json'), JSON.stringify({ names, versions }));
