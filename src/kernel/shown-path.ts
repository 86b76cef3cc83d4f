const longest = 500;
const mayHoldSecret = /%|sign|shared|pets_live_/i;
/** `sign-in`, `Sign_In`, `signin`, `shared-domain`: a place, with what follows it. */
const secretPlace = /(?:sign[^a-z0-9]{0,3}in|shared[^a-z0-9]{0,3}domain)[^a-z0-9]/i;
const apiKey = /pets_live_[0-9a-z]+/gi;

/**
 * A path that is safe to log: hides what follows "sign-in" or "shared-domain", however it is spelled, since that is the secret of a link,
 * and everything that looks like an API key.
 */
export const shownPath = (path: string): string => {
  if (!mayHoldSecret.test(path)) return cut(path);
  const plain = decoded(path);
  const hidden = untilSecret(plain).replace(apiKey, 'pets_live_…');
  return cut(hidden === plain ? path : hidden);
};

const untilSecret = (path: string): string => {
  const place = secretPlace.exec(path);
  if (!place) return path;
  const end = place.index + place[0].length;
  return end === path.length ? path : `${path.slice(0, end)}…`;
};

const cut = (path: string): string => (path.length > longest ? `${path.slice(0, longest)}…` : path);

/** Decodes escaped letters and digits, also when escaped several times; other characters cannot hide a word. */
const decoded = (path: string): string => {
  let plain = path;
  for (let times = 0; times < 3 && plain.includes('%'); times++) {
    plain = plain.replace(/%([2-7][0-9a-f])/gi, (_, code: string) =>
      String.fromCharCode(parseInt(code, 16)),
    );
  }
  return plain;
};
