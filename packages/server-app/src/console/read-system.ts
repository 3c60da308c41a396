import type { Clock, Cluster, Storage } from '@perdure/ports'
import { type ConsoleSystem, configFields, type ServerConfig } from '@perdure/protocol'
import type { InferOutput } from 'valibot'

export interface ReadSystemDeps {
  readonly config: ServerConfig
  /** Whether the program has passed the storage in. */
  readonly isStorageGiven: boolean
  readonly storage: Pick<Storage, 'status' | 'nodes'>
  readonly cluster: Pick<Cluster, 'executor'>
  readonly clock: Clock
  readonly version: string
  /** Where a field is set; if missing, only defaults are told apart. */
  readonly originOf: ((path: string) => string | Promise<string>) | undefined
}

type System = InferOutput<typeof ConsoleSystem>

/** Describes the server for the console. */
export function createReadSystem(deps: ReadSystemDeps): () => Promise<System> {
  const { config, isStorageGiven, storage, cluster, clock, version, originOf } = deps
  const startedAt = new Date(clock.now()).toISOString()

  return async () => {
    const [servers, { writable, dbBytes, walBytes, freeBytes }] = await Promise.all([
      storage.nodes?.list() ?? [],
      storage.status(),
    ])
    return {
      version,
      startedAt,
      nodes: servers.map(({ id, name, startedAt: joinedAt }) => ({
        ...{ id, name, startedAt: new Date(joinedAt).toISOString() },
        isThis: id === cluster.executor,
      })),
      storage: {
        kind: isStorageGiven ? 'custom' : config.storage.kind,
        ...{ writable, dbBytes, walBytes, ...(freeBytes === undefined ? {} : { freeBytes }) },
      },
      configuration: await Promise.all(
        configFields.map(async ({ path, isSecret }) => {
          const value = memberAt(config, path)
          return {
            path,
            ...(value === undefined ? {} : { value: isSecret ? masked(value) : withMaskedKeys(value) }),
            origin: (await originOf?.(path)) ?? 'program',
          }
        }),
      ),
    }
  }
}

const memberAt = (tree: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], tree)

/** The issuers in `auth.jwt` contain references to secrets. */
const withMaskedKeys = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (name, member: unknown) => (name === 'secretRef' ? masked(member) : member)))

/** A reference to a secret names a variable or a file: its scheme is enough to find a wrong one. */
const masked = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(masked) : `${String(value).split(':', 1)[0]}:…`
