import type { NewEvent, RunRecord, StepChange, StepRecord, Storage, Write } from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'

/** The kinds of commits at which a test can aim a crash. */
export type CommitKind =
  | 'start'
  | 'whole'
  | 'fork'
  | 'retry'
  | 'park'
  | 'continue'
  | 'version'
  | 'decision'
  | 'suspend'
  | 'wake'
  | 'end'
  | 'call'
  | 'other'

const KINDS: readonly (readonly [CommitKind, (write: Write) => boolean])[] = [
  ['fork', (write) => write.type === 'run.insert' && write.run.forkOf !== undefined],
  ['whole', (write) => write.type === 'run.insert' && isTerminal(write.run.status)],
  ['start', (write) => write.type === 'run.insert'],
  ['retry', (write) => write.type === 'run.transition' && write.change.retries !== undefined],
  ['park', (write) => write.type === 'run.transition' && isReason(write.change.parked)],
  ['continue', (write) => write.type === 'run.transition' && write.change.parked === 'null'],
  ['version', (write) => write.type === 'step.insert' && write.step.kind === 'version'],
  ['decision', (write) => write.type === 'approval.resolve'],
  ['suspend', (write) => write.type === 'run.transition' && write.change.status === 'suspended'],
  ['wake', (write) => write.type === 'run.transition' && write.change.status === 'queued'],
  ['end', (write) => write.type === 'run.transition' && write.change.completedAt !== undefined],
  ['call', (write) => write.type === 'step.insert' || write.type === 'step.copy' || write.type === 'step.change'],
]

const isReason = (parked: string | undefined) => parked !== undefined && parked !== 'null'

export const kindOf = (writes: readonly Write[]): CommitKind =>
  KINDS.find(([, matches]) => writes.some(matches))?.[0] ?? 'other'

/** The effects of the commits so far, derived from their writes alone. */
export interface Witness {
  /** The version that each run was created with. */
  readonly versions: Map<string, string | undefined>
  /** The calls of all runs, by effect id. */
  readonly calls: Map<string, StepRecord>
  /** The events of each run, in the order of their commits. */
  readonly events: Map<string, string[]>
  /** How often a call was interrupted by the failure of its run or started again after its own, by effect id. */
  readonly restarts: Map<string, number>
  /** Steps that still executed when their run failed and was queued again: their code may have an effect later. */
  readonly interrupted: Set<string>
  /** Calls that a fork copied with their outcome. */
  readonly copied: Map<string, StepRecord>
  /** Copied calls whose outcome differs from that of their source. */
  readonly replaced: Map<string, StepRecord>
  /** The effect id of the call with which a run has recorded its version. */
  readonly versioned: Map<string, string>
  readonly kinds: Set<CommitKind>
  /** Writes that must not have happened. */
  readonly offences: string[]
}

export const createWitness = (): Witness => ({
  ...{
    versions: new Map(),
    calls: new Map(),
    events: new Map(),
    restarts: new Map(),
    copied: new Map(),
    replaced: new Map(),
  },
  ...{ versioned: new Map(), interrupted: new Set(), kinds: new Set(), offences: [] },
})

/** The storage, with a witness of what is committed. */
export const withWitness = (storage: Storage, witness: Witness): Storage => ({
  ...storage,
  unitOfWork: {
    async commit(writes) {
      const outcome = await storage.unitOfWork.commit(writes)
      if (outcome.committed)
        note(
          witness,
          writes.filter((write, index) => !isRefused(write, outcome.counts[index])),
        )
      return outcome
    },
  },
})

/** The events of a run that no longer executes are not stored, and do not undo the commit. */
const isRefused = ({ type }: Write, count: number | undefined): boolean => type === 'run.emit' && count === 0

function note(witness: Witness, writes: readonly Write[]): void {
  witness.kinds.add(kindOf(writes))
  const fork = writes.find((write) => write.type === 'run.insert' && write.run.forkOf !== undefined)
  if (fork?.type === 'run.insert') noteFork(witness, fork.run, writes)
  for (const write of writes) noteWrite(witness, write)
}

function noteCall({ versioned, calls }: Witness, step: StepRecord): void {
  if (step.kind === 'version') versioned.set(step.runId, idempotencyKeyOf(step))
  calls.set(idempotencyKeyOf(step), step)
}

function noteWrite(witness: Witness, write: Write): void {
  switch (write.type) {
    case 'run.insert':
      witness.versions.set(write.run.id, write.run.version)
      break
    case 'step.insert':
      noteCall(witness, write.step)
      break
    case 'step.copy':
      for (const step of copiesOf(witness, write)) noteCall(witness, step)
      break
    case 'step.change':
      noteChange(witness, write)
      break
    case 'run.transition':
      if (write.change.retries !== undefined) noteRetry(witness, write.runId)
      break
    case 'event.append':
    case 'run.emit':
      for (const event of write.events) noteEvent(witness, event)
  }
}

function noteEvent({ events }: Witness, { runId, type, payload }: NewEvent): void {
  if (runId === undefined) return
  const own = events.get(runId) ?? []
  events.set(runId, own)
  own.push(`${type} ${payload}`)
}

const idempotencyKeyOf = ({ runId, seq }: Pick<StepRecord, 'runId' | 'seq'>) => `${runId}.${seq}`

const count = (counts: Map<string, number>, id: string) => counts.set(id, (counts.get(id) ?? 0) + 1)

function noteChange(
  { calls, restarts, offences }: Witness,
  { runId, seq, from, change }: { runId: string; seq: number; from: string; change: StepChange },
): void {
  const id = idempotencyKeyOf({ runId, seq })
  const call = calls.get(id)
  if (call === undefined) return
  if (from === 'completed') offences.push(`${id} is changed after its completion`)
  if (from === 'failed') count(restarts, id)
  calls.set(id, { ...call, ...change })
}

/** A step that other branches still execute is interrupted when the run is queued again. */
function noteRetry({ calls, restarts, interrupted }: Witness, runId: string): void {
  for (const [id, call] of calls) {
    if (call.runId !== runId || call.status !== 'started') continue
    count(restarts, id)
    interrupted.add(id)
  }
}

const isEnded = ({ status, error }: StepRecord) =>
  status === 'completed' || (status === 'failed' && error?.code !== 'run-not-active')

/** A fork copies every outcome before its point, none that its source does not have, and changes nothing else. */
function noteFork(witness: Witness, { id: runId, forkOf, usage }: RunRecord, writes: readonly Write[]): void {
  if (forkOf === undefined) return
  const source = [...witness.calls.values()].filter((call) => call.runId === forkOf.runId)
  const own = writes.flatMap((write) =>
    write.type === 'step.copy' && write.runId === runId
      ? copiesOf(witness, write)
      : write.type === 'step.insert' && write.step.runId === runId
        ? [write.step]
        : [],
  )
  const isUsed = Object.values(usage).some((used) => used !== 0)
  witness.offences.push(
    ...source.flatMap((call) => lossOf(call, own, forkOf.seq)),
    ...(isUsed ? [`${runId} begins with the usage ${JSON.stringify(usage)}`] : []),
    ...writes.flatMap((write) => trespass(write, forkOf.runId)),
  )
  for (const copy of own) noteCopy(witness, copy, source)
}

/** The calls that the storage copies. */
function copiesOf({ calls }: Witness, write: Extract<Write, { readonly type: 'step.copy' }>): readonly StepRecord[] {
  const { runId, attempt, source } = write
  const ofSource = [...calls.values()].filter((call) => call.runId === source)
  return write.calls.flatMap(({ seq, endOrder }) => {
    const call = ofSource.find((one) => one.seq === seq)
    if (call === undefined) return []
    const { usage: _, ...step } = call
    return [{ ...step, runId, attempt, endOrder }]
  })
}

/** Names the call if its copy is missing or differs. */
function lossOf(call: StepRecord, own: readonly StepRecord[], throughSeq: number): readonly string[] {
  const copy = own.find(({ seq }) => seq === call.seq)
  const name = `call ${idempotencyKeyOf(call)}`
  const isLost = isEnded(call) && call.seq <= throughSeq && copy?.status !== 'completed' && copy?.status !== call.status
  const isOther = copy !== undefined && (copy.name !== call.name || copy.kind !== call.kind)
  return [
    ...(isLost ? [`${name} is ${call.status}, and ${copy?.status} in a fork`] : []),
    ...(isOther ? [`${name} is another in a fork`] : []),
  ]
}

function noteCopy({ copied, replaced, offences }: Witness, copy: StepRecord, source: readonly StepRecord[]): void {
  if (copy.status === 'waiting' || copy.status === 'started') return
  const id = idempotencyKeyOf(copy)
  const call = source.find(({ seq }) => seq === copy.seq)
  if (call === undefined || !isEnded(call)) offences.push(`${id} has an outcome that its source does not have`)
  if (copy.usage !== undefined) offences.push(`${id} has the usage of its source`)
  if (copy.childRunId !== call?.childRunId || copy.approvalId !== call?.approvalId)
    offences.push(`${id} hides whose outcome it copies`)
  copied.set(id, copy)
  if (call?.result !== copy.result || call?.status !== copy.status) replaced.set(id, copy)
}

/** Whether the write changes the source. */
function trespass(write: Write, sourceId: string): readonly string[] {
  const isOf =
    ('runId' in write && write.runId === sourceId && !changesNothing(write)) ||
    (write.type === 'step.insert' && write.step.runId === sourceId) ||
    (write.type === 'event.append' && write.events.some(({ runId }) => runId === sourceId))
  return isOf ? [`a fork of ${sourceId} writes ${JSON.stringify(write)}`] : []
}

/** The code of a source that was aborted may still hold its slot: an interrupt then finds a run that has ended. */
const changesNothing = (write: Write): boolean =>
  write.type === 'run.interrupt' || (write.type === 'run.transition' && Object.keys(write.change).length === 0)
