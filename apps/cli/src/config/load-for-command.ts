import type { Terminal } from '../terminal.ts'
import { type ConfigFlags, type ConfigRequest, type LoadedConfig, loadConfig } from './load-config.ts'

/** Loads the configuration for a command and prints its warnings to stderr. */
export async function loadForCommand(
  { env, cwd, stderr }: Terminal,
  flags: ConfigFlags,
  onImport?: ConfigRequest['onImport'],
): Promise<LoadedConfig> {
  const loaded = await loadConfig({ env, cwd, flags, onImport })
  for (const warning of loaded.warnings) stderr.write(`warning: ${warning}\n`)
  return loaded
}
