import type { AppError } from '@perdure/ports'
import type { Connection } from '../connection.ts'
import { commitGroup } from './commit-group.ts'
import { createHost } from './create-host.ts'
import type { Host } from './host.ts'

export interface InlineHostOptions {
  /** Called once, when what is on disk is no longer known. */
  readonly onFatal?: ((error: AppError) => void) | undefined
  /** Closes the connection; `isIntact` is false after a fatal error. */
  readonly closeConnection: (db: Connection, isIntact: boolean) => void
}

/** Runs everything on the calling thread. */
export const createInlineHost = (db: Connection, { onFatal, closeConnection }: InlineHostOptions): Host =>
  createHost({
    commit: (jobs) => commitGroup(db, jobs),
    maxGroups: 1,
    readFrom: db,
    close: (isIntact) => closeConnection(db, isIntact),
    onFatal,
  })
