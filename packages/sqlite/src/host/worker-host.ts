import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { isRefusal, perdureError, type Refusal, type StoredEvent, type Write } from '@perdure/ports'
import { type Connection, keepOpen } from '../file/connection.ts'
import type { Encryption } from '../file/encryption.ts'
import { type Rescued, type RescueRequest, rescue } from '../file/rescue.ts'
import type { Synchronous } from '../file/synchronous.ts'
import type { JobResult, WriteJob } from './commit-group.ts'
import { createHost } from './create-host.ts'
import type { FileGuard } from './file-guard.ts'
import type { Host } from './host.ts'
import { createInlineCommits, maxInlineJobs } from './inline-commits.ts'
import type { Reserve } from './reserve.ts'
import {
  type ErrorMessage,
  type JobResultMessage,
  packJobs,
  unpackResults,
  type WorkerAnswer,
  type WorkerRequest,
} from './worker-message.ts'

interface WorkerReply {
  readonly results: readonly JobResultMessage[]
  /** How long the thread took. Milliseconds. */
  readonly ms: number
}

/** The thread that writes. Requests sent while it starts are queued. */
export interface StorageWorker {
  /** @throws PerdureError the error of the worker; `storage-failed` after the thread has ended */
  send(request: WorkerRequest): Promise<WorkerReply>
  /** Whether the worker has answered every request. */
  isIdle(): boolean
  /** Resolves when the thread has ended. The thread ends by itself after a `close` request. */
  readonly terminated: Promise<void>
  /** Ends the thread without finishing its requests. Resolves when the thread has ended. */
  terminate(): Promise<void>
}

export interface WorkerHostOptions {
  readonly path: string
  readonly synchronous: Synchronous | undefined
  readonly encryption?: Encryption | undefined
  /** A second connection to the file, for reads on the calling thread. */
  readonly readFrom: Connection
  /** Opens a third connection, for inline commits on the calling thread. */
  readonly openInline: () => Connection
  /** Assumed mean duration of a commit until commits are measured, in milliseconds. */
  readonly initialMeanMs?: number | undefined
  readonly reserve?: Reserve | undefined
  readonly guard?: FileGuard | undefined
  readonly onFilesLost?: ((error: Refusal) => void) | undefined
  readonly onFatal?: ((error: Refusal) => void) | undefined
  /** Called once the worker has closed the file. */
  readonly onClosed: () => void
}

/**
 * With two groups in flight, the worker already has the next group while a response travels back. A higher limit would
 * only make groups smaller.
 */
const MAX_GROUPS = 2

/**
 * V8 would let the garbage of the thread grow to about 100 MiB before it collects it. The objects of a commit are dead when
 * it ends, so that a collection costs little however often it runs.
 */
const MAX_YOUNG_MIB = 16

/**
 * Starts the thread. Call this before opening the file, so that the thread loads its modules meanwhile: both take about
 * as long.
 */
export function startStorageWorker(): StorageWorker {
  const isSource = import.meta.url.endsWith('.ts')
  const url = new URL(isSource ? './storage-worker.ts' : './storage-worker.cjs', import.meta.url)
  const worker = new Worker(url, {
    ...(isSource ? { execArgv: ['--conditions=perdure-source'] } : {}),
    resourceLimits: { maxYoungGenerationSizeMb: MAX_YOUNG_MIB },
  })
  const ended = Promise.withResolvers<void>()
  const pending: { resolve(reply: WorkerReply): void; reject(error: unknown): void }[] = []
  let fault: Refusal | undefined

  const fail = (cause?: unknown) => {
    fault ??= perdureError('storage-failed', { message: 'The storage worker exited.', cause })
    for (const { reject } of pending.splice(0)) reject(fault)
  }
  worker.on('message', (answer: WorkerAnswer) => {
    // Under `node --watch`, Node.js also sends the names of the files that the thread loads.
    if (!('type' in answer)) return
    const first = pending.shift()
    if (answer.type === 'done') first?.resolve({ results: unpackResults(answer.results), ms: answer.ms })
    else first?.reject(toError(answer.error))
  })
  worker.on('error', fail)
  worker.on('exit', () => {
    fail()
    ended.resolve()
  })

  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        if (fault !== undefined) return reject(fault)
        pending.push({ resolve, reject })
        worker.postMessage(request)
      }),
    isIdle: () => pending.length === 0,
    terminated: ended.promise,
    async terminate() {
      await worker.terminate()
      await ended.promise
    },
  }
}

/** Reads on the calling thread. Writes in the worker, except for commits that are faster inline. */
export function createWorkerHost(worker: StorageWorker, options: WorkerHostOptions): Host {
  const { path, synchronous, encryption, readFrom, openInline, initialMeanMs, onClosed } = options
  const inline = createInlineCommits({
    open: openInline,
    initialMeanMs,
    maxJobs: maxInlineJobs(availableParallelism()),
  })
  // No caller awaits this request: if the file cannot be opened, the worker rejects every commit.
  worker.send({ type: 'open', path, synchronous, encryption }).catch(() => undefined)

  const commitInWorker = async (jobs: readonly WriteJob[]): Promise<readonly JobResult[]> => {
    try {
      const plain = jobs.map(({ request }) => ({ request }))
      const { results, ms } = await worker.send({ type: 'commit', jobs: packJobs(plain) })
      inline.recordDuration(ms, jobs.length)
      return results.map((result, index) => toJobResult(result, jobs[index] as WriteJob))
    } catch (error) {
      return jobs.map(() => ({ error }))
    }
  }

  return createHost({
    commit: (jobs) => (worker.isIdle() ? inline.commit(jobs) : undefined) ?? commitInWorker(jobs),
    maxGroupsInFlight: MAX_GROUPS,
    readFrom,
    async close(isIntact) {
      readFrom.database.close()
      inline.close()
      await worker.send({ type: 'close', isIntact }).catch(() => undefined)
      await worker.terminated
      onClosed()
    },
    async abandon() {
      keepOpen(readFrom)
      inline.abandon()
      await worker.terminate()
      onClosed()
    },
    reserve: options.reserve,
    guard: options.guard,
    onFilesLost: options.onFilesLost,
    onFatal: options.onFatal,
  })
}

/** Saves the content in the worker, or on the calling thread if the worker has ended or cannot read the files. */
export const rescueThrough =
  (worker: StorageWorker, readFrom: Connection) =>
  async (request: RescueRequest): Promise<Rescued> => {
    try {
      const [message] = (await worker.send({ type: 'rescue', request })).results
      if (message !== undefined && 'rescued' in message) return message.rescued
    } catch (error) {
      if (!(isRefusal(error) && error.code === 'storage-failed')) throw error
    }
    return rescue(readFrom.database, request)
  }

function toJobResult(message: JobResultMessage, { request }: WriteJob): JobResult {
  if ('error' in message) return { error: toError(message.error) }
  if ('rescued' in message) throw new Error('the storage worker answered a commit with a rescue')
  if ('conflict' in message) return { result: { committed: false, index: message.index, conflict: message.conflict } }
  if ('events' in message) return { result: { committed: true, events: message.events, counts: message.counts } }
  return { result: { committed: true, events: withPositions(request, message), counts: message.counts } }
}

function withPositions(
  writes: readonly Write[],
  { positions, counts }: Extract<JobResultMessage, { readonly positions: unknown }>,
): readonly StoredEvent[] {
  const stored: StoredEvent[] = []
  for (const [index, write] of writes.entries()) {
    const hasAppended = write.type === 'event.append' || (write.type === 'run.emit' && counts[index] !== 0)
    if (!hasAppended) continue
    for (const event of write.events) stored.push({ ...event, position: positions[stored.length] as number })
  }
  return stored
}

const toError = ({ code, message, hint, cause }: ErrorMessage): Refusal =>
  perdureError(code, {
    ...(message === undefined ? {} : { message }),
    ...(hint === undefined ? {} : { hint }),
    cause: cause === undefined ? undefined : new Error(cause),
  })
