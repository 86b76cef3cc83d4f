import startServers from '../servers/start-servers.ts';
import { browserVariable, launchBrowser, type LaunchedBrowser } from './launch-browser.ts';

declare global {
  var testBrowser: LaunchedBrowser | undefined;
}

/** The servers of every suite, and one browser for all files. */
export default async function startDashboardServers(): Promise<void> {
  const [browser] = await Promise.all([launchBrowser(), startServers()]);
  globalThis.testBrowser = browser;
  process.env[browserVariable] = browser.endpoint;
}
