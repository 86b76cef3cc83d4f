/** Often enough for a person watching. */
const everyMs = 20;

/** Passes on the first message, and later ones only at least this far apart. */
export const seldom = <News>(tell: (news: News) => void): ((news: News) => void) => {
  let told = -Infinity;
  return (news) => {
    const now = performance.now();
    if (now - told < everyMs) return;
    told = now;
    tell(news);
  };
};
