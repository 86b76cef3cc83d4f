import type { CommandResult } from '../support/service/errand.ts';
import type { ShownDomain } from './shown-domain.ts';

export type Run = (args: readonly string[]) => Promise<CommandResult>;

/** An account with a published project, and the commands that its owner has for custom domains. */
export class Shop {
  readonly accountId: string;
  readonly slug: string;
  /** Signs its owner in, once. */
  readonly signInUrl: string;
  readonly #run: Run;

  constructor(of: Pick<Shop, 'accountId' | 'slug' | 'signInUrl'>, run: Run) {
    this.accountId = of.accountId;
    this.slug = of.slug;
    this.signInUrl = of.signInUrl;
    this.#run = run;
  }

  /** @param folder what is published */
  static async open(
    run: Run,
    { name, plan, folder }: { name: string; plan: string; folder: string },
  ): Promise<Shop> {
    const owner = ['--name', name, '--email', `${name}@zoo.example`, '--plan', plan];
    const { account, signInUrl } = await json<{ account: { id: string }; signInUrl: string }>(run, [
      ...['account', 'create'],
      ...owner,
    ]);
    const of = ['--account', account.id, '--name', name];
    const { project } = await json<{ project: { slug: string } }>(run, [
      ...['project', 'create'],
      ...of,
    ]);
    await json(run, ['deploy', folder, '--project', project.slug]);
    return new Shop({ accountId: account.id, slug: project.slug, signInUrl }, run);
  }

  add(host: string): Promise<ShownDomain> {
    return this.#do('add', host);
  }

  verify(host: string): Promise<ShownDomain> {
    return this.#do('verify', host);
  }

  show(host: string): Promise<ShownDomain> {
    return this.#do('show', host);
  }

  remove(host: string): Promise<ShownDomain> {
    return this.#do('remove', host);
  }

  /** For people rather than machines, and whether it succeeds or not. */
  tell(command: string, ...args: readonly string[]): Promise<CommandResult> {
    return this.#run(['domain', command, ...args, '--project', this.slug]);
  }

  #do(command: string, host: string): Promise<ShownDomain> {
    return json(this.#run, ['domain', command, host, '--project', this.slug]);
  }
}

/** What a command prints for machines. */
export const json = async <T>(run: Run, args: readonly string[]): Promise<T> => {
  const { code, stdout, stderr } = await run([...args, '--json']);
  if (code !== 0 || stderr !== '') {
    throw new Error(`${args.join(' ')} ended with ${String(code)}: ${stderr}`);
  }
  return JSON.parse(stdout) as T;
};
