import stopServers from '../servers/stop-servers.ts';

export default async function stopDashboardServers(): Promise<void> {
  await Promise.all([globalThis.testBrowser?.stop(), stopServers()]);
}
