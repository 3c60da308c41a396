import type { AppErrorOptions, AuditKeys, Conflict, StoredEvent, Write } from '@perdure/ports'
import type { ErrorCode } from '@perdure/protocol'
import type { Encryption } from '../encryption.ts'
import type { Synchronous } from '../synchronous.ts'
import type { WriteJob } from './commit-group.ts'

/** JSON text: to write and read it costs a fraction of a structured clone. */
export type Packed<T> = string & { readonly __packed?: T }

/** Of audit entries, which come many at once, the keys are the only bytes; they are the same for each. */
export function packJobs(jobs: readonly WriteJob[]): Packed<readonly WriteJob[]> {
  const holdKeys = jobs.some(({ request }) => request.some(holdsKeys))
  return JSON.stringify(holdKeys ? jobs.map((job) => ({ ...job, request: job.request.map(withKeysAsText) })) : jobs)
}

export function unpackJobs(packed: Packed<readonly WriteJob[]>): readonly WriteJob[] {
  const jobs = JSON.parse(packed) as readonly WriteJob[]
  for (const { request } of jobs) for (const write of request) if (holdsKeys(write)) restoreKeys(write)
  return jobs
}

export const packSettled = (settled: readonly SettledMessage[]): Packed<readonly SettledMessage[]> =>
  JSON.stringify(settled)

export const unpackSettled = (packed: Packed<readonly SettledMessage[]>): readonly SettledMessage[] =>
  JSON.parse(packed)

type Keyed = Extract<Write, { readonly keys?: AuditKeys | undefined }>

const holdsKeys = (write: Write): write is Keyed =>
  (write.type === 'audit.append' || write.type === 'audit.prune') && write.keys !== undefined

const withKeysAsText = (write: Write): object =>
  holdsKeys(write) ? { ...write, keys: write.keys?.map((key) => Buffer.from(key).toString('base64')) } : write

/** What stands for keys in the message becomes them; the same text becomes the same keys, so that they are made ready once. */
function restoreKeys(write: Keyed): void {
  const texts = write.keys as unknown as readonly string[]
  Object.assign(write, { keys: texts.map(keyOf) })
}

const keys = new Map<string, Uint8Array>()

function keyOf(text: string): Uint8Array {
  const key = keys.get(text) ?? new Uint8Array(Buffer.from(text, 'base64'))
  keys.set(text, key)
  return key
}

/** What the storage worker is told, in order. It answers each with one `WorkerAnswer`. */
export type WorkerRequest =
  | {
      readonly type: 'open'
      readonly path: string
      readonly synchronous: Synchronous | undefined
      readonly encryption: Encryption | undefined
    }
  | { readonly type: 'commit'; readonly jobs: Packed<readonly WriteJob[]> }
  /** Moves the log into the file. `truncate` also gives its space back, where no reader stands in the way. */
  | { readonly type: 'checkpoint'; readonly truncate: boolean }
  /** The last one. `isIntact`: the database may be marked as closed in order. */
  | { readonly type: 'close'; readonly isIntact: boolean }

export type WorkerAnswer =
  | { readonly type: 'done'; readonly settled: Packed<readonly SettledMessage[]>; readonly ms: number }
  | { readonly type: 'refused'; readonly error: ErrorMessage }

/**
 * The events of a commit stay where they came from; only their positions travel back. Where the storage has made events
 * itself, as for an audit entry that is published, all of them do.
 */
export type SettledMessage =
  | { readonly events: readonly StoredEvent[]; readonly counts: readonly number[] }
  | { readonly positions: readonly number[]; readonly counts: readonly number[] }
  | { readonly index: number; readonly conflict: Conflict }
  | { readonly error: ErrorMessage }

/** An error that can be cloned. */
export interface ErrorMessage extends Pick<AppErrorOptions, 'message' | 'hint'> {
  readonly id: ErrorCode
  readonly cause: string | undefined
}
