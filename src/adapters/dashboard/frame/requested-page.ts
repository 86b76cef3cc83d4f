import type { Context } from 'koa';
import { sectionPath } from './layout.ts';
import { pathOf, type Screen, type Section, type Visit } from './screen.ts';

/** The section of a request, so that its error page shows the same navigation and a link back. */
export interface RequestedPage {
  readonly section: Section;
  /** The page of the form that was sent; undefined when a page was asked for. */
  readonly form: string | undefined;
}

const pages = new WeakMap<Context, RequestedPage>();

export const notePage = (ctx: Context, screen: Screen, visit: Visit): void => {
  const form = ctx.method === 'POST' ? pathOf(screen, visit) : undefined;
  pages.set(ctx, { section: screen.section, form });
};

export const requestedPage = (ctx: Context): RequestedPage | undefined => pages.get(ctx);

/** @returns where to continue after a failure; not the page of a thing that was not found */
export const wayBack = (page: RequestedPage | undefined, status: number): string | undefined =>
  page?.form !== undefined && status === 404 ? sectionPath(page.section) : page?.form;
