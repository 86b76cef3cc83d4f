import { expect, test } from '@jest/globals';
import { stepLine, stepsOf } from '../../../src/adapters/dashboard/domains/status.ts';
import { tell } from '../../../src/adapters/dashboard/domains/timeline.ts';
import { html } from '../../../src/adapters/dashboard/frame/html.ts';
import { after, day, hour, live, minute, start } from '../../support/domains/known-domains.ts';

const lives = [
  [90 * day, '30 May 2026'],
  [6 * day, '7 Mar 2026'],
  [hour, '11:00 UTC'],
  [minute, '10:01 UTC'],
] as const;

test.each(lives)('the story says when a certificate of %i ms ends: %s', (life, words) => {
  const details = { outcome: 'issued', notAfter: after(life).toISOString() };
  for (const kind of ['attempt', 'renewed'] as const) {
    const { title } = tell({ kind, occurredAt: start, details });
    expect(html`${title}`.toString()).toContain(`>${words}<`);
  }
});

test.each(lives)('the steps say when a certificate of %i ms ends: %s', (life, words) => {
  if (live.state !== 'live') throw new Error('it is not live');
  const domain = { ...live, certificate: { ...live.certificate, notAfter: after(life) } };
  expect(stepLine(stepsOf(domain, start), start).toString()).toContain(`>${words}<`);
});
