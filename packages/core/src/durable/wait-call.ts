import { type EpochMs, fromJsonText, type NewEvent, type StepRecord, type Write } from '@perdure/ports'
import type { Duration } from '@perdure/protocol'
import { toolCallWait, waitingToolCallId } from '../runs/tool-call-wait.ts'
import type { ApprovalDecision, ApprovalOptions } from './approval-options.ts'
import { type ApprovalAsk, approvalRequest } from './approval-request.ts'
import { checkName, instantAfter, instantOf } from './call-arguments.ts'
import type { CallScope } from './call-scope.ts'
import { checkApprovalOptions } from './check-approval-options.ts'
import { checkCall } from './check-call.ts'
import { checkMembers } from './check-options.ts'
import { checkEventName } from './event-name.ts'
import type { Entry } from './journal.ts'
import { stepEvent } from './step-events.ts'

type WaitKind = Exclude<StepRecord['kind'], 'step' | 'version'>
type WaitDetail = Pick<StepRecord, 'dueAt' | 'eventName' | 'approvalId' | 'childRunId'>

/** The writes and events of a wait besides its own record. */
interface Waiting extends Entry {
  readonly detail: WaitDetail
  /** Events of the agent. They precede the record, so that a new attempt, which does not repeat them, keeps them. */
  readonly said?: readonly NewEvent[]
  /** Called once the wait is durable. */
  readonly onRecorded?: () => void
}

/** Waits until something outside resolves the call. The run is suspended when all of its code waits. */
export async function callWait(
  scope: CallScope,
  call: { readonly kind: WaitKind; readonly name: string },
  begin: (seq: number) => Waiting,
): Promise<StepRecord> {
  const { ledger, run, journal, clock, onDue } = scope
  const { kind, name } = call
  checkCall(scope, name)
  const { seq, recorded } = await ledger.claim(kind, name)
  if (recorded?.status === 'waiting') return ledger.wait(seq)
  if (recorded !== undefined) return ledger.replay(recorded)

  const { detail, writes = [], said = [], events = [], onRecorded } = begin(seq)
  const startedAt = clock.now()
  const step: StepRecord = {
    runId: run.id,
    seq,
    kind,
    name,
    status: 'waiting',
    attempt: run.attempt,
    startedAt,
    ...detail,
  }
  const insert: Write = { type: 'step.insert', step }
  const started = stepEvent(run, 'step.start', { step, at: startedAt, detail: { dueAt: isoOf(step.dueAt) } })
  await ledger.busy(() => journal.record({ writes: [insert, ...writes], events: [...said, started, ...events] }))
  onRecorded?.()
  if (step.dueAt !== undefined) onDue(step.dueAt)
  return ledger.wait(seq)
}

const isoOf = (at: EpochMs | undefined) => (at === undefined ? undefined : new Date(at).toISOString())

/** `ctx.sleep`: until a date, or for a duration. */
export async function callSleep(scope: CallScope, name: string, until: Duration | Date): Promise<void> {
  checkName(name)
  const dueAt = instantOf(scope.clock.now(), until)
  scope.requireTimers()
  await callWait(scope, { kind: 'sleep', name }, () => ({ detail: { dueAt } }))
}

export interface WaitOptions {
  /** Without it, the run waits for any time. */
  readonly timeout?: Duration
}

/** `ctx.waitForEvent`: the payload of the next event with that name, `null` after the timeout. */
export async function callWaitForEvent(scope: CallScope, name: string, options: WaitOptions): Promise<unknown> {
  checkEventName(name)
  checkMembers('ctx.waitForEvent', options, ['timeout'])
  const { timeout } = options
  const dueAt = timeout === undefined ? undefined : instantAfter(scope.clock.now(), timeout)
  if (dueAt !== undefined) scope.requireTimers()
  const ended = await callWait(scope, { kind: 'event', name }, () => ({ detail: { eventName: name, dueAt } }))
  return ended.result === undefined ? null : fromJsonText(ended.result)
}

/** `ctx.approval`: the decision of a person; `approved` is false without a decision in time. */
export async function callApproval(
  scope: CallScope,
  name: string,
  options: ApprovalOptions,
): Promise<ApprovalDecision> {
  checkApprovalOptions(options)
  return decisionIn(await waitForDecision(scope, name, options))
}

/**
 * Asks for the approval of a tool call. A call without an id of its own gets one from the number of this wait, which no
 * other call has. The id is recorded, because older versions gave such a call another one.
 */
export async function callToolApproval(
  scope: CallScope,
  name: string,
  options: ApprovalOptions & Pick<ApprovalAsk, 'toolCallId' | 'args'>,
): Promise<{ readonly decision: ApprovalDecision; readonly toolCallId: string | undefined }> {
  const { toolCallId: own } = options
  checkApprovalOptions(options, ['toolCallId', 'args'])
  const ended = await waitForDecision(scope, name, options, (seq) => own ?? `${scope.run.id}.${seq}`)
  return { decision: decisionIn(ended), toolCallId: own ?? waitingToolCallId(ended) }
}

function waitForDecision(
  scope: CallScope,
  name: string,
  options: Omit<ApprovalAsk, 'name' | 'seq'>,
  toolCallIdAt?: (seq: number) => string,
): Promise<StepRecord> {
  if (options.timeout !== undefined) scope.requireTimers()
  return callWait(scope, { kind: 'approval', name }, (seq) => {
    const toolCallId = toolCallIdAt?.(seq)
    const ofCall = toolCallId === undefined ? {} : { toolCallId }
    const { approval, events } = approvalRequest(scope, { ...options, name, seq, ...ofCall })
    const eventName = toolCallId === undefined ? undefined : toolCallWait(toolCallId)
    return {
      detail: { approvalId: approval.id, dueAt: approval.expiresAt, eventName },
      writes: [{ type: 'approval.insert', approval }],
      events,
    }
  })
}

const decisionIn = ({ result }: StepRecord): ApprovalDecision =>
  (result === undefined ? { approved: false } : fromJsonText(result)) as ApprovalDecision
