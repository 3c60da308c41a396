import type { Refusal } from '@perdure/ports'
import { type Connection, keepOpen } from '../file/connection.ts'
import { commitGroup } from './commit-group.ts'
import { createHost } from './create-host.ts'
import type { FileGuard } from './file-guard.ts'
import type { Host } from './host.ts'

export interface InlineHostOptions {
  /** Called once, when the state on disk becomes unknown. */
  readonly onFatal?: ((error: Refusal) => void) | undefined
  /** Closes the connection; `isIntact` is false after a fatal error. */
  readonly closeConnection: (db: Connection, isIntact: boolean) => void
  /** Watches the files; missing for a database in memory. */
  readonly guard?: FileGuard | undefined
  /** Called once, at once, when files are lost. `onFatal` follows when their content is saved. */
  readonly onFilesLost?: ((error: Refusal) => void) | undefined
}

/** Runs reads and writes on the calling thread. */
export const createInlineHost = (db: Connection, { closeConnection, ...options }: InlineHostOptions): Host =>
  createHost({
    ...options,
    commit: (jobs) => commitGroup(db, jobs),
    maxGroupsInFlight: 1,
    readFrom: db,
    close: (isIntact) => closeConnection(db, isIntact),
    abandon: () => keepOpen(db),
  })
