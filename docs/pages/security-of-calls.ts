import { largest, longestMs } from '../../src/adapters/webhooks/guarded-outside.ts';
import type { Defence } from './security-defence.ts';

const kib = (bytes: number): string => `${bytes / 1024} KiB`;

/** Webhooks: customers choose what the service connects to. */
export const calls: readonly Defence[] = [
  {
    against: 'Webhooks that lead to machines inside (SSRF).',
    how:
      'All addresses of a name must be public, and we connect to exactly those that were checked. Loopback, private, link-local and ' +
      'all other [special ranges](webhooks.md#what-we-call) are refused in every notation, also inside IPv6 addresses, and so are the ' +
      'addresses of the service itself. Ports of other protocols and databases are refused.',
    tests: ['unit/notifications/destination', 'contract/notifications/guarded-outside'],
  },
  {
    against: 'Names that change between the check and the connection.',
    how: 'A name is looked up once for each attempt, and only its answer is connected to. No redirect is followed.',
    tests: ['contract/notifications/guarded-outside'],
  },
  {
    against: 'Webhooks as a way to look around inside.',
    how:
      'We ask `DNS_SERVERS`, not the system, so names that only the inside knows do not exist. Names that do not exist and names that ' +
      'lead inside get the same answer, and no connection is tried.',
    tests: ['contract/notifications/guarded-outside'],
  },
  {
    against: 'Receivers that are slow, or that answer without end.',
    how:
      `A call ends after ${longestMs / 1000} s, headers after ${kib(largest.headers)} and the answer after ${kib(largest.answer)}. Nothing is ` +
      `decompressed, and ${kib(largest.kept)} is kept.`,
    tests: ['contract/notifications/guarded-outside'],
  },
];
