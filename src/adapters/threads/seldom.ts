/** Often enough for a person who watches. */
const everyMs = 20;

/** Passes on the first news, and of those that follow what comes at least so much later. */
export const seldom = <News>(tell: (news: News) => void): ((news: News) => void) => {
  let told = -Infinity;
  return (news) => {
    const now = performance.now();
    if (now - told < everyMs) return;
    told = now;
    tell(news);
  };
};
