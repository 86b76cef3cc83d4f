import { afterAll, expect, test } from '@jest/globals';
import { readDomainSettings } from '../../src/app/domain-settings/text.ts';
import { settingsLimits, SettingsReader } from '../../src/app/domain-settings/settings-reader.ts';

const reader = new SettingsReader();
const endless = new SettingsReader(new URL('../support/endless-thread.ts', import.meta.url), {
  ...settingsLimits,
  deadlineMs: 200,
});
afterAll(() => Promise.all([reader.close(), endless.close()]));

test.each([
  ['YAML', 'domains:\n  primary: example.com\n  redirects:\n    - { from: a.test, to: b.test }\n'],
  ['JSON', '{"domains": {"primary": null}}'],
])('%s is read in a thread with the same result as outside it', async (_, text) => {
  expect(await reader.read(text)).toEqual(readDomainSettings(text));
});

test.each(['domains: [', 'domains:\n  primary: 7\n', 'x'.repeat(1_000_000)])(
  'errors have the same text inside and outside the thread (%#)',
  async (text) => {
    const thrown = (() => {
      try {
        return readDomainSettings(text);
      } catch (error) {
        return error;
      }
    })();
    await expect(reader.read(text)).rejects.toMatchObject({
      name: 'DomainError',
      code: 'redirect_invalid',
      message: (thrown as Error).message,
    });
  },
);

test('text that takes too long to read is refused with advice', async () => {
  await expect(endless.read('domains: {}')).rejects.toMatchObject({
    code: 'redirect_invalid',
    message: 'This configuration takes too long to read. Make it shorter and simpler.',
  });
});
