export type PathMatch =
  | { readonly kind: 'file'; readonly path: string }
  /** The same, one slash further: relative links on that page need it. */
  | { readonly kind: 'folder'; readonly location: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'malformed' };

/** Characters of an encoded path. One of 1024 bytes, decomposed and each byte encoded, has hardly more. */
const longestPath = 9 * 1024;

const missing: PathMatch = { kind: 'missing' };
const malformed: PathMatch = { kind: 'malformed' };

/**
 * `/` gives `index.html`, `/about` gives `about`, `about.html` or `about/index.html`, whichever there is first.
 * @param target path and query of a request, as it came
 * @param has whether the site has a file; nothing else is ever looked up, so that no path can leave the site
 */
export const matchPath = (target: string, has: (path: string) => boolean): PathMatch => {
  const query = target.indexOf('?');
  const raw = query === -1 ? target : target.slice(0, query);
  if (raw.length > longestPath) return missing;
  const path = raw.includes('%') ? decoded(raw) : raw;
  if (path === undefined || !path.startsWith('/') || unsafe.test(path)) return malformed;
  const file = path.slice(1);
  if (file === '' || file.endsWith('/')) {
    const index = file === '' ? 'index.html' : `${file}index.html`;
    return has(index) ? { kind: 'file', path: index } : missing;
  }
  if (has(file)) return { kind: 'file', path: file };
  if (has(`${file}.html`)) return { kind: 'file', path: `${file}.html` };
  if (!has(`${file}/index.html`)) return missing;
  return { kind: 'folder', location: `${raw}/${query === -1 ? '' : target.slice(query)}` };
};

/** Control characters, backslashes, empty and dot segments: no published file has them in its path. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const unsafe = /[\u0000-\u001f\u007f\\]|\/\/|\/\.{1,2}(\/|$)/;

/** An encoded slash would make two names one path; what cannot be decoded is no path. */
const decoded = (raw: string): string | undefined => {
  if (/%2f|%5c/i.test(raw)) return undefined;
  try {
    return decodeURIComponent(raw).normalize('NFC');
  } catch {
    return undefined;
  }
};
