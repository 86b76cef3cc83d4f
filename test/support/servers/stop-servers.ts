/** Several suites may call this. */
export default async function stopServers(): Promise<void> {
  const { mariaDb, redisServer } = globalThis;
  globalThis.mariaDb = globalThis.redisServer = undefined;
  await Promise.all([mariaDb?.stop(), redisServer?.stop()]);
}
