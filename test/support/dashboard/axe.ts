import { readFileSync } from 'node:fs';
import type { AxeResults } from 'axe-core';
import type { TestPage } from './page.ts';

export const axe = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');

/** Unfolds everything on the page, so that axe sees it. */
export const unfoldForAxe = async (page: TestPage): Promise<void> => {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe);
  await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
};

/** What axe finds serious or critical, in words that say where. @param rules all, if none are named */
export const axeFaults = async (
  page: TestPage,
  ...rules: readonly string[]
): Promise<readonly string[]> => {
  const chosen = rules.length > 0 && { runOnly: { type: 'rule', values: rules } };
  const options = JSON.stringify({ resultTypes: ['violations'], ...chosen });
  const only = '({ violations }) => violations';
  const run = `axe.run(document, ${options}).then(${only})`;
  return (await page.evaluate<AxeResults['violations']>(run))
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, target }) => `${id}: ${String(target)} ${html}`),
    );
};
