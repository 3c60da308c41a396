import { type Logger, StartError } from '@perdure/ports'
import type { OpenedDatabase, SchemaChange } from '@perdure/sqlite'

/** What a storage tells while it opens. */
interface StorageCallbacks {
  onWarning(message: string): void
  onLogMissing(): void
  onOpened(opened: OpenedDatabase): void
}

/** Logs what a start finds and does in its database files. */
export interface StorageNotes {
  /** The callbacks for one storage. */
  of(path: string): StorageCallbacks
  /** Adds to the error of a failed start which files it has migrated: an earlier release no longer opens them. */
  explain(error: unknown): unknown
}

export function createStorageNotes(logger: Logger): StorageNotes {
  const migrated: (SchemaChange & { readonly path: string })[] = []
  return {
    of: (path) => ({
      onWarning: (message) => logger.warn(message),
      onLogMissing: () =>
        logger.warn(
          'the last server did not shut down cleanly, and its write-ahead log is missing: the newest commits are lost, unless a program has moved them into the database file',
          { path: `${path}-wal` },
        ),
      onOpened({ path, schemaVersion, change }) {
        if (change === undefined) return logger.info('database opened', { path, schemaVersion })
        if (change.copy === undefined) return logger.info('database created', { path, schemaVersion })
        migrated.push({ path, ...change })
        logger.info('database migrated', { path, ...change })
      },
    }),
    explain(error) {
      if (!(error instanceof StartError) || migrated.length === 0) return error
      const { kind, message, hint, cause } = error
      const notes = migrated.map(
        ({ path, from, to, copy }) =>
          `this start has migrated ${path} from schema version ${from} to ${to}; for an earlier release, restore ${copy}`,
      )
      return new StartError(kind, { message, hint: [hint?.replace(/\.$/, ''), ...notes].join('; '), cause })
    },
  }
}
