import type { Terminal } from '../terminal.ts'
import { type ConfigFlags, type LoadedConfig, loadConfig } from './load-config.ts'

/** Loads the configuration for a command and tells its warnings. */
export async function loadForCommand(terminal: Terminal, flags: ConfigFlags): Promise<LoadedConfig> {
  const loaded = await loadConfig({ ...terminal, flags })
  for (const warning of loaded.warnings) terminal.stderr.write(`warning: ${warning}\n`)
  return loaded
}
