export default async function stopServers(): Promise<void> {
  await globalThis.mariaDb?.stop();
}
