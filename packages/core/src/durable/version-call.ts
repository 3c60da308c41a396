import { fromJsonText, perdureError, type StepRecord, toJsonText, type Write } from '@perdure/ports'
import type { CallScope } from './call-scope.ts'
import { checkCall } from './check-call.ts'
import { completionEvents, stepEvent } from './step-events.ts'

/** The versions of a branch that the code supports, both included. */
export interface VersionRange {
  readonly min: number
  readonly max: number
}

/** `ctx.version`: the version of a branch that the run takes, the same for the whole life of the run. */
export type CallVersion = (name: string, range: VersionRange) => Promise<number>

/**
 * Creates `ctx.version` for one execution. A new run takes `max` and records it. A run that has already passed this
 * point without a record takes `min`, in every later execution too: more calls are recorded by then, and `ctx.suspend`
 * stores the name.
 */
export function createVersionCall(scope: CallScope): CallVersion {
  let chosen: Map<string, Promise<Choice>> | undefined

  return async (name, range) => {
    checkCall(scope, name)
    checkRange(name, range)
    chosen ??= new Map()
    const choice = chosen.get(name) ?? choose(scope, name, range)
    chosen.set(name, choice)
    const { seq, version } = await choice
    if (version >= range.min && version <= range.max) return version
    const found = `version ${name} ${range.min} to ${range.max}`
    return scope.ledger.diverge({ seq, expected: `version ${name} ${version}`, found })
  }
}

interface Choice {
  readonly seq: number
  readonly version: number
}

async function choose(scope: CallScope, name: string, { min, max }: VersionRange): Promise<Choice> {
  const { ledger } = scope
  const earlier = ledger.recordedVersion(name)
  if (earlier === undefined && (ledger.isReplaying() || ledger.passedVersions().includes(name))) {
    ledger.passVersion(name)
    return { seq: ledger.lastSeq(), version: min }
  }
  // A version that was recorded before `ctx.suspend` is not claimed again.
  if (earlier !== undefined && earlier.seq <= ledger.throughSeq) return choiceIn(earlier)
  const { seq, recorded } = await ledger.claim('version', name)
  return choiceIn(
    recorded === undefined ? await record(scope, { seq, name, version: max }) : await ledger.replay(recorded),
  )
}

const choiceIn = ({ seq, result }: StepRecord): Choice => ({
  seq,
  version: result === undefined ? 0 : (fromJsonText(result) as number),
})

function record(
  { run, clock, ledger, journal }: CallScope,
  { seq, name, version }: { readonly seq: number; readonly name: string; readonly version: number },
): Promise<StepRecord> {
  return ledger.busy(async () => {
    const at = clock.now()
    const call = { seq, kind: 'version', name } as const
    const step: StepRecord = { ...call, runId: run.id, status: 'started', attempt: run.attempt, startedAt: at }
    const result = toJsonText(version)
    const writes: readonly Write[] = [
      { type: 'step.insert', step },
      {
        type: 'step.change',
        ...{ runId: run.id, seq, from: 'started' },
        change: { status: 'completed', result, endedAt: at },
      },
    ]
    const events = [stepEvent(run, 'step.start', { step: call, at }), ...completionEvents(run, call, at)]
    await journal.record({ writes, events })
    return ledger.deliver({ ...step, status: 'completed', result })
  })
}

/** @throws PerdureError `validation-failed` */
function checkRange(name: string, { min, max }: VersionRange): void {
  if (Number.isSafeInteger(min) && Number.isSafeInteger(max) && min <= max) return
  throw perdureError('validation-failed', {
    message: `ctx.version(${JSON.stringify(name)}, min, max): min and max must be integers, and min must not be above max`,
  })
}
