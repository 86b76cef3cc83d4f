import { expect, test } from '@jest/globals';
import { domainMenu, verifyForm } from '../../../src/adapters/dashboard/domains/actions.ts';
import type { Refusal } from '../../../src/adapters/dashboard/frame/screen.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { elementsIn } from '../../support/dashboard/markup.ts';
import { added, after, minute, verified } from '../../support/domains/known-domains.ts';

const message = 'The last attempt was a short while ago. Try again in 30 minutes.';
const early: Refusal = { form: 'verify', field: undefined, message, values: {}, parameters: {} };

const shown = (domain: CustomDomain, now: Date, refusal?: Refusal) => {
  const markup = verifyForm(domain, { action: '/verify', now, refusal }).toString();
  const [button] = elementsIn(markup, 'button');
  return { look: button?.attributes['class'], text: elementsIn(markup, 'form')[0]?.text };
};

test('a domain that was not checked yet has the primary button of the page', () => {
  expect(shown(added, after(minute))).toEqual({ look: 'main', text: 'Verify' });
});

test('Re-verify is secondary until it is allowed, and shows when that is', () => {
  const waiting = shown(verified, after(2 * minute));
  expect(waiting).toEqual({ look: undefined, text: 'Re-verify available in 29 minutes' });
  expect(shown(verified, after(31 * minute))).toEqual({ look: 'main', text: 'Re-verify' });
});

test('pressing too early shows the waiting time once', () => {
  const { text } = shown(verified, after(2 * minute), early);
  expect(text).toBe(`Re-verify ${message}`);
});

test('a menu is named by the A-labels and shows the U-labels', () => {
  const domain = { ...added, host: 'xn--bcher-kva.test', unicodeHost: 'bücher.test' };
  const [button] = elementsIn(
    domainMenu(domain, 'birds', { isPrimary: false, redirectsTo: undefined }).toString(),
    'button',
  );
  expect(button?.attributes).toMatchObject({
    'aria-label': 'Actions for xn--bcher-kva.test',
    title: 'Actions for bücher.test (xn--bcher-kva.test)',
  });
});
