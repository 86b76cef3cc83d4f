import { describe, expect, test } from '@jest/globals';
import { recordCheck } from '../../../src/domains/domain/attachment/checks.ts';
import { removeDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { workOf } from '../../../src/domains/domain/attachment/domain-certificate.ts';
import { dueAt, dueWork, withNews } from '../../../src/domains/domain/attachment/due-work.ts';
import {
  following,
  healthOf,
  isOpen,
  isServed,
} from '../../../src/domains/domain/attachment/serving.ts';
import {
  after,
  badReport,
  day,
  live,
  moment,
  report,
} from '../../support/domains/known-domains.ts';

/** Its renewal is long overdue. */
const now = after(85 * day);
const deleted = following(live, true, now);
const restored = following(deleted, false, now);

describe('a live domain whose project is deleted', () => {
  test('keeps its state, its certificate and its name, and is not served', () => {
    expect(deleted).toEqual({ ...live, pause: 'deleted' });
    expect([isOpen(deleted), isServed(deleted), healthOf(deleted, now)]).toEqual([
      ...[false, false, undefined],
    ]);
    expect([isOpen(live), isServed(live)]).toEqual([true, true]);
  });

  test('has no work, however overdue, and its owner gets no notices', () => {
    expect([dueAt(deleted), dueWork(deleted, now), workOf(deleted)]).toEqual([
      ...[undefined, undefined, undefined],
    ]);
    expect(dueWork(live, now)).toBeDefined();
    expect(withNews({ state: deleted, events: [] }, now).events).toEqual([]);
    expect(withNews({ state: live, events: [] }, now).events).not.toEqual([]);
  });

  test('ignores a check that was under way', () => {
    const { state } = recordCheck(deleted, report(now), moment(now));
    expect(state).toBe(deleted);
  });

  test('changes with its project each time', () => {
    expect(following(deleted, true, now)).toBe(deleted);
    expect(following(live, false, now)).toBe(live);
  });
});

describe('once the project is restored', () => {
  test('the domain is checked at once, and not served before that', () => {
    expect(restored).toEqual({
      ...live,
      pause: 'restored',
      dns: { ...live.dns, nextCheckAt: now },
    });
    expect([isServed(restored), dueAt(restored)! <= now]).toEqual([false, true]);
  });

  test('a check that finds the name here serves it again', () => {
    const { state } = recordCheck(restored, report(now), moment(now));
    expect([state.pause, isServed(state)]).toEqual([undefined, true]);
  });

  test('a domain that leads elsewhere shows its problem, and is not served until it leads here', () => {
    const astray = badReport(now);
    const { state } = recordCheck(restored, astray, moment(now));
    expect([state.state, state.pause, isServed(state)]).toEqual(['live', 'restored', false]);
    expect(healthOf(state, now)).toMatchObject({ kind: 'at_risk' });
    const later = after(86 * day);
    const { state: back } = recordCheck(state, report(later), moment(later));
    expect(isServed(back)).toBe(true);
  });
});

test('a removed domain does not change, whatever happens to its project', () => {
  const { state: removed } = removeDomain(live, 'owner', now);
  expect(following(removed, true, now)).toBe(removed);
});

test('a domain whose project is not restored in time is removed for that reason', () => {
  const { state, events } = removeDomain(deleted, 'project_deleted', now);
  expect(state).toMatchObject({ state: 'removed', reason: 'project_deleted' });
  expect(events).toMatchObject([{ type: 'domain_removed', reason: 'project_deleted' }]);
});
