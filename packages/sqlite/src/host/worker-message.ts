import type { AuditKeys, Conflict, RefusalOptions, StoredEvent, Write } from '@perdure/ports'
import type { ErrorCode } from '@perdure/protocol'
import type { Encryption } from '../file/encryption.ts'
import type { Rescued, RescueRequest } from '../file/rescue.ts'
import type { Synchronous } from '../file/synchronous.ts'
import type { WriteJob } from './commit-group.ts'

/** JSON text: serializing and parsing it costs a fraction of a structured clone. */
export type Packed<T> = string & { readonly __packed?: T }

/** The audit keys are the only binary data in a job; they are encoded as base64. */
export function packJobs(jobs: readonly WriteJob[]): Packed<readonly WriteJob[]> {
  const hasKeys = jobs.some(({ request }) => request.some(holdsKeys))
  return JSON.stringify(hasKeys ? jobs.map((job) => ({ ...job, request: job.request.map(withKeysAsText) })) : jobs)
}

/** The unpacker returns one array for equal keys, so that the HMAC key object cached for that array is reused. */
export function createJobUnpacker(): (packed: Packed<readonly WriteJob[]>) => readonly WriteJob[] {
  const keys = new Map<string, Uint8Array>()

  const keyOf = (text: string): Uint8Array => {
    const key = keys.get(text) ?? new Uint8Array(Buffer.from(text, 'base64'))
    keys.set(text, key)
    return key
  }

  const restoreKeys = (write: Keyed): void => {
    const texts = write.keys as unknown as readonly string[]
    Object.assign(write, { keys: texts.map(keyOf) })
  }

  return (packed) => {
    const jobs = JSON.parse(packed) as readonly WriteJob[]
    for (const { request } of jobs) for (const write of request) if (holdsKeys(write)) restoreKeys(write)
    return jobs
  }
}

export const packResults = (results: readonly JobResultMessage[]): Packed<readonly JobResultMessage[]> =>
  JSON.stringify(results)

export const unpackResults = (packed: Packed<readonly JobResultMessage[]>): readonly JobResultMessage[] =>
  JSON.parse(packed)

type Keyed = Extract<Write, { readonly keys?: AuditKeys | undefined }>

const holdsKeys = (write: Write): write is Keyed =>
  (write.type === 'audit.append' || write.type === 'audit.prune') && write.keys !== undefined

const withKeysAsText = (write: Write): object =>
  holdsKeys(write) ? { ...write, keys: write.keys?.map((key) => Buffer.from(key).toString('base64')) } : write

/** Requests to the storage worker. It handles them in order and answers each with one `WorkerAnswer`. */
export type WorkerRequest =
  | {
      readonly type: 'open'
      readonly path: string
      readonly synchronous: Synchronous | undefined
      readonly encryption: Encryption | undefined
    }
  | { readonly type: 'commit'; readonly jobs: Packed<readonly WriteJob[]> }
  /** Runs a WAL checkpoint. `truncate` also truncates the WAL, unless a reader prevents it. */
  | { readonly type: 'checkpoint'; readonly truncate: boolean }
  /** Stores the count of a commit mark. */
  | { readonly type: 'mark'; readonly count: number }
  /** Saves the content after files were lost. Answered with one `rescued` message. */
  | { readonly type: 'rescue'; readonly request: RescueRequest }
  /** The last request. `isIntact`: the worker may mark the database as cleanly shut down. */
  | { readonly type: 'close'; readonly isIntact: boolean }

export type WorkerAnswer =
  | { readonly type: 'done'; readonly results: Packed<readonly JobResultMessage[]>; readonly ms: number }
  | { readonly type: 'refused'; readonly error: ErrorMessage }

/**
 * The caller still has the events it committed, so only their positions are sent back. When the storage created events
 * itself, as for a published audit entry, all events are sent back.
 */
export type JobResultMessage =
  | { readonly events: readonly StoredEvent[]; readonly counts: readonly number[] }
  | { readonly rescued: Rescued }
  | { readonly positions: readonly number[]; readonly counts: readonly number[] }
  | { readonly index: number; readonly conflict: Conflict }
  | { readonly error: ErrorMessage }

/** An error that can be cloned. */
export interface ErrorMessage extends Pick<RefusalOptions, 'message' | 'hint'> {
  readonly code: ErrorCode
  readonly cause: string | undefined
}
