import { type Logger, StartError } from '@perdure/ports'
import type { OpenedDatabase } from '@perdure/sqlite'

/** What PostgreSQL tells: its package is an optional peer, so the declarations cannot name its type. */
interface OpenedSchema {
  readonly schema: string
  readonly schemaVersion: number
  readonly change: { readonly from: number; readonly to: number } | undefined
}

/** What a storage tells while it opens. */
interface StorageCallbacks {
  onWarning(message: string): void
  onLogMissing(): void
  onOpened(opened: OpenedDatabase | OpenedSchema): void
}

/** Logs what a start finds and does in its database files. */
export interface StorageNotes {
  /** The callbacks for one storage. */
  of(path: string): StorageCallbacks
  /** Adds to the error of a failed start what it has migrated: an earlier release may no longer open it. */
  explain(error: unknown): unknown
}

export function createStorageNotes(logger: Logger): StorageNotes {
  const migrated: string[] = []
  return {
    of: (path) => ({
      onWarning: (message) => logger.warn(message),
      onLogMissing: () =>
        logger.warn(
          'the last server did not shut down cleanly, and its write-ahead log is missing: the newest commits are lost, unless a program has moved them into the database file',
          { path: `${path}-wal` },
        ),
      onOpened({ schemaVersion, change, ...place }) {
        if (change === undefined) return logger.info('database opened', { ...place, schemaVersion })
        if (change.from === 0) return logger.info('database created', { ...place, schemaVersion })
        const name = 'path' in place ? place.path : `the schema ${place.schema}`
        const source = 'copy' in change ? change.copy : 'a dump from before'
        migrated.push(
          `this start has migrated ${name} from schema version ${change.from} to ${change.to}; for an earlier release, restore ${source}`,
        )
        logger.info('database migrated', { ...place, ...change })
      },
    }),
    explain(error) {
      if (!(error instanceof StartError) || migrated.length === 0) return error
      const { kind, message, hint, cause } = error
      return new StartError(kind, { message, hint: [hint?.replace(/\.$/, ''), ...migrated].join('; '), cause })
    },
  }
}
