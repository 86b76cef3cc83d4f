import type { Context } from 'koa';
import { sectionPath } from './layout.ts';
import { pathOf, type Screen, type Section, type Visit } from './screen.ts';

/** The section of a request, so that its error page shows the same navigation and a link back. */
export interface RequestPlace {
  readonly section: Section;
  /** The page of the form that was sent; undefined when a page was asked for. */
  readonly form: string | undefined;
}

const places = new WeakMap<Context, RequestPlace>();

export const notePlace = (ctx: Context, screen: Screen, visit: Visit): void => {
  const form = ctx.method === 'POST' ? pathOf(screen, visit) : undefined;
  places.set(ctx, { section: screen.section, form });
};

export const placeOf = (ctx: Context): RequestPlace | undefined => places.get(ctx);

/** @returns where to continue after a failure; not the page of a thing that was not found */
export const wayBack = (place: RequestPlace | undefined, status: number): string | undefined =>
  place?.form !== undefined && status === 404 ? sectionPath(place.section) : place?.form;
