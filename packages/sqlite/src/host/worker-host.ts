import { Worker } from 'node:worker_threads'
import { AppError, type StoredEvent, type Write } from '@perdure/ports'
import type { Connection } from '../connection.ts'
import type { Encryption } from '../encryption.ts'
import type { Synchronous } from '../synchronous.ts'
import type { Settled, WriteJob } from './commit-group.ts'
import { createHost } from './create-host.ts'
import type { Host } from './host.ts'
import { createInlineCommits } from './inline-commits.ts'
import type { Reserve } from './reserve.ts'
import {
  type ErrorMessage,
  packJobs,
  type SettledMessage,
  unpackSettled,
  type WorkerAnswer,
  type WorkerRequest,
} from './worker-message.ts'

interface WorkerReply {
  readonly settled: readonly SettledMessage[]
  /** What it took the thread. Milliseconds. */
  readonly ms: number
}

/** A thread that is starting. */
export interface StorageWorker {
  /** @throws AppError what the worker refuses; `storage-failed` when it is gone */
  ask(request: WorkerRequest): Promise<WorkerReply>
  /** Whether it has answered all that it was asked. */
  isIdle(): boolean
  /** Resolves when the thread has ended, as it does by itself after `close`. */
  readonly ended: Promise<void>
  /** Ends it in the middle of what it does, and resolves when it has ended. */
  end(): Promise<void>
}

export interface WorkerHostOptions {
  readonly path: string
  readonly synchronous: Synchronous | undefined
  readonly encryption?: Encryption | undefined
  /** Reads run here, on the calling thread; another connection to the file that the worker writes to. */
  readonly readFrom: Connection
  /** Opens another one, to write with on the calling thread. */
  readonly openInline: () => Connection
  /** What a commit is taken to last before any was seen. Milliseconds. */
  readonly expectedMs?: number | undefined
  readonly reserve?: Reserve | undefined
  readonly onFatal?: ((error: AppError) => void) | undefined
  /** Called when the worker has closed the file. */
  readonly onClosed: () => void
}

/**
 * Two, so that the worker finds the next group while the answer of the last one travels; more only makes smaller groups.
 */
const MAX_GROUPS = 2

/** Starts the thread; loading its modules takes as long as opening the file, so start it first. */
export function startStorageWorker(): StorageWorker {
  const isSource = import.meta.url.endsWith('.ts')
  const url = new URL(isSource ? './storage-worker.ts' : './storage-worker.cjs', import.meta.url)
  const worker = new Worker(url, isSource ? { execArgv: ['--conditions=perdure-source'] } : {})
  const ended = Promise.withResolvers<void>()
  const asked: { resolve(reply: WorkerReply): void; reject(error: unknown): void }[] = []
  let fault: AppError | undefined

  const fail = (cause?: unknown) => {
    fault ??= new AppError('storage-failed', { message: 'The storage worker has ended.', cause })
    for (const { reject } of asked.splice(0)) reject(fault)
  }
  worker.on('message', (answer: WorkerAnswer) => {
    const first = asked.shift()
    if (answer.type === 'done') first?.resolve({ settled: unpackSettled(answer.settled), ms: answer.ms })
    else first?.reject(toError(answer.error))
  })
  worker.on('error', fail)
  worker.on('exit', () => {
    fail()
    ended.resolve()
  })

  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        if (fault !== undefined) return reject(fault)
        asked.push({ resolve, reject })
        worker.postMessage(request)
      }),
    isIdle: () => asked.length === 0,
    ended: ended.promise,
    async end() {
      await worker.terminate()
      await ended.promise
    },
  }
}

/** Reads on the calling thread, and writes in the worker all that is not faster on the calling thread too. */
export function createWorkerHost(worker: StorageWorker, options: WorkerHostOptions): Host {
  const { path, synchronous, encryption, readFrom, openInline, expectedMs, reserve, onFatal, onClosed } = options
  const inline = createInlineCommits({ open: openInline, expectedMs })
  // Nobody waits for it: without a database the worker refuses every commit.
  worker.ask({ type: 'open', path, synchronous, encryption }).catch(() => undefined)

  const commitInWorker = async (jobs: readonly WriteJob[]): Promise<readonly Settled[]> => {
    try {
      const plain = jobs.map(({ name, request }) => ({ name, request }))
      const { settled, ms } = await worker.ask({ type: 'commit', jobs: packJobs(plain) })
      inline.note(ms)
      return settled.map((one, index) => toSettled(one, jobs[index] as WriteJob))
    } catch (error) {
      return jobs.map(() => ({ error }))
    }
  }

  return createHost({
    commit: (jobs) => (worker.isIdle() ? inline.commit(jobs) : undefined) ?? commitInWorker(jobs),
    maxGroups: MAX_GROUPS,
    readFrom,
    async close(isIntact) {
      readFrom.database.close()
      inline.close()
      await worker.ask({ type: 'close', isIntact }).catch(() => undefined)
      await worker.ended
      onClosed()
    },
    reserve,
    onFatal,
  })
}

function toSettled(message: SettledMessage, { request }: WriteJob): Settled {
  if ('error' in message) return { error: toError(message.error) }
  if ('conflict' in message) return { result: { committed: false, index: message.index, conflict: message.conflict } }
  if ('events' in message) return { result: { committed: true, events: message.events, counts: message.counts } }
  return { result: { committed: true, events: withPositions(request, message.positions), counts: message.counts } }
}

function withPositions(writes: readonly Write[], positions: readonly number[]): readonly StoredEvent[] {
  const stored: StoredEvent[] = []
  for (const write of writes) {
    if (write.type !== 'event.append') continue
    for (const event of write.events) stored.push({ ...event, position: positions[stored.length] as number })
  }
  return stored
}

const toError = ({ id, message, hint, cause }: ErrorMessage): AppError =>
  new AppError(id, {
    ...(message === undefined ? {} : { message }),
    ...(hint === undefined ? {} : { hint }),
    cause: cause === undefined ? undefined : new Error(cause),
  })
