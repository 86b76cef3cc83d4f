import type { ApiKeys } from '../../../src/access/ports.ts';
import type { Caller } from '../../../src/access/use-cases/callers.ts';
import type { DomainEvent } from '../../../src/kernel/domain-event.ts';
import { accessLabs, type AccessLab } from './access-lab.ts';

export const fewRequests = { perMinute: 2, perDay: 6 };

export interface MeteredAccount extends Pick<AccessLab, 'face' | 'clock'> {
  readonly accountId: string;
  readonly apiKeys: ApiKeys;
  readonly caller: (number?: number) => Promise<Caller>;
  readonly call: (number?: number) => ReturnType<AccessLab['face']['meterCaller']>;
  /** One after the other. @returns what became of each */
  readonly callMany: (times: number, number?: number) => Promise<readonly string[]>;
  /** That happened. */
  readonly bans: () => Promise<readonly DomainEvent[]>;
}

/**
 * To be called at the top of a test file. @returns gives an account with `fewRequests` and two keys, which call by their
 * numbers 0 and 1.
 */
export const meteredAccounts = () => {
  const accessLab = accessLabs();
  return async (now: Date): Promise<MeteredAccount> => {
    const { face, ports, clock, happened } = await accessLab(now);
    const draft = { name: 'Zoo', email: 'owner@zoo.example', plan: 'enterprise' } as const;
    const { account, key } = await face.createAccount(draft);
    const { id: accountId } = account;
    await face.setPlan(accountId, 'enterprise', { requests: fewRequests });
    const till = await face.createApiKey({ accountId, name: 'Till' });
    const secrets = [key.secret, till.secret];

    const caller = (number = 0) => face.authenticate(secrets[number] ?? '');
    const call = async (number = 0) => face.meterCaller(await caller(number));
    const callMany = async (times: number, number = 0) => {
      const kinds = [];
      for (let n = 0; n < times; n++) kinds.push((await call(number)).kind);
      return kinds;
    };
    const bans = async () => (await happened()).filter(({ type }) => type === 'api_key_banned');
    return { face, clock, accountId, apiKeys: ports.apiKeys, caller, call, callMany, bans };
  };
};
