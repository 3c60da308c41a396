import { type EpochMs, fromJsonText, type NewEvent, type StepChange, type StepRecord, type Write } from '@perdure/ports'
import type { Duration } from '@perdure/protocol'
import { BUDGET_CALL } from '../runs/budget-error.ts'
import { toolCallWait, waitingToolCallId } from '../runs/tool-call-wait.ts'
import type { ApprovalDecision, ApprovalOptions } from './approvals/approval-options.ts'
import { type ApprovalAsk, approvalRequest } from './approvals/approval-request.ts'
import { askedHashOf } from './approvals/asked-hash.ts'
import { checkApprovalOptions, checkEditableSchema, MAX_TITLE_LENGTH } from './approvals/check-approval-options.ts'
import { checkName, instantAfter, instantOf } from './call-arguments.ts'
import type { CallScope } from './call-scope.ts'
import { checkCall } from './check-call.ts'
import { checkMembers, refuseProblems } from './check-options.ts'
import { checkEventName } from './event-name.ts'
import type { Entry } from './journal-entry.ts'
import { stepEvent } from './step-events.ts'

type WaitKind = Exclude<StepRecord['kind'], 'step' | 'version'>
type WaitDetail = Pick<StepRecord, 'dueAt' | 'eventName' | 'approvalId' | 'askedHash' | 'childRunId'>

/** The writes and events of a wait besides its own record. */
interface Waiting extends Entry {
  readonly detail: WaitDetail
  /** Events of the agent. They precede the record, so that a new attempt, which does not repeat them, keeps them. */
  readonly said?: readonly NewEvent[]
  /** Called once the wait is durable. */
  readonly onRecorded?: () => void
}

interface WaitCall {
  readonly kind: WaitKind
  readonly name: string
  /** Whether a recorded outcome is one of this call; any outcome is when missing. Otherwise the call waits again. */
  readonly accepts?: (ended: StepRecord) => boolean
}

/** Waits until something outside resolves the call. The run is suspended when all of its code waits. */
export async function callWait(
  scope: CallScope,
  call: WaitCall,
  begin: (seq: number, refused?: StepRecord) => Waiting,
): Promise<StepRecord> {
  const { ledger } = scope
  const { kind, name, accepts = () => true } = call
  checkCall(scope, name)
  const { seq, recorded } = await ledger.claim(kind, name)
  if (recorded === undefined) return beginWait(scope, { seq, kind, name }, begin(seq))
  // A fork asks for a decision of its own: its call is recorded, but nothing was asked yet.
  if (recorded.status === 'started') return beginWait(scope, recorded, begin(seq))

  const ended = await (recorded.status === 'waiting' ? ledger.wait(seq) : ledger.replay(recorded))
  return accepts(ended) ? ended : beginWait(scope, ended, begin(seq, ended))
}

type BegunCall = Pick<StepRecord, 'seq' | 'kind' | 'name'> & Partial<Pick<StepRecord, 'status' | 'endOrder'>>

async function beginWait(
  { ledger, run, journal, clock, onDue }: CallScope,
  call: BegunCall,
  { detail, writes = [], said = [], events = [], onRecorded }: Waiting,
): Promise<StepRecord> {
  const { seq, kind, name, status } = call
  const startedAt = clock.now()
  const { id: runId, attempt } = run
  const step: StepRecord = { runId, seq, kind, name, status: 'waiting', attempt, startedAt, ...detail }
  const own: readonly Write[] = status === undefined ? [{ type: 'step.insert', step }] : restart(step, status)
  const started = stepEvent(run, 'step.start', { step, at: startedAt, detail: { dueAt: isoOf(step.dueAt) } })
  await ledger.busy(() => journal.record({ writes: [...own, ...writes], events: [...said, started, ...events] }))
  onRecorded?.()
  if (step.dueAt !== undefined) onDue(step.dueAt)
  return ledger.wait(seq, call)
}

/** The change to `started` removes the recorded outcome. */
function restart({ runId, seq, attempt, ...step }: StepRecord, before: StepRecord['status']): readonly Write[] {
  const { dueAt, eventName, approvalId, askedHash } = step
  const waiting: StepChange = { status: 'waiting', attempt, dueAt, eventName, approvalId, askedHash }
  const change = (from: StepRecord['status'], changed: StepChange): Write => ({
    ...{ type: 'step.change', runId, seq, from },
    change: changed,
  })
  return [...(before === 'started' ? [] : [change(before, { status: 'started' })]), change('started', waiting)]
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

/**
 * `ctx.approval`: the decision of a person; `approved` is false without a decision in time. A decision on another payload
 * does not count: a person is asked again.
 */
export async function callApproval(
  scope: CallScope,
  name: string,
  options: ApprovalOptions,
): Promise<ApprovalDecision> {
  refuseProblems('ctx.approval', [name === BUDGET_CALL ? `the name ${BUDGET_CALL} is reserved` : undefined])
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
): Promise<{ readonly decision: ApprovalDecision; readonly at: EpochMs; readonly toolCallId: string | undefined }> {
  const { toolCallId: own } = options
  checkApprovalOptions(options, ['toolCallId', 'args'])
  const ended = await waitForDecision(scope, name, options, (seq) => own ?? `${scope.run.id}.${seq}`)
  return {
    ...{ decision: decisionIn(ended), toolCallId: own ?? waitingToolCallId(ended) },
    at: ended.endedAt ?? scope.clock.now(),
  }
}

async function waitForDecision(
  scope: CallScope,
  name: string,
  options: Omit<ApprovalAsk, 'name' | 'seq'>,
  toolCallIdAt?: (seq: number) => string,
): Promise<StepRecord> {
  if (options.timeout !== undefined || options.remindAfter !== undefined) scope.requireTimers()
  // Nobody is asked again for a call that is recorded.
  if (typeof options.editable === 'object' && !scope.ledger.isNextRecorded('approval', name)) {
    await scope.ledger.busy(() => checkEditableSchema(options, scope.checkJson))
  }
  const askedHash = askedHashOf(scope.digest, options)
  // Calls of earlier releases have no hash.
  const accepts = (ended: StepRecord) => ended.askedHash === undefined || ended.askedHash === askedHash
  return callWait(scope, { kind: 'approval', name, accepts }, (seq, refused) => {
    const toolCallId = toolCallIdAt?.(seq)
    const ofCall = toolCallId === undefined ? {} : { toolCallId }
    const again = refused === undefined ? {} : askedAgain(scope, refused, options)
    const { approval, events } = approvalRequest(scope, { ...options, name, seq, ...ofCall, ...again })
    const eventName = toolCallId === undefined ? undefined : toolCallWait(toolCallId)
    return {
      detail: { approvalId: approval.id, dueAt: approval.expiresAt, eventName, askedHash },
      writes: [{ type: 'approval.insert', approval }],
      events,
      onRecorded: () => {
        if (approval.remindAt !== undefined) scope.onDue(approval.remindAt)
      },
    }
  })
}

/** What tells people, and the operator, why a decision does not count. */
function askedAgain(
  { warn }: CallScope,
  refused: StepRecord,
  { title = refused.name }: Pick<ApprovalAsk, 'title'>,
): Pick<ApprovalAsk, 'title' | 'replaces'> {
  const decision = decisionIn(refused).approved ? 'was approved' : 'was not approved'
  const why = `asked again: this request differs from the one that ${decision}`
  warn(`the approval ${refused.name} is ${why}; its payload or arguments change between executions of the code`)
  return { title: `${cut(title, MAX_TITLE_LENGTH - why.length - 3)} (${why})`, replaces: refused.approvalId }
}

const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1)}…`.toWellFormed()

const decisionIn = ({ result }: StepRecord): ApprovalDecision =>
  (result === undefined ? { approved: false } : fromJsonText(result)) as ApprovalDecision
