import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../support/seeded-random.ts';
import { createProject, slugOf, isReservedSlug } from '../../../src/sites/domain/project.ts';
import { now } from '../../support/accounts.ts';

describe('the slug of a project', () => {
  test.each([
    ['Birds', 'birds'],
    ["Zoë's Birds!", 'zoes-birds'],
    ['Żółw & Co. — №2', 'zo-w-co-no2'],
    ['  --Ünder_score--  ', 'under-score'],
    ['ＦＵＬＬ　ｗｉｄｔｈ', 'full-width'],
    ['猫', 'site'],
    ['', 'site'],
    [`${'x'.repeat(47)}-y`, 'x'.repeat(47)],
    ['x'.repeat(100), 'x'.repeat(48)],
  ])('of "%s" is "%s"', (name, slug) => {
    expect(slugOf(name)).toBe(slug);
  });

  test('is a DNS label for any name, even with a number appended', () => {
    const name = fc.oneof(fc.string({ unit: anyCharacter }), fc.string());
    fc.assert(
      fc.property(name, (text) => {
        expect(slugOf(text)).toMatch(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/);
        expect(`${slugOf(text)}-1000`.length).toBeLessThanOrEqual(63);
      }),
    );
  });
});

const draft = { id: 'proj_1', accountId: 'acct_1', slug: 'birds' };

test('a new project has a trimmed name and an event', () => {
  const event = { accountId: 'acct_1', occurredAt: now, projectId: 'proj_1', slug: 'birds' };
  expect(createProject({ ...draft, name: ' Birds ' }, now)).toEqual({
    state: { ...draft, name: 'Birds', createdAt: now },
    events: [{ type: 'project_created', ...event }],
  });
});

test.each([' ', 'x'.repeat(101), 'birds\u200e'])('a project cannot be called "%s"', (name) => {
  const creating = () => createProject({ ...draft, name }, now);
  expect(creating).toThrow(expect.objectContaining({ code: 'project_invalid' }));
});

test.each(['app', 'www', 'api', 'admin', 'mail', 'static', 'dashboard', 'ns1', 'www2'])(
  'no project has the slug %s',
  (slug) => {
    const creating = () => createProject({ ...draft, name: 'Birds', slug }, now);
    expect(creating).toThrow(expect.objectContaining({ code: 'slug_reserved' }));
    expect(creating).toThrow('could be mistaken for one of this service');
  },
);

test('the target label of a custom domain cannot be a slug, but ordinary words can', () => {
  const target = `t-${'0123456789abcdef'.repeat(2)}`;
  expect([isReservedSlug(target), isReservedSlug('t-shirts')]).toEqual([true, false]);
  const ordinary = ['apple', 'my-app', 'birds', 'shop', 'blog', 'nsync', 'wwwhat'];
  expect(ordinary.filter(isReservedSlug)).toEqual([]);
});
