/** Several suites may ask for it. */
export default async function stopServers(): Promise<void> {
  const { mariaDb, redisServer } = globalThis;
  globalThis.mariaDb = globalThis.redisServer = undefined;
  await Promise.all([mariaDb?.stop(), redisServer?.stop()]);
}
