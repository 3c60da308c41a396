import type { Terminal } from '../terminal.ts'
import { type ConfigFlags, type ConfigRequest, type LoadedConfig, loadConfig } from './load-config.ts'

/** Loads the configuration for a command and tells its warnings. */
export async function loadForCommand(
  terminal: Terminal,
  flags: ConfigFlags,
  onImport?: ConfigRequest['onImport'],
): Promise<LoadedConfig> {
  const loaded = await loadConfig({ ...terminal, flags, onImport })
  for (const warning of loaded.warnings) terminal.stderr.write(`warning: ${warning}\n`)
  return loaded
}
