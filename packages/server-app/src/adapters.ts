import { resolve } from 'node:path'
import {
  createCronSchedule,
  createIdGenerator,
  createLogger,
  createPrometheusMeter,
  envSecretResolver,
  fileSecretResolver,
  keyringSecretResolver,
  nodeDigest,
  systemClock,
  systemTimers,
} from '@berth/platform-node'
import type {
  Clock,
  CronSchedule,
  Digest,
  IdGenerator,
  Logger,
  ReadableMeter,
  SecretResolver,
  Storage,
  Timers,
} from '@berth/ports'
import type { ServerConfig } from '@berth/protocol'
import { type Encryption, openSqliteStorage, type SqliteStorage } from '@berth/sqlite'

/** Everything impure. A caller may pass any of them to swap it; what was passed in is never closed by the server. */
export interface Adapters {
  readonly storage: Storage
  readonly clock: Clock
  readonly timers: Timers
  readonly ids: IdGenerator
  readonly digest: Digest
  readonly logger: Logger
  readonly meter: ReadableMeter
  readonly cronSchedule: CronSchedule
  readonly secretResolvers: readonly SecretResolver[]
}

export type Platform = Omit<Adapters, 'storage'>

/** The adapters that need no opening. */
export function createPlatform(config: ServerConfig, configDir: string, given: Partial<Adapters>): Platform {
  return {
    clock: given.clock ?? systemClock,
    timers: given.timers ?? systemTimers,
    ids: given.ids ?? createIdGenerator(),
    digest: given.digest ?? nodeDigest,
    logger: given.logger ?? createLogger({ level: config.log.level }),
    meter: given.meter ?? createPrometheusMeter(),
    cronSchedule: given.cronSchedule ?? createCronSchedule(),
    secretResolvers: [
      ...(given.secretResolvers ?? []),
      envSecretResolver(process.env),
      fileSecretResolver({ baseDir: configDir }),
      keyringSecretResolver(),
    ],
  }
}

export interface OpenStorage {
  readonly config: ServerConfig
  readonly configDir: string
  readonly encryption?: Encryption | undefined
  readonly onFatal?: ((error: unknown) => void) | undefined
}

/** The storage the configuration names, migrated. @throws StartError `storage-locked`, `storage-corrupt`, … */
export function openStorage({ config, configDir, encryption, onFatal }: OpenStorage): Promise<SqliteStorage> {
  const { path, mode, synchronous } = config.storage
  const file = path === ':memory:' ? path : resolve(configDir, path)
  return openSqliteStorage({ path: file, mode, synchronous, encryption, onFatal })
}
