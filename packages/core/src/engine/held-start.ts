import type { CommitOutcome, RunRecord, UnitOfWork, Write } from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'

/**
 * The start of a run whose code executes before the start is committed. The start is held until it is sealed, which
 * commits it alone, or until the run ends, which commits start and end together. Whichever comes first decides.
 */
export interface HeldStart {
  /** The commits of the execution. The first one seals the start, unless it ends the run. */
  readonly unitOfWork: UnitOfWork
  /** The outcome of the commit that stores the start. Rejects with the error of that commit. */
  readonly outcome: Promise<CommitOutcome>
  /** Whether the run is in the storage. */
  isStored(): boolean
  /** Commits the start, unless it is committed already. Resolves with whether the run is stored; never rejects. */
  seal(): Promise<boolean>
}

/** The answer to the commits of a run whose start was refused: the run does not exist. */
const NOT_STORED: CommitOutcome = { committed: false, index: 0, conflict: { type: 'run.fence' } }

export function holdStart(unitOfWork: UnitOfWork, start: readonly Write[]): HeldStart {
  const { promise: outcome, resolve, reject } = Promise.withResolvers<CommitOutcome>()
  let stored: Promise<CommitOutcome> | undefined
  let isStored = false

  const store = async (writes: readonly Write[]): Promise<CommitOutcome> => {
    try {
      const result = await unitOfWork.commit(writes)
      isStored = result.committed
      resolve(result)
      return result
    } catch (error) {
      reject(error)
      return NOT_STORED
    }
  }
  const seal = async () => {
    stored ??= store(start)
    return (await stored).committed
  }

  return {
    outcome,
    isStored: () => isStored,
    seal,
    unitOfWork: {
      async commit(writes) {
        const whole = stored === undefined ? wholeRun(start, writes) : undefined
        if (whole === undefined) return (await seal()) ? unitOfWork.commit(writes) : NOT_STORED
        stored = store(whole)
        return stored
      },
    },
  }
}

/** The writes that store a run which has ended, with the answer of its key; `undefined` unless `end` ends the run. */
function wholeRun(start: readonly Write[], end: readonly Write[]): readonly Write[] | undefined {
  const [transition] = end
  if (transition?.type !== 'run.transition' || transition.needsFollowUp === true) return undefined
  const { change } = transition
  if (change.status === undefined || !isTerminal(change.status)) return undefined
  const response = end.find((write) => write.type === 'idempotency.complete')?.response
  const stored = start
    .filter(({ type }) => type !== 'event.append')
    .map((write): Write => {
      if (write.type === 'idempotency.reserve') return { ...write, record: { ...write.record, response } }
      return write.type === 'run.insert' ? { ...write, run: ended(write.run, change) } : write
    })
  const more = end.filter(({ type }) => !JOINED.has(type))
  const events = [...start, ...end].flatMap((write) => (write.type === 'event.append' ? write.events : []))
  return [...stored, ...more, { type: 'event.append', events }]
}

const JOINED: ReadonlySet<Write['type']> = new Set(['run.transition', 'idempotency.complete', 'event.append'])

const ended = (run: RunRecord, change: Extract<Write, { readonly type: 'run.transition' }>['change']): RunRecord => ({
  ...run,
  ...change,
  executor: undefined,
})
