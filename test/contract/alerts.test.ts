import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Metrics } from '../../src/adapters/http/metrics/metrics.ts';
import { measures } from '../../src/adapters/http/metrics/measures.ts';
import {
  promtool,
  alertRules,
  dashboardQueries,
  namesIn,
  ruleTests,
  ruleTestsFile,
} from '../support/service/monitoring-files.ts';

const rules = alertRules();
const runbook = readFileSync(join(import.meta.dirname, '../../docs/runbook.md'), 'utf8');
const sections = new Map(
  runbook.split(/^## /m).flatMap((section, at): (readonly [string, string])[] => {
    const [title = ''] = section.split('\n');
    return at === 0 ? [] : [[title, section]];
  }),
);

test('the alerts fire and stay silent as their unit tests require', async () => {
  const { code, output } = await promtool(['test', 'rules', ruleTestsFile]);
  expect({ code, output }).toMatchObject({ code: 0 });
});

test('each alert has a section in the runbook, and each section has an alert', () => {
  expect([...sections.keys()]).toEqual(rules.map(({ alert }) => alert));
});

test.each(rules)('$alert uses existing metrics and is tested', ({ alert, expr }) => {
  const names = namesIn(expr).filter((name) => name !== 'up');
  expect(names.filter((name) => !Object.hasOwn(measures, name))).toEqual([]);
  expect(names.length > 0 || alert === 'ServiceDown').toBe(true);
  expect(ruleTests()).toContain(alert);
});

test.each(rules)(
  '$alert states its urgency, what is happening, and which section to read',
  (rule) => {
    const { alert, labels, annotations } = rule;
    expect(Object.keys(labels)).toEqual(['severity']);
    expect(['critical', 'warning']).toContain(labels['severity']);
    expect(Object.keys(annotations)).toEqual(['summary', 'runbook_url']);
    expect(annotations['runbook_url']).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
  },
);

test('the threshold of AnswersSlow is a histogram bucket, so faster answers do not fire it', async () => {
  const { expr = '' } = rules.find(({ alert }) => alert === 'AnswersSlow') ?? {};
  const limit = expr.split(' > ').at(-1) ?? '';
  const metrics = new Metrics();
  metrics.observe('listPets', 200, Number(limit));
  expect(await metrics.registry.metrics()).toContain(`_bucket{le="${limit}",`);
});

const foreign = /^(?:up|ALERTS|(?:process|nodejs)_\w+)$/;

test('the dashboard uses only existing metrics, and every metric is on it or in a rule', () => {
  const shown = dashboardQueries().flatMap(({ expr }) => namesIn(expr));
  const own = shown.filter((name) => !foreign.test(name));
  expect(own.filter((name) => !Object.hasOwn(measures, name))).toEqual([]);
  const used = new Set([...own, ...rules.flatMap(({ expr }) => namesIn(expr))]);
  expect(Object.keys(measures).filter((name) => !used.has(name))).toEqual([]);
});

test.each([...sections])(
  'the section %s is complete and names only existing metrics',
  (_, text) => {
    for (const part of ['- **Look:** ', '- **Do:** ']) expect(text).toContain(part);
    const named = [...text.matchAll(/`([a-z]+(?:_[a-z]+)+)(?:\{[^`]*\})?`/g)].map(
      ([, name]) => name ?? '',
    );
    const measured = named.filter((name) => /_(?:total|seconds|bytes)$/.test(name));
    const own = measured.filter((name) => !/^(?:process|nodejs)_/.test(name));
    expect(own.filter((name) => !Object.hasOwn(measures, name))).toEqual([]);
  },
);
