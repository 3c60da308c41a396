import {
  type EpochMs,
  type EventLog,
  fromJsonText,
  type RunRecord,
  type RunStatus,
  type RunUsage,
} from '@perdure/ports'
import { ENDED_RUN_STATUSES } from '@perdure/protocol'
import { type ModelRequest, type RequestPart, requestDifference } from '../../durable/model-request.ts'
import { readRecordedCalls } from '../../durable/recorded-calls.ts'
import { eachEvent } from '../../realtime/each-event.ts'
import { eachRun } from '../../runs/each-run.ts'
import { awaitsResume } from '../../runs/stored-suspension.ts'
import { withoutExecution } from './check-runs.ts'
import { type ReplayCallsDeps, type ReplayEnd, replayCalls } from './replay-calls.ts'

export interface ReplayRunsDeps extends ReplayCallsDeps {
  readonly events: EventLog
}

export interface ReplayFilter {
  /** Only runs created at this time or later. */
  readonly since?: EpochMs | undefined
  /** Only runs of this agent or workflow. */
  readonly targetId?: string | undefined
}

/**
 * `same`: the code makes the same calls and ends in the same way. Otherwise the first difference: a part of a request to a
 * model, the calls, the result, the error. `unknown`: the code did not end, or the run cannot be compared.
 */
export type ReplayCause = 'same' | RequestPart | 'calls' | 'result' | 'error' | 'unregistered' | 'unknown'

export interface ReplayedRun extends Pick<RunRecord, 'kind' | 'targetId' | 'usage'> {
  readonly runId: string
  readonly status: RunStatus
  readonly cause: ReplayCause
  /** Says what differs. */
  readonly detail?: string | undefined
  /** The number of the recorded call at which the request differs. */
  readonly seq?: number | undefined
  readonly usage: RunUsage
}

/**
 * Replays ended runs against the registered code, oldest first, with their recorded answers, results and decisions. Nothing
 * is written, no durable call executes, and no model is asked.
 */
export async function* replayRuns(deps: ReplayRunsDeps, filter: ReplayFilter): AsyncGenerator<ReplayedRun, void, void> {
  for await (const run of eachRun(deps.runs, { ...filter, statuses: ENDED_RUN_STATUSES })) {
    const { id: runId, kind, targetId, status, usage } = run
    yield { runId, kind, targetId, status, usage, ...(await compare(deps, run)) }
  }
}

type Verdict = Pick<ReplayedRun, 'cause' | 'detail' | 'seq'>

async function compare(deps: ReplayRunsDeps, run: RunRecord): Promise<Verdict> {
  const target = deps.targets.ofRun(run)
  if (target === undefined) return { cause: 'unregistered', detail: `${run.kind} ${run.targetId} is not registered` }
  if (awaitsResume(run)) return { cause: 'unknown', detail: 'the run was suspended as a whole' }
  const recorded = (await readRecordedCalls(deps, run.id)).map(withoutExecution)
  const requests = await readRequests(deps, run)
  let first: Verdict | undefined
  const onReplayed = (seq: number, found: ModelRequest) => {
    const known = requests.get(seq)
    const difference = known === undefined ? undefined : requestDifference(known, found)
    if (difference !== undefined) first ??= { cause: difference.part, detail: difference.detail, seq }
  }
  const end = await replayCalls(deps, run, { target, recorded, isEnded: true, onReplayed })
  return first ?? verdictOf(run, end)
}

const SAME: Verdict = { cause: 'same' }

function verdictOf(run: RunRecord, end: ReplayEnd): Verdict {
  if (end.kind === 'parks') return { cause: 'calls', detail: callsText(end.reason) }
  // An aborted run ended somewhere between its calls.
  if (run.status === 'aborted') return SAME
  if (end.kind === 'unknown')
    return { cause: 'unknown', detail: 'the code waits for something that is not a durable call' }
  if (end.kind === 'fails' || end.kind === 'threw') {
    const isSame = run.status === 'failed' && run.error?.message === end.message
    return isSame ? SAME : { cause: 'error', detail: end.message }
  }
  if (end.kind !== 'completed') {
    const made = end.kind === 'more' ? 'makes another call' : 'waits'
    return { cause: 'calls', detail: `behind the recorded calls, the code ${made}` }
  }
  if (run.status === 'failed')
    return { cause: 'result', detail: `the code completes; the run failed with ${run.error?.message}` }
  if (end.result === run.result) return SAME
  return { cause: 'result', detail: `${end.result.slice(0, 200)} instead of ${run.result?.slice(0, 200)}` }
}

type ParkReason = Extract<ReplayEnd, { readonly kind: 'parks' }>['reason']

function callsText(reason: ParkReason): string {
  if ('version' in reason) return `version ${reason.version} is not registered`
  const found = reason.found === null ? 'the code ends' : `the code calls ${reason.found}`
  return `call ${reason.seq} is recorded as ${reason.expected}, but ${found}`
}

/** What the models were asked, by the number of the call. */
async function readRequests({ events }: ReplayRunsDeps, { id }: RunRecord): Promise<ReadonlyMap<number, ModelRequest>> {
  const requests = new Map<number, ModelRequest>()
  const span = { stream: { runId: id }, through: Number.MAX_SAFE_INTEGER }
  for await (const { type, payload } of eachEvent(events, span, (event) => event)) {
    if (type !== 'step.start') continue
    const { seq, request } = fromJsonText(payload) as { readonly seq: number; readonly request?: ModelRequest }
    if (request !== undefined) requests.set(seq, request)
  }
  return requests
}
