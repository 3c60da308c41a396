import { StartError } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import { type LoadedConfig, withValue } from '../config/load-config.ts'
import { validConfig } from '../config/valid-config.ts'
import { devPepperPath, ensureDevPepper } from './dev-pepper.ts'

/** Requests per minute: enough for a developer who calls the server in a loop. */
const DEV_REQUESTS = 10_000

export interface DevConfig {
  readonly config: ServerConfig
  /** File of the generated pepper; `undefined` if a pepper is configured, or no pepper is needed. */
  readonly pepperPath: string | undefined
}

/** The configuration for `perdure dev`: a higher rate limit, the console and a generated pepper, unless they are configured. */
export async function devConfig(loaded: LoadedConfig): Promise<DevConfig> {
  const configured = validConfig(loaded)
  if (configured.storage.path === ':memory:') {
    throw new StartError('config-invalid', {
      message: 'storage.path: perdure dev needs a database file, not :memory:, to store its data and its pepper',
      hint: 'remove storage.path or set it to a file',
    })
  }
  const isRateSet = loaded.input.server?.rateLimit?.perIpRequests !== undefined
  const isConsoleSet = loaded.input.console?.enabled !== undefined
  const rated = isRateSet ? loaded.input : withValue(loaded.input, 'server.rateLimit.perIpRequests', DEV_REQUESTS)
  const input = isConsoleSet ? rated : withValue(rated, 'console.enabled', true)
  if (configured.auth.kind === 'none' || configured.auth.pepperRef !== undefined) {
    return { config: validConfig({ ...loaded, input }), pepperPath: undefined }
  }
  const pepperPath = devPepperPath(configured.storage.path)
  await ensureDevPepper(pepperPath)
  return {
    config: validConfig({ ...loaded, input: withValue(input, 'auth.pepperRef', `file:${pepperPath}`) }),
    pepperPath,
  }
}
