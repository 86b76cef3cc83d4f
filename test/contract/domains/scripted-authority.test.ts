import { describe } from '@jest/globals';
import { ScriptedAuthority } from '../../support/domains/scripted-authority.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import { certificateOrdersContract } from './certificate-authority.contract.ts';

const open = () => {
  const published = new Map<string, string>();
  const authority = new ScriptedAuthority({
    clock: new SettableClock(new Date('2026-03-01T12:00:00Z')),
    expects: (host) => host.endsWith('.customer.test'),
    visit: (_host, token) => Promise.resolve(published.get(token)),
  });
  const publish = (token: string, its: string) => void published.set(token, its);
  return { authority, publish, close: () => Promise.resolve() };
};

describe('the scripted certificate authority', () => {
  certificateOrdersContract(() => Promise.resolve(open()));
});
