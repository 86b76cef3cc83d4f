import type { CommandResult } from '../support/service/errand.ts';

// The used part of what `animal-store domain … --json` prints.

export interface ShownRecord {
  readonly purpose: 'route' | 'ownership' | 'delegation';
  readonly type: 'CNAME' | 'ALIAS' | 'TXT';
  readonly name: string;
  readonly fqdn: string;
  readonly value: string;
  readonly required: boolean;
}

interface ShownProblem {
  readonly code: string;
  readonly severity: string;
  readonly actor: string;
  readonly seen: string;
  readonly wanted: string;
  readonly fix: string;
}

export interface ShownDomain {
  readonly domain: {
    readonly id: string;
    readonly host: string;
    readonly unicodeHost: string;
    readonly state: string;
    readonly verifiedAt?: string;
    readonly reason?: string;
    readonly token: string;
    readonly dns: {
      readonly report?: {
        readonly validation?: { readonly delegated: boolean; readonly method: string };
      };
    };
    readonly certificate: {
      readonly status: string;
      readonly issuedBy?: string;
      readonly nextAttemptAt?: string;
      readonly attempts?: { readonly lastAt: string };
      readonly notAfter?: string;
      readonly problem?: ShownProblem;
    };
  };
  readonly records: readonly [
    route: ShownRecord,
    ownership: ShownRecord,
    ...delegation: ShownRecord[],
  ];
  readonly problems: readonly ShownProblem[];
  readonly budget: { readonly used: number; readonly of: number };
  readonly nextAt: string | null;
  readonly timeline: readonly { readonly kind: string; readonly occurredAt: string }[];
}

export type Run = (args: readonly string[]) => Promise<CommandResult>;

/** An account with a published project, and its owner's commands for custom domains. */
export class Shop {
  readonly accountId: string;
  readonly slug: string;
  /** Signs in the owner once. */
  readonly signInUrl: string;
  readonly #run: Run;

  constructor(of: Pick<Shop, 'accountId' | 'slug' | 'signInUrl'>, run: Run) {
    this.accountId = of.accountId;
    this.slug = of.slug;
    this.signInUrl = of.signInUrl;
    this.#run = run;
  }

  /** @param folder the published folder */
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

  /** The readable output, whether the command succeeds or not. */
  tell(command: string, ...args: readonly string[]): Promise<CommandResult> {
    return this.#run(['domain', command, ...args, '--project', this.slug]);
  }

  #do(command: string, host: string): Promise<ShownDomain> {
    return json(this.#run, ['domain', command, host, '--project', this.slug]);
  }
}

/** The JSON output of a command. */
export const json = async <T>(run: Run, args: readonly string[]): Promise<T> => {
  const { code, stdout, stderr } = await run([...args, '--json']);
  if (code !== 0 || stderr !== '') {
    throw new Error(`${args.join(' ')} ended with ${String(code)}: ${stderr}`);
  }
  return JSON.parse(stdout) as T;
};
