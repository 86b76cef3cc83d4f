import { expect } from '@jest/globals';
import { publicUrl, type Answer, type RunningApi } from '../http/running-api.ts';

/** The path of the next page, taken from the one `Link` of a list; undefined on the last page. */
export const nextPage = ({ headers }: Answer): string | undefined => {
  const link = headers.get('Link');
  if (link === null) return undefined;
  const [, target = ''] = /^<([^>]*)>; rel="next"$/.exec(link) ?? [];
  expect(target.startsWith(`${publicUrl}/`)).toBe(true);
  return target.replace(publicUrl, '/v1');
};

/** Follows a list to its end. @returns the rows of each page */
export const walk = async <Row>(
  api: Pick<RunningApi, 'send'>,
  start: string,
  key?: string,
): Promise<readonly (readonly Row[])[]> => {
  const pages: (readonly Row[])[] = [];
  for (let path: string | undefined = start; path !== undefined;) {
    const answer = await api.send(path, key === undefined ? {} : { key });
    expect(answer.status).toBe(200);
    pages.push(answer.body as readonly Row[]);
    path = nextPage(answer);
    if (pages.length > 100) throw new Error(`${start} has no last page`);
  }
  return pages;
};
