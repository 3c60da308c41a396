import { resolve } from 'node:path'
import { createMcpClient } from '@berth/mcp'
import {
  createFileSkillStore,
  createIdGenerator,
  createLogger,
  createPrometheusMeter,
  envSecretResolver,
  fileSecretResolver,
  nodeDigest,
  systemClock,
  systemTimers,
} from '@berth/platform-node'
import type {
  Clock,
  Digest,
  IdGenerator,
  Logger,
  McpClient,
  ReadableMeter,
  SecretResolver,
  SkillStore,
  Storage,
  Timers,
} from '@berth/ports'
import type { ServerConfig } from '@berth/protocol'
import { openSqliteStorage } from '@berth/sqlite'
import { resolveSecret } from './pre-bind.ts'
import { version } from './version.ts'

/** Everything impure. A caller may pass any of them to swap it; what was passed in is never closed by the server. */
export interface Adapters {
  readonly storage: Storage
  readonly clock: Clock
  readonly timers: Timers
  readonly ids: IdGenerator
  readonly digest: Digest
  readonly logger: Logger
  readonly meter: ReadableMeter
  readonly secretResolvers: readonly SecretResolver[]
  readonly skills: SkillStore
  readonly mcp: McpClient
}

export type Platform = Omit<Adapters, 'storage'>

/** The adapters that need no opening. */
export function createPlatform(config: ServerConfig, configDir: string, given: Partial<Adapters>): Platform {
  const { clock = systemClock, timers = systemTimers, logger = createLogger({ level: config.log.level }) } = given
  const secretResolvers = [
    ...(given.secretResolvers ?? []),
    envSecretResolver(process.env),
    fileSecretResolver({ baseDir: configDir }),
  ]
  const readSecret = async (reference: string) =>
    new TextDecoder().decode(await resolveSecret({ secretResolvers, logger }, 'mcp', reference))
  return {
    ...{ clock, timers, logger, secretResolvers },
    ids: given.ids ?? createIdGenerator(),
    digest: given.digest ?? nodeDigest,
    meter: given.meter ?? createPrometheusMeter(),
    skills: given.skills ?? createFileSkillStore(skillFolders(config, configDir)),
    mcp:
      given.mcp ??
      createMcpClient({
        ...{ clock, timers, logger, version, ...config.mcp, resolveSecret: readSecret },
        fetch: (url, init) => fetch(url, init),
      }),
  }
}

const skillFolders = ({ skills }: ServerConfig, configDir: string) => ({
  ...skills,
  directories: skills.directories.map((path) => resolve(configDir, path)),
  sources: skills.sources.map((path) => resolve(configDir, path)),
})

/** The storage the configuration names, migrated. @throws StartError `storage-locked`, `storage-corrupt`, … */
export function openStorage(
  { storage }: ServerConfig,
  configDir: string,
  onFatal: (error: unknown) => void,
): Promise<Storage> {
  const { path, mode, synchronous } = storage
  return openSqliteStorage({ path: path === ':memory:' ? path : resolve(configDir, path), mode, synchronous, onFatal })
}
