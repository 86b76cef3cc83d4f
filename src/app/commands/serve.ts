import type { Command } from 'commander';
import { onDemand } from '../on-demand.ts';
import { linkToParent } from '../processes/parent-link.ts';
import { loadConfig } from '../settings/config.ts';

export const serveCommand = (program: Command): void => {
  program.command('serve').description('run the service').action(serve);
};

/** In this process or in several, until a signal stops it. */
const serve = async (): Promise<void> => {
  const parent = linkToParent();
  try {
    const config = loadConfig(process.env);
    if (config.processes > 1 && !parent) await (await onDemand.supervise()).supervise(config);
    else await (await onDemand.serve()).serve(config, parent);
  } catch (error) {
    parent?.letGo();
    throw error;
  }
};
