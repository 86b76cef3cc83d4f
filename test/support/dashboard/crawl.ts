import { readFileSync } from 'node:fs';
import type { AxeResults } from 'axe-core';
import type { TestPage } from './page.ts';
import { elementsIn } from './markup.ts';
import type { DashboardVisitor, PageAnswer } from './visitor.ts';

export const axe = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');

/** Unfolds everything on the page, so that axe sees it. */
export const unfoldForAxe = async (page: TestPage): Promise<void> => {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe);
  await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
};

/** The problems that axe finds, with their places. @param rules all, if none are named */
export const axeFaults = async (
  page: TestPage,
  ...rules: readonly string[]
): Promise<readonly string[]> => {
  const chosen = rules.length > 0 && { runOnly: { type: 'rule', values: rules } };
  const options = JSON.stringify({ resultTypes: ['violations'], ...chosen });
  const only = '({ violations }) => violations';
  const run = `axe.run(document, ${options}).then(${only})`;
  return (await page.evaluate<AxeResults['violations']>(run)).flatMap(({ id, nodes }) =>
    nodes.map(({ html, target }) => `${id}: ${String(target)} ${html}`),
  );
};

export interface FoundForm {
  readonly page: string;
  readonly method: string;
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
}

export interface Crawl {
  readonly pages: ReadonlyMap<string, PageAnswer>;
  readonly forms: readonly FoundForm[];
}

/** Follows all links from these pages as a signed-in person, and visits every page. */
export const crawl = async (
  visitor: DashboardVisitor,
  from: Iterable<string> = ['/dashboard'],
): Promise<Crawl> => {
  const pages = new Map<string, PageAnswer>();
  const forms = new Map<string, FoundForm>();
  const wanted = [...from];
  for (let path = wanted.pop(); path !== undefined; path = wanted.pop()) {
    if (pages.has(path)) continue;
    const answer = await visitor.get(path);
    pages.set(path, answer);
    wanted.push(...linksIn(answer.text), ...questionsIn(answer.text));
    for (const form of formsIn(answer.text, path)) {
      // The rows of a list have the same forms with every filter.
      forms.set(`${form.method} ${form.action.replace(/\?.*/, '')}`, form);
    }
  }
  return { pages, forms: [...forms.values()] };
};

/** The page of a thing is the same from every page of its list. */
const placeOfList = /(?<=\/(?:animals|orders|domains)\/[^/?]+(?:\/remove)?)\?(?!before=).*/;

/** Links to our pages, without fragments, and without the help, which is the same for everybody. */
const linksIn = (markup: string): readonly string[] =>
  elementsIn(markup, 'a')
    .map(({ attributes }) => (attributes['href'] ?? '').replace(/#.*/, '').replace(placeOfList, ''))
    .filter((path) => /^\/dashboard([/?]|$)(?!help\/)/.test(path));

const questionsIn = (markup: string): readonly string[] => {
  const box = elementsIn(markup, 'input').find(
    ({ attributes }) => attributes['form'] !== undefined,
  );
  const { name = '', value = '' } = box?.attributes ?? {};
  return elementsIn(markup, 'button').flatMap(({ attributes }) =>
    attributes['formmethod'] === 'get' && box
      ? [`${attributes['formaction'] ?? ''}?${name}=${value}`]
      : [],
  );
};

export const formsIn = (markup: string, page: string): readonly FoundForm[] =>
  [...markup.matchAll(/<form[^]*?<\/form>/g)].map(([form]) => {
    const attributes = elementsIn(form, 'form')[0]?.attributes ?? {};
    const fields = [
      ...elementsIn(form, 'input').map(({ attributes: { name, value } }) => [name, value]),
      ...elementsIn(markup, 'input').flatMap(({ attributes: { name, value, form: of } }) =>
        of !== undefined && of === attributes['id'] ? [[name, value]] : [],
      ),
      ...elementsIn(form, 'textarea').map(({ attributes: { name }, text }) => [name, text]),
      ...choicesIn(form),
    ];
    return {
      page,
      method: (attributes['method'] ?? 'get').toUpperCase(),
      action: attributes['action'] ?? page,
      fields: Object.fromEntries(fields.map(([name = '', value = '']) => [name, value])),
    };
  });

/** The selected options of lists; the first one by default. */
const choicesIn = (form: string) =>
  [...form.matchAll(/<select[^>]* name="([^"]*)"[^>]*>([^]*?)<\/select>/g)].map(
    ([, name, within = '']) => {
      const options = elementsIn(within, 'option').map((one) => one.attributes);
      return [name, (options.find((one) => 'selected' in one) ?? options[0])?.['value']];
    },
  );

export const routeOf = (
  routes: readonly { readonly method: string; readonly path: string }[],
  method: string,
  action: string,
): string | undefined => {
  const path = action.replace(/[?#].*/, '');
  const fits = (pattern: string) =>
    new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`).test(path);
  // If several routes match, the router takes the last one.
  return routes.findLast((route) => route.method === method && fits(route.path))?.path;
};
