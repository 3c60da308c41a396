import { existsSync } from 'node:fs'
import type { ServerConfig } from '@perdure/protocol'
import { type LoadedConfig, withValue } from '../config/load-config.ts'
import { validConfig } from '../config/valid-config.ts'
import { devPepperPath } from '../dev/dev-pepper.ts'
import { isAlive } from '../is-alive.ts'
import { readDevSession } from './dev-session.ts'

/**
 * The configuration of a command that opens the database. If `perdure dev` runs in this folder and no pepper is
 * configured, the command uses the pepper of `perdure dev`, like its server.
 */
export const configBesideDev = (loaded: LoadedConfig): ServerConfig =>
  isDevRunning(loaded.cwd) ? configWithDevPepper(loaded) : validConfig(loaded)

/**
 * The configuration of a command that needs the pepper of a database while no server runs. If no pepper is configured,
 * the command uses the pepper that `perdure dev` has stored beside the database.
 */
export function configWithDevPepper(loaded: LoadedConfig): ServerConfig {
  const config = validConfig(loaded)
  if (config.auth.kind === 'none' || config.auth.pepperRef !== undefined) return config
  const pepper = devPepperPath(config.storage.path)
  if (!existsSync(pepper)) return config
  return validConfig({ ...loaded, input: withValue(loaded.input, 'auth.pepperRef', `file:${pepper}`) })
}

function isDevRunning(cwd: string): boolean {
  const session = readDevSession(cwd)
  return session !== undefined && isAlive(session.pid)
}
