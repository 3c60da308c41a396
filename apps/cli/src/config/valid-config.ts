import { StartError } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import { parseConfig } from '@perdure/server-app'
import { databasePath, type LoadedConfig } from './load-config.ts'

/**
 * Validates the configuration, with all defaults and, if the storage is a file, an absolute `storage.path`.
 *
 * @throws StartError `config-invalid`; the hint names the environment variable if it set the invalid value
 */
export function validConfig(loaded: Pick<LoadedConfig, 'input' | 'configDir' | 'overrides'>): ServerConfig {
  const config = parsed(loaded)
  const { storage } = config
  if (storage.kind !== 'sqlite') return config
  return { ...config, storage: { ...storage, path: databasePath(storage.path, loaded.configDir) } }
}

function parsed({ input, overrides }: Pick<LoadedConfig, 'input' | 'overrides'>): ServerConfig {
  try {
    return parseConfig(input)
  } catch (error) {
    const culprits = overrides.filter(({ path }) => error instanceof StartError && mentions(error.message, path))
    if (culprits.length === 0) throw error
    const { kind, message } = error as StartError
    const variables = culprits.map(({ variable }) => variable).join(', ')
    throw new StartError(kind, {
      message,
      hint: `set by the environment: fix or unset ${variables}`,
    })
  }
}

const mentions = (message: string, path: string): boolean => message.split('; ').some((part) => part.startsWith(path))
