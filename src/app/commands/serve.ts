import type { Command } from 'commander';

export const serveCommand = (program: Command): void => {
  program.command('serve').description('run the service').action(serve);
};

/** In this process or in several, until a signal stops it. */
const serve = async (): Promise<void> => {
  const [{ linkToParent }, { loadConfig }] = await Promise.all([
    import('../processes/parent-link.ts'),
    import('../settings/config.ts'),
  ]);
  const parent = linkToParent();
  try {
    const config = loadConfig(process.env);
    if (config.processes > 1 && !parent) {
      await (await import('../processes/supervisor.ts')).supervise(config);
    } else {
      await (await import('../serve.ts')).serve(config, parent);
    }
  } catch (error) {
    parent?.letGo();
    throw error;
  }
};
