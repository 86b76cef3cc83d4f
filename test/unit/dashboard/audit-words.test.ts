import { expect, test } from '@jest/globals';
import {
  actorName,
  auditWords,
  kindsOf,
  type Names,
  topicNames,
  topicOf,
} from '../../../src/adapters/dashboard/account/audit-words.ts';
import { subscriptions } from '../../../src/app/subscriptions.ts';

const names: Names = {
  key: (id) => (id === 'key_1' ? 'Till' : id),
  person: (id) => (id === 'pers_1' ? 'keeper@zoo.example' : id),
  project: (id) => (id === 'proj_1' ? 'Zoo' : id),
  domain: (id) => (id === 'dom_1' ? 'www.zoo.example' : id),
};

const details = {
  petId: '9007199254740993',
  categoryId: '7',
  orderId: '12',
  plan: 'pro',
  from: 'free',
  to: 'enterprise',
  perMinute: 5000,
  perDay: 1_000_000,
  keyId: 'key_1',
  oldSecretUntil: '2026-03-02T10:00:00.000Z',
  until: '2026-03-01T10:05:00.000Z',
  personId: 'pers_1',
  email: 'keeper@zoo.example',
  role: 'editor',
  way: 'link',
  method: 'app',
  left: 9,
  isDemanded: 1,
  sessionId: 'sess_1',
  projectId: 'proj_1',
  slug: 'zoo',
  name: 'Our zoo',
  deployId: 'dep_1',
  number: 7,
  problem: 'too_many_entries',
  domainId: 'dom_1',
  host: 'www.zoo.example',
  reason: 'owner',
  generation: 3,
  notAfter: '2026-06-01T00:00:00.000Z',
  attempt: 2,
  isRenewal: 1,
  primary: 'www.zoo.example',
  redirects: 2,
  expiresAt: '2026-06-01T00:00:00.000Z',
  used: 800,
  limit: 1000,
  operation: 'getPet',
  days: 30,
  webhookId: 'hook_1',
  receiver: 'hooks.zoo.example',
  deliveryId: '7',
};

const told = (what: string, more: Readonly<Record<string, string | number>> = {}) =>
  auditWords({ what, details: { ...details, ...more } }, names);

test.each(Object.keys(subscriptions))('the sentence for %s has no gaps', (what) => {
  expect(told(what)).toMatch(/^[A-Zkw].{5,}/);
  expect(told(what)).not.toMatch(/undefined|NaN|\[object|\{|_\d/);
});

test('the sentences of all events differ', () => {
  const all = Object.keys(subscriptions).map((what) => told(what));
  expect(new Set(all).size).toBe(all.length);
});

test('resources are shown by name, or by id once they are deleted', () => {
  expect(told('api_key_revoked')).toBe('Revoked the API key Till');
  expect(told('api_key_revoked', { keyId: 'key_2' })).toBe('Revoked the API key key_2');
  expect(told('site_rolled_back')).toBe('Switched Zoo to deploy 7');
  expect(told('person_signed_in')).toBe('keeper@zoo.example signed in with a link');
  expect(told('certificate_renewed')).toContain('www.zoo.example, until 2026-06-01 00:00 UTC');
});

test('numbers and times are readable, and the reason for a removal is given', () => {
  expect(told('plan_changed')).toContain(
    'from Free to Enterprise: 5,000 requests per minute, 1,000,000 per day',
  );
  expect(told('api_key_banned')).toContain('until 2026-03-01 10:05 UTC');
  expect(told('domain_removed')).toBe('Removed www.zoo.example');
  expect(told('domain_removed', { reason: 'contested' })).toContain('another account');
  expect(told('domain_removed', { reason: 'flooded' })).toBe('Removed www.zoo.example: flooded');
  expect(told('deploy_failed')).toContain('too many entries');
  const settings = 'Changed the domain settings of Zoo: ';
  expect(told('domain_settings_changed')).toBe(
    `${settings}primary domain www.zoo.example, 2 redirects`,
  );
  expect(told('domain_settings_changed', { primary: '', redirects: 1 })).toBe(
    `${settings}no primary domain, 1 redirect`,
  );
});

test('every event belongs to one topic', () => {
  const topics = Object.keys(topicNames).flatMap((name) => topicOf(name) ?? []);
  const kinds = topics.flatMap((topic) => kindsOf(topic));
  expect([...kinds].sort()).toEqual(Object.keys(subscriptions).sort());
  expect(['constructor', '', 'pets', null].map(topicOf)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test('an event of a newer version has no sentence, whatever its name', () => {
  expect(told('pet_vaccinated')).toBeUndefined();
  expect(told('constructor')).toBeUndefined();
});

test('the actor is a person, a key by its name, the operator or the service', () => {
  const actors = ['person:keeper@zoo.example', 'key:key_1', 'key:key_2', 'operator', 'service'];
  expect(actors.map((actor) => actorName(actor, names))).toEqual([
    'keeper@zoo.example',
    'API key Till',
    'API key key_2',
    'Operator',
    'Animal Store (automatic)',
  ]);
  expect(actorName('robot:7', names)).toBe('robot:7');
});
