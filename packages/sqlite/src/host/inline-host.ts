import { AppError } from '@berth/ports'
import type { Connection } from '../connection.ts'
import {
  READS,
  type ReadName,
  type ReadRequest,
  type ReadResult,
  type WriteName,
  type WriteRequest,
  type WriteResult,
} from '../operations.ts'
import { translateError } from '../sqlite-error.ts'
import { commitGroup, type Settled, type WriteJob } from './commit-group.ts'
import type { Host, HostState } from './host.ts'

export interface InlineHostOptions {
  /** Called once, when what is on disk is no longer known. */
  readonly onFatal?: ((error: AppError) => void) | undefined
  /** Closes the connection; `isIntact` is false after a fatal error. */
  readonly closeConnection: (db: Connection, isIntact: boolean) => void
}

/** Jobs in one transaction at most. */
const MAX_GROUP = 64

interface Waiting extends WriteJob {
  readonly settle: (settled: Settled) => void
}

/** Runs everything on the calling thread. The writes of one turn of the event loop share a transaction. */
export function createInlineHost(db: Connection, { onFatal, closeConnection }: InlineHostOptions): Host {
  const waiting: Waiting[] = []
  const counters = { transactions: 0, writes: 0 }
  let state: HostState = 'open'

  const translate = (error: unknown): unknown => {
    const translated = translateError(error)
    if (translated instanceof AppError && translated.id === 'storage-failed' && state !== 'failed') {
      state = 'failed'
      onFatal?.(translated)
    }
    return translated
  }

  const runGroup = (): void => {
    const group = waiting.splice(0, MAX_GROUP)
    const outcomes = state === 'failed' ? group.map(() => ({ error: failedError() })) : commitGroup(db, group)
    counters.transactions += state === 'failed' ? 0 : 1
    counters.writes += group.length
    const settled = outcomes.map((outcome) => ('error' in outcome ? { error: translate(outcome.error) } : outcome))
    if (state !== 'failed') state = settled.some(isFull) ? 'full' : 'open'
    for (const [index, { settle }] of group.entries()) settle(settled[index] as Settled)
  }

  const runSoon = (): void => {
    setImmediate(() => {
      if (waiting.length > 0) runGroup()
      if (waiting.length > 0) runSoon()
    })
  }

  return {
    async write<Name extends WriteName>(name: Name, request: WriteRequest<Name>) {
      if (state === 'closed') throw closedError()
      const settled = await new Promise<Settled>((settle) => {
        if (waiting.push({ name, request, settle }) === 1) runSoon()
      })
      if ('error' in settled) throw settled.error
      return settled.result as WriteResult<Name>
    },
    async read(name, request) {
      if (state === 'closed') throw closedError()
      try {
        return runRead(db, name, request)
      } catch (error) {
        throw translate(error)
      }
    },
    state: () => state,
    counters: () => ({ ...counters }),
    async close() {
      if (state === 'closed') return
      while (waiting.length > 0) runGroup()
      const isIntact = state !== 'failed'
      state = 'closed'
      closeConnection(db, isIntact)
    },
  }
}

function runRead<Name extends ReadName>(db: Connection, name: Name, request: ReadRequest<Name>): ReadResult<Name> {
  const read = READS[name] as (db: Connection, request: ReadRequest<Name>) => ReadResult<Name>
  return read(db, request)
}

const isFull = (settled: Settled): boolean =>
  'error' in settled && settled.error instanceof AppError && settled.error.id === 'storage-full'

const failedError = (): AppError =>
  new AppError('storage-failed', { message: 'The storage failed earlier and takes no more writes.' })

const closedError = (): AppError => new AppError('storage-failed', { message: 'The storage is closed.' })
