import { expect, test } from '@jest/globals';
import { problemCards } from '../../../src/adapters/dashboard/domains/diagnostics.ts';
import { dnsProblem, type DnsProblem } from '../../../src/domains/domain/dns/problem.ts';
import { recordsFor } from '../../../src/domains/domain/dns/records.ts';
import type { DomainView } from '../../../src/domains/use-cases/show-domain.ts';
import { elementsIn } from '../../support/dashboard/markup.ts';
import { added, missing, start } from '../../support/domains/known-domains.ts';

const needs = { platformHost: 'sites.test', txtRequired: false };

/** What can be copied from the cards of some problems. */
const copied = (...problems: readonly DnsProblem[]): readonly (string | undefined)[] => {
  const records = recordsFor(added, added.token, needs);
  const view = { domain: added, problems, records } as unknown as DomainView;
  const buttons = elementsIn(problemCards(view, start).toString(), 'button');
  return buttons.map(({ attributes }) => attributes['data-copy']);
};

test('the value of the required record can be copied', () => {
  const wanted = `_animal-store-challenge.shop.example.com TXT "animal-store-verify=${added.token}"`;
  const txt = dnsProblem('ownership_txt_missing', { seen: 'no TXT record', wanted });
  expect(copied(missing, txt)).toEqual([
    `${added.token}.sites.test`,
    `animal-store-verify=${added.token}`,
  ]);
});

test('a CAA record to add is copied whole', () => {
  const wanted = 'example.com. CAA 0 issue "ca.test"';
  expect(copied(dnsProblem('caa_forbids_issuer', { seen: 'another', wanted }))).toEqual([wanted]);
});

test('nothing can be copied from records to delete or from problems without a record', () => {
  const caa = { seen: 'another', wanted: 'no example.com. CAA 128 tbs "x"' };
  const answer = { seen: 'no answer', wanted: 'the same answer from more than half' };
  expect(copied(dnsProblem('caa_forbids_issuer', caa))).toEqual([]);
  expect(copied(dnsProblem('dns_lookup_failed', answer))).toEqual([]);
});
