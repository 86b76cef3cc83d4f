import { linkToParent } from './processes/parent-link.ts';
import { loadConfig } from './settings/config.ts';

/** Runs the service, in this process or in several, until a signal stops it. */
export const runService = async (): Promise<void> => {
  const parent = linkToParent();
  try {
    const config = loadConfig(process.env);
    if (config.processes > 1 && !parent) {
      await (await import('./processes/supervise.ts')).supervise(config);
    } else {
      await (await import('./serve.ts')).serve(config, parent);
    }
  } catch (error) {
    parent?.letGo();
    throw error;
  }
};
