import { perdureError, type Refusal, type Storage, storageBusy, type UnitOfWork } from '@perdure/ports'
import { createRandom } from './random.ts'

/**
 * How a storage call misbehaves. `busy`, `unavailable` and `full`: refused without effect. `late`: applied some event-loop turns
 * later. `answered-late`: applied at once, but resolved some turns later. `lost` and `unknown`: rejected with
 * `storage-failed`, so the caller cannot tell that a `lost` call was not applied and an `unknown` call was.
 */
export type Fault = 'busy' | 'unavailable' | 'full' | 'late' | 'answered-late' | 'lost' | 'unknown'

export interface StorageCall {
  readonly port: string // as in `Storage`: `unitOfWork`, `runs`, …
  readonly method: string
}

export interface FaultPlan {
  /** Returns the fault for a call; called once per call, in call order. */
  faultOf(call: StorageCall): Fault | undefined
  /** Called once, when the outcome of a commit is unknown or a read has failed permanently. */
  readonly onFatal?: (error: Refusal) => void
}

type Method = (...args: readonly unknown[]) => Promise<unknown>
type Port = Readonly<Record<string, Method>>

/**
 * Wraps a storage so that its calls fail like calls to a real storage. Commits are applied and resolved in call order.
 * After `lost` or `unknown`, the storage refuses all writes, whatever the plan says: the next process to open the
 * storage must read the data again. `close` and `tail` never fail.
 */
export function withFaults(storage: Storage, plan: FaultPlan): Storage {
  const life = { isBroken: false }

  const broken = (): Refusal => {
    const error = perdureError('storage-failed', { message: 'injected: the outcome is unknown' })
    if (!life.isBroken) plan.onFatal?.(error)
    life.isBroken = true
    return error
  }

  const call = async <T>(name: StorageCall, work: () => Promise<T>): Promise<T> => {
    const fault = plan.faultOf(name)
    if (fault === 'busy') throw storageBusy({ message: 'injected: busy', retryAfter: 1_000 })
    if (fault === 'unavailable') throw perdureError('storage-unavailable', { message: 'injected: unavailable' })
    if (fault === 'full') throw perdureError('storage-full', { message: 'injected: full' })
    if (fault === 'lost') throw broken()
    if (fault === 'late') await someTurns()
    const result = await work()
    if (fault === 'answered-late') await someTurns()
    if (fault === 'unknown') throw broken()
    return result
  }

  const wrap = (port: string, methods: Port): Port =>
    Object.fromEntries(
      Object.entries(methods).map(([method, fn]) => [method, (...args) => call({ port, method }, () => fn(...args))]),
    )

  let last: Promise<unknown> = Promise.resolve()
  const unitOfWork: UnitOfWork = {
    commit(writes) {
      const mine = last.then(() => {
        if (life.isBroken) throw broken()
        return call({ port: 'unitOfWork', method: 'commit' }, () => storage.unitOfWork.commit(writes))
      })
      last = mine.catch(() => undefined)
      return mine
    },
  }

  const ports = Object.entries(storage).flatMap(([port, methods]) =>
    typeof methods === 'object' && port !== 'tail' ? [[port, wrap(port, methods as Port)] as const] : [],
  )
  return {
    ...(Object.fromEntries(ports) as unknown as Omit<Storage, 'unitOfWork' | 'status' | 'close'>),
    tail: storage.tail,
    unitOfWork,
    status: () => call({ port: 'storage', method: 'status' }, () => storage.status()),
    async close() {
      await last
      await storage.close()
    },
  }
}

const TURNS = 3

async function someTurns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve))
}

export interface RandomFaults extends FaultPlan {
  /** Stops injecting faults. */
  stop(): void
  /** How often each fault was injected, by port and method. */
  readonly injected: ReadonlyMap<string, number>
}

export interface RandomFaultsOptions {
  readonly seed: number
  /** Share of calls that get a fault, from 0 to 1. */
  readonly share: number
  readonly faults: readonly Fault[]
  readonly onFatal?: (error: Refusal) => void
}

/** Injects the same faults for the same seed and the same calls. `full` affects only commits. */
export function createRandomFaults({ seed, share, faults, onFatal }: RandomFaultsOptions): RandomFaults {
  const random = createRandom(seed)
  const injected = new Map<string, number>()
  let isOver = false

  return {
    injected,
    ...(onFatal === undefined ? {} : { onFatal }),
    stop() {
      isOver = true
    },
    faultOf({ port, method }) {
      if (isOver || random() >= share) return undefined
      const possible = port === 'unitOfWork' ? faults : faults.filter((fault) => fault !== 'full')
      const fault = possible[Math.floor(random() * possible.length)]
      const name = `${fault} ${port}.${method}`
      injected.set(name, (injected.get(name) ?? 0) + 1)
      return fault
    },
  }
}
