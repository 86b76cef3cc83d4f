import { expect, test } from '@jest/globals';
import { inWords, shownPath } from '../../../src/kernel/text.ts';

test.each([
  [-5, '1 second'],
  [1, '1 second'],
  [1001, '2 seconds'],
  [119_000, '119 seconds'],
  [119_001, '2 minutes'],
  [29 * 60_000 + 1, '30 minutes'],
  [119 * 60_000, '119 minutes'],
  [119 * 60_000 + 1, '2 hours'],
  [25 * 3_600_000, '25 hours'],
])('%d milliseconds are %s', (milliseconds, words) => {
  expect(inWords(milliseconds)).toBe(words);
});

const secret = 'kJ8d02mXvQ7nPqR5sT1uW3yZ4aB6cD9eF0gH2iJ4kL6';

test.each([
  `/dashboard/sign-in/${secret}`,
  `/Dashboard/Sign-In/${secret}`,
  `/DASHBOARD/SIGN-IN/${secret}`,
  `/%64ashboard/sign-in/${secret}`,
  `/dashboard/%73ign%2Din/${secret}`,
  `/dashboard/%2573ign-in/${secret}`,
  `/dashboard/sign-in%2F${secret}`,
  `/dashboard/sign-in//${secret}`,
  `//dashboard//sign-in/${secret}/`,
  `/dashboard/signin/${secret}`,
  `/dashboard/sign_in/${secret}`,
  `/dashboard/sign-in;${secret}`,
  `/dashboard\\sign-in\\${secret}`,
  `http://zoo.example/dashboard/sign-in/${secret}`,
  `${'/x'.repeat(200)}/sign-in/${secret}`,
  `/dashboard/shared-domain/${secret}`,
  `/dashboard/Shared_Domain/${secret}`,
  `/%64ashboard/%73hared-domain/${secret}`,
  `/v1/pets/pets_live_${secret}`,
  `/v1/pets/PETS_LIVE_${secret}`,
  `/v1/pets/pets%5Flive_${secret}`,
])('the log shows no secret of %s', (path) => {
  expect(shownPath(path)).not.toContain(secret.slice(0, 8));
  expect(shownPath(path)).toContain('…');
});

test.each([
  '/',
  '/dashboard/sign-in',
  '/dashboard/sign-in/',
  '/dashboard/sign-out',
  '/v1/pets/7',
  '/v1/pets/%20',
  '/assignment/innings',
  '/shared/domains',
])('%s is shown unchanged', (path) => {
  expect(shownPath(path)).toBe(path);
});

test('a long path is cut short', () => {
  expect(shownPath(`/${'a'.repeat(16_000)}`)).toHaveLength(501);
});
