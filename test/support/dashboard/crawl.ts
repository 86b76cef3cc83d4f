import { elementsIn } from './markup.ts';
import type { DashboardVisitor, PageAnswer } from './visitor.ts';

export interface FoundForm {
  /** The page that it stands on. */
  readonly page: string;
  readonly method: string;
  readonly action: string;
  /** The values sent if nothing is typed. */
  readonly fields: Readonly<Record<string, string>>;
}

export interface Crawl {
  readonly pages: ReadonlyMap<string, PageAnswer>;
  readonly forms: readonly FoundForm[];
}

/** Follows all links from the first page as a signed-in person, and visits every page. */
export const crawl = async (visitor: DashboardVisitor): Promise<Crawl> => {
  const pages = new Map<string, PageAnswer>();
  const forms = new Map<string, FoundForm>();
  const wanted = ['/dashboard'];
  for (let path = wanted.pop(); path !== undefined; path = wanted.pop()) {
    if (pages.has(path)) continue;
    const answer = await visitor.get(path);
    pages.set(path, answer);
    wanted.push(...linksIn(answer.text));
    for (const form of formsIn(answer.text, path)) {
      forms.set(`${form.method} ${form.action}`, form);
    }
  }
  return { pages, forms: [...forms.values()] };
};

/** To pages of ours, without the places on them. */
const linksIn = (markup: string): readonly string[] =>
  elementsIn(markup, 'a')
    .map(({ attributes }) => (attributes['href'] ?? '').replace(/#.*/, ''))
    .filter((path) => /^\/dashboard([/?]|$)/.test(path));

const formsIn = (markup: string, page: string): readonly FoundForm[] =>
  [...markup.matchAll(/<form[^]*?<\/form>/g)].map(([form]) => {
    const attributes = elementsIn(form, 'form')[0]?.attributes ?? {};
    const fields = [
      ...elementsIn(form, 'input').map(({ attributes: { name, value } }) => [name, value]),
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

/** The route of @koa/router that takes a path. */
export const routeOf = (
  routes: readonly { readonly method: string; readonly path: string }[],
  method: string,
  action: string,
): string | undefined => {
  const path = action.replace(/[?#].*/, '');
  const fits = (pattern: string) =>
    new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`).test(path);
  return routes.find((route) => route.method === method && fits(route.path))?.path;
};
