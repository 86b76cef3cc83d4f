import {
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

// Makes dist/, the package that npm installs: Node runs no TypeScript below node_modules. Run by `make dist`.

const root = import.meta.dirname;
const made = join(root, '.cache/dist');
const program = join(made, 'program');

const documents = [
  ...['README.md', 'LICENSE', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ...['bin', 'ops/grafana', 'ops/prometheus/alerts.yaml', 'ops/systemd', 'docs/decisions'],
  ...globSync('docs/*.md', { cwd: root }),
];

/** It has a native addon, and the program finds it in node_modules. */
const outside = ['better-sqlite3'];

const threads = globSync('src/app/threads/*.ts', { cwd: root });

const copied = new Set();

/** Files that the sources read from beside them keep their folders; those of packages are copied. */
const placed = (path, text) =>
  text
    .replaceAll('import.meta.dirname', () => {
      const folder = relative(join(root, 'src'), dirname(path));
      return `(import.meta.dirname + ${JSON.stringify(`/${folder}`)})`;
    })
    .replaceAll(
      /new URL\('[./]+\/threads\/([\w-]+)\.ts', import\.meta\.url\)/g,
      `new URL('./$1.js', import.meta.url)`,
    )
    .replaceAll(/import\.meta\.resolve\('([^']+)'\)/g, (_, name) => {
      const from = fileURLToPath(import.meta.resolve(name));
      copied.add(from);
      return `new URL(${JSON.stringify(`./${basename(from)}`)}, import.meta.url).href`;
    });

const filesBeside = {
  name: 'files beside sources',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/src\/.+\.ts$/ }, ({ path }) => {
      return { contents: placed(path, readFileSync(path, 'utf8')), loader: 'ts' };
    });
  },
};

/** An import statement for node:http reads all that it exports, and so loads fetch: 30 ms and 14 MB. */
const httpWithoutFetch = {
  name: 'http without fetch',
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
      kind === 'import-statement' ? { path: 'node:http', namespace: 'required' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'required' }, ({ path }) => {
      return { contents: `module.exports = require('${path}');` };
    });
  },
};

const bundle = () =>
  build({
    absWorkingDir: root,
    entryPoints: ['src/main.ts', ...threads].map((path) => {
      return { in: path, out: basename(path, '.ts') };
    }),
    outdir: program,
    // One level, so that a thread's file lies beside whatever starts it.
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.18',
    external: outside,
    // Packages of CommonJS call `require`.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    minifyWhitespace: true,
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    plugins: [filesBeside, httpWithoutFetch],
  });

const packageOf = (path) => {
  const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
  return folder;
};

const manifestIn = (folder) => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));

/** The licences of all packages of which something is inside. */
const licencesOf = (inputs) => {
  const folders = new Set(inputs.map(packageOf).filter(Boolean));
  return [...folders].toSorted().map((folder) => {
    const { name, version, license } = manifestIn(folder);
    const texts = readdirSync(join(root, folder))
      .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
      .toSorted()
      .map((file) => readFileSync(join(root, folder, file), 'utf8').trim());
    return [`${name} ${version} (${license})`, ...texts].join('\n\n');
  });
};

const manifest = () => {
  const { name, version, license, description, type, engines, bin } = manifestIn('.');
  const dependencies = outside.map((one) => [one, manifestIn(`node_modules/${one}`).version]);
  return {
    name,
    version,
    license,
    description,
    type,
    engines,
    bin,
    dependencies: Object.fromEntries(dependencies),
  };
};

const write = (name, text) => {
  writeFileSync(join(made, name), text);
};

rmSync(made, { recursive: true, force: true });
mkdirSync(program, { recursive: true });
const { metafile } = await bundle();
for (const path of globSync('src/**/*.{css,js,svg}', { cwd: root })) {
  cpSync(join(root, path), join(program, relative('src', path)));
}
for (const path of copied) cpSync(path, join(program, basename(path)));
for (const path of documents) cpSync(join(root, path), join(made, path), { recursive: true });
const inputs = [
  ...Object.keys(metafile.inputs),
  ...[...copied].map((path) => relative(root, path)),
];
write('THIRD-PARTY-LICENCES.txt', `${licencesOf(inputs).join(`\n\n${'-'.repeat(80)}\n\n`)}\n`);
write('package.json', `${JSON.stringify(manifest(), null, 2)}\n`);
rmSync(join(root, 'dist'), { recursive: true, force: true });
renameSync(made, join(root, 'dist'));
