export default async function stopServers(): Promise<void> {
  await Promise.all([globalThis.mariaDb?.stop(), globalThis.redisServer?.stop()]);
}
