import type { StepKind } from '@perdure/ports'
import { type JsonText, perdureError, type RunRecord, type StepRecord, toJsonText } from '@perdure/ports'
import { isLongerThan } from '../../json/json-members.ts'
import { readSuspension, type StoredSuspension } from '../../runs/stored-suspension.ts'

/** Where a fork leaves the run that it repeats. */
export type ForkPoint = 'failure' | 'start' | { readonly seq: number }

/** JSON values that replace the results of copied calls, by sequence number. */
export type ForkResults = Readonly<Record<string, unknown>>

/** The calls of its source that a fork copies or repeats. */
export interface ForkedCalls {
  /** The last call before the point; 0 for the start. */
  readonly seq: number
  /** Calls that had ended, in the order in which they had; their outcomes are copied. */
  readonly settled: readonly StepRecord[]
  /** Calls that still waited, and children that ended because the budget of the run or of an ancestor was used up. */
  readonly waiting: readonly StepRecord[]
  /**
   * Calls that the code makes again: approvals that were not decided or whose decision is not copied, and steps before the
   * last copied call that had begun and did not end, or that ended the run.
   */
  readonly open: readonly StepRecord[]
  /** The suspension of the whole run, if the point lies behind it. */
  readonly suspension: StoredSuspension | undefined
}

/**
 * Selects the calls that a fork copies: the calls before the point. If the point is a failure, the fork also copies the
 * calls that parallel branches had made before the call that ended the run failed.
 *
 * @param again the numbers of approvals whose decision is not copied
 * @throws PerdureError `validation-failed` for a point behind the last call
 */
export function selectCalls(
  source: RunRecord,
  recorded: readonly StepRecord[],
  from: ForkPoint,
  again: ReadonlySet<number> = new Set(),
): ForkedCalls {
  const failed = from === 'failure' ? recorded.find(({ seq }) => seq === source.error?.step?.seq) : undefined
  const through = failed === undefined ? lastSeqOf(recorded, from) : failed.seq - 1
  const parallel = failed === undefined ? undefined : recorded.findLast((call) => isConcurrent(call, failed))
  const calls = recorded.filter(({ seq }) => seq <= Math.max(through, parallel?.seq ?? 0))
  const open = calls.filter((call) => call === failed || !isSettled(call) || again.has(call.seq))
  const settled = calls.filter((call) => !open.includes(call))
  const lastCopied = calls.findLast((call) => !open.includes(call) || isWait(call))?.seq ?? 0
  const suspension = readSuspension(source)
  return {
    seq: through,
    settled: settled.toSorted((one, other) => (one.endOrder ?? 0) - (other.endOrder ?? 0)),
    waiting: open.filter((call) => isWait(call) && call.kind !== 'approval'),
    open: open.filter((call) => call.kind === 'approval' || (!isWait(call) && call.seq < lastCopied)),
    suspension: from !== 'start' && (suspension?.throughSeq ?? 0) <= through ? suspension : undefined,
  }
}

function lastSeqOf(recorded: readonly StepRecord[], from: ForkPoint): number {
  const last = recorded.at(-1)?.seq ?? 0
  if (from === 'failure') return last
  const through = from === 'start' ? 0 : from.seq - 1
  if (through <= last) return through
  throw perdureError('validation-failed', {
    message: `from.seq is ${through + 1}, but the last call of the run has the number ${last}`,
    hint: `choose a number from 1 to ${last + 1}`,
  })
}

/** Whether a call with a higher number was made before the failed call had failed, so by a parallel branch. */
function isConcurrent(call: StepRecord, failed: StepRecord): boolean {
  if (call.seq <= failed.seq || failed.endOrder === undefined) return false
  const hadEnded = call.endOrder !== undefined && call.endOrder < failed.endOrder
  return hadEnded || call.startedAt < (failed.endedAt ?? 0)
}

/**
 * Waits that were still open when their run ended are recorded as failed with `run-not-active`. A used-up budget ended
 * the child and its parent; the fork has a budget of its own.
 */
const isSettled = ({ status, error }: StepRecord): boolean =>
  status === 'completed' || (status === 'failed' && error?.code !== 'run-not-active' && error?.budgetOf === undefined)

const isWait = ({ kind }: StepRecord): boolean => kind !== 'step'

/**
 * The outcomes to copy, without their results, and the given results in place of recorded ones.
 *
 * @throws PerdureError `validation-failed` for a result of a call that is not copied, one that is too long, or one that
 *   comes from outside: only the operation that brings it checks who may
 */
export function withResults(
  settled: readonly StepRecord[],
  results: ForkResults,
  maxResultBytes: number,
): readonly StepRecord[] {
  const unknown = Object.keys(results).find((seq) => !settled.some((call) => String(call.seq) === seq))
  if (unknown !== undefined) {
    throw perdureError('validation-failed', {
      message: `results.${unknown} names no call that is copied`,
      hint: `copied calls: ${settled.map(({ seq }) => seq).join(', ') || 'none'}`,
    })
  }
  const foreign = settled.find(({ kind, seq }) => !isMadeByCode(kind) && Object.hasOwn(results, String(seq)))
  if (foreign !== undefined) {
    const { seq, kind, name } = foreign
    throw perdureError('validation-failed', {
      message: `results.${seq} would replace the outcome of the ${kind} ${name}, which comes from ${OUTCOME_SOURCES[kind]}`,
      hint: `fork from { "seq": ${seq} }: the new run waits for an outcome of its own`,
    })
  }
  return settled.map((call) => {
    const given = results[String(call.seq)]
    if (given === undefined) return call
    return {
      ...call,
      status: 'completed',
      resultFile: undefined,
      result: textOf(call.seq, given, maxResultBytes),
      error: undefined,
    }
  })
}

function textOf(seq: number, value: unknown, maxResultBytes: number): JsonText {
  const text = toJsonText(value)
  if (!isLongerThan(text, maxResultBytes)) return text
  throw perdureError('validation-failed', {
    message: `results.${seq} is longer than ${maxResultBytes} bytes`,
    hint: 'raise runs.maxResultBytes',
  })
}

/** The origin of the outcome of each kind of call. A fork can replace only an outcome that the code of the run has made. */
const OUTCOME_SOURCES = {
  step: 'the code',
  version: 'the code',
  sleep: 'a timer',
  event: 'the sender of an event',
  approval: 'a person',
  child: 'a child run',
  'client-tool': 'the client',
} as const satisfies Record<StepKind, string>

const isMadeByCode = (kind: StepKind): boolean => OUTCOME_SOURCES[kind] === 'the code'
