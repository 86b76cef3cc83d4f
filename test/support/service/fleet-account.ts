import type { Home, Service } from './service-process.ts';

export interface NewAccount {
  readonly account: { readonly id: string };
  readonly key: { readonly id: string; readonly secret: string };
}

/** What a command prints for machines. */
export const commandOf = async <T>(home: Home, line: string): Promise<T> => {
  const { code, stdout, stderr } = await home.run([...line.split(' '), '--json']);
  if (code !== 0 || stderr !== '') throw new Error(`${line} ended with ${String(code)}: ${stderr}`);
  return JSON.parse(stdout) as T;
};

/** An account whose limit is met within a day only: a minute can end at any moment. */
export const openAccount = async (home: Home, perDay: number): Promise<NewAccount> => {
  const create = 'account create --name Zoo --email zoo@animal-store.test --plan enterprise';
  const opened = await commandOf<NewAccount>(home, create);
  const limits = `--plan enterprise --per-minute 100000 --per-day ${perDay}`;
  await commandOf(home, `account set-plan --account ${opened.account.id} ${limits}`);
  return opened;
};

export const ask = async ({ origin }: Service, { key }: NewAccount): Promise<Response> => {
  const headers = { Authorization: `Bearer ${key.secret}` };
  const response = await fetch(`${origin}/v1/pets`, { headers });
  await response.arrayBuffer();
  return response;
};

export const left = (response: Response): number =>
  Number(response.headers.get('X-RateLimit-Remaining'));

/** When the day ends that the request was counted in. */
export const windowEnd = (response: Response): number =>
  Number(response.headers.get('X-RateLimit-Reset'));
