import type { AppError } from '@perdure/ports'
import type { Connection } from '../file/connection.ts'
import { commitGroup } from './commit-group.ts'
import { createHost } from './create-host.ts'
import type { Host } from './host.ts'

export interface InlineHostOptions {
  /** Called once, when the state on disk becomes unknown. */
  readonly onFatal?: ((error: AppError) => void) | undefined
  /** Closes the connection; `isIntact` is false after a fatal error. */
  readonly closeConnection: (db: Connection, isIntact: boolean) => void
}

/** Runs reads and writes on the calling thread. */
export const createInlineHost = (db: Connection, { onFatal, closeConnection }: InlineHostOptions): Host =>
  createHost({
    commit: (jobs) => commitGroup(db, jobs),
    maxGroupsInFlight: 1,
    readFrom: db,
    close: (isIntact) => closeConnection(db, isIntact),
    onFatal,
  })
