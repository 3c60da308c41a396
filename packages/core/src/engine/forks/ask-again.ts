import {
  type ApprovalRecord,
  type ApprovalStore,
  type Clock,
  EVERY_ROW,
  fromJsonText,
  type IdGenerator,
  type JsonText,
  type NewEvent,
  NO_USAGE,
  type RunRecord,
  type RunStore,
  type StepRecord,
  type Write,
} from '@perdure/ports'
import { isOpenApproval } from '@perdure/protocol'
import type { ApprovalOptions } from '../../durable/approvals/approval-options.ts'
import { approvalRequest } from '../../durable/approvals/approval-request.ts'
import { isFields } from '../../fold/log-event.ts'
import { childEvent, lifecycleEvent } from '../../runs/run-events.ts'
import type { WaitingFor } from '../../runs/run-outcome.ts'
import { isUnresumed, type StoredSuspension, storeSuspension } from '../../runs/stored-suspension.ts'
import { isoOf } from '../../runs/waiting-for.ts'
import { insertRun } from '../../targets/insert-run.ts'
import type { RunTargets } from '../../targets/run-target.ts'
import { childLimits } from '../child-limits.ts'
import { keepShownFiles } from '../run-file-writes.ts'
import type { ForkedCalls } from './fork-calls.ts'

export interface WaitsDeps {
  readonly targets: RunTargets
  readonly runs: RunStore
  readonly approvals: ApprovalStore
  readonly clock: Clock
  readonly ids: IdGenerator
}

/** The open waits of a fork. */
export interface OpenWaits {
  readonly writes: readonly Write[]
  readonly events: readonly NewEvent[]
  /** Launch them after the commit. */
  readonly children: readonly RunRecord[]
  /** When the waits end by themselves. */
  readonly dueAts: readonly number[]
}

/** An open wait of the source, with the child that it waits for. */
interface Wait {
  readonly step: StepRecord
  readonly child?: RunRecord | undefined
}

/**
 * Plans the waits of a fork that were open in its source: timers and events go on, children start again, and the approvals of a
 * suspension are asked again. The code of the fork itself asks for the approvals of its calls.
 */
export async function askAgain(
  { runs, approvals, ...deps }: WaitsDeps,
  source: RunRecord,
  { waiting, suspension }: ForkedCalls,
): Promise<(fork: RunRecord) => OpenWaits> {
  const waits = await Promise.all(
    waiting.map(async (step): Promise<Wait> => {
      const { childRunId } = step
      return {
        step,
        child: childRunId === undefined ? undefined : await runs.find(childRunId, EVERY_ROW),
      }
    }),
  )
  const asked = isUnresumed(source) ? suspension : undefined
  const ofRun = await Promise.all((asked?.approvalIds ?? []).map((id) => approvals.find(id, EVERY_ROW)))

  return (fork) => {
    const copied = waits.map((wait) => copyWait(deps, fork, wait))
    const whole = asked === undefined ? [] : [copySuspension(deps, fork, { suspension: asked, ofRun, source })]
    return join([...copied, ...whole])
  }
}

const join = (parts: readonly OpenWaits[]): OpenWaits => ({
  writes: parts.flatMap(({ writes }) => writes),
  events: parts.flatMap(({ events }) => events),
  children: parts.flatMap(({ children }) => children),
  dueAts: parts.flatMap(({ dueAts }) => dueAts),
})

const NONE: OpenWaits = { writes: [], events: [], children: [], dueAts: [] }

type CopyDeps = Pick<WaitsDeps, 'clock' | 'ids' | 'targets'>

function copyWait(deps: CopyDeps, fork: RunRecord, { step, child }: Wait): OpenWaits {
  const open: StepRecord = {
    ...{ runId: fork.id, seq: step.seq, kind: step.kind, name: step.name, status: 'waiting', attempt: fork.attempt },
    ...{ startedAt: fork.createdAt, dueAt: step.dueAt, eventName: step.eventName },
  }
  if (child !== undefined) return copyChild(deps, fork, { step: open, child })
  return { ...NONE, writes: [insert(open)], dueAts: open.dueAt === undefined ? [] : [open.dueAt] }
}

const insert = (step: StepRecord): Write => ({ type: 'step.insert', step })

/** The schema `true` accepts any arguments. */
function editableOf(argsSchema: JsonText): ApprovalOptions['editable'] {
  const schema = fromJsonText(argsSchema)
  return isFields(schema) ? { schema } : true
}

function requestAgain({ clock, ids }: CopyDeps, run: RunRecord, old: ApprovalRecord) {
  const { name, title, payload, toolCallId, assignee, createdAt, expiresAt, argsSchema, remindAt, escalateTo } = old
  return approvalRequest(
    { run, clock, ids, ancestors: [] },
    {
      name,
      ...(title === undefined ? {} : { title }),
      ...(payload === undefined ? {} : { payload: fromJsonText(payload) }),
      ...(toolCallId === undefined ? {} : { toolCallId }),
      ...(assignee === undefined ? {} : { assignee }),
      ...(remindAt === undefined ? {} : { remindAfter: remindAt - createdAt }),
      ...(escalateTo === undefined || remindAt === undefined ? {} : { escalateTo }),
      ...(argsSchema === undefined ? {} : { editable: editableOf(argsSchema) }),
      ...(expiresAt === undefined ? {} : { timeout: expiresAt - createdAt }),
    },
  )
}

/** The child starts from its beginning, with the input and the limits of the child of the source. */
function copyChild(
  { ids, targets }: CopyDeps,
  fork: RunRecord,
  { step, child: old }: { readonly step: StepRecord; readonly child: RunRecord },
): OpenWaits {
  const { id: parentRunId, sessionId, owner, caller, userId, traceparent, metadata, createdAt } = fork
  const { kind, targetId, version, input, timeoutMs } = old
  const limits = childLimits(fork, old.budget, createdAt)
  const child: RunRecord = {
    ...{ id: ids.newId('run'), kind, targetId, version, status: 'queued', input, ...limits, timeoutMs },
    ...{ sessionId, owner, caller, userId, traceparent, metadata, createdAt },
    ...{ usage: NO_USAGE, attempt: 1, execution: 0, parentRunId, parentSeq: step.seq, depth: fork.depth + 1 },
  }
  return {
    writes: [
      insertRun(targets, child),
      insert({ ...step, childRunId: child.id }),
      ...keepShownFiles(child.id, { input, owner: old.owner }),
    ],
    events: [
      lifecycleEvent(child, 'run.queued', { at: createdAt }),
      childEvent(fork, 'run.child.started', { child, at: createdAt }),
    ],
    ...{ children: [child], dueAts: child.deadlineAt === undefined ? [] : [child.deadlineAt] },
  }
}

interface AskedSuspension {
  readonly suspension: StoredSuspension
  readonly ofRun: readonly (ApprovalRecord | undefined)[]
  readonly source: RunRecord
}

/** An approval that expired because its run had ended counts as open. */
const isOpen = ({ status, resolvedAt }: ApprovalRecord, { completedAt }: RunRecord): boolean =>
  isOpenApproval(status) ||
  (status === 'expired' && resolvedAt !== undefined && completedAt !== undefined && resolvedAt >= completedAt)

/** The fork of a run that waits for a resume waits for a resume as well, with approvals of its own. */
function copySuspension(deps: CopyDeps, fork: RunRecord, { suspension, ofRun, source }: AskedSuspension): OpenWaits {
  const known = ofRun.flatMap((approval) => (approval === undefined ? [] : [approval]))
  const again = new Map(
    known.filter((old) => isOpen(old, source)).map((old) => [old.id, requestAgain(deps, fork, old)]),
  )
  const approvals = [...again.values()].map(({ approval }) => approval)
  const approvalIds = suspension.approvalIds.map((id) => again.get(id)?.approval.id ?? id)
  const { id: runId, attempt } = fork
  const change = { suspension: storeSuspension({ ...suspension, approvalIds }) }
  return {
    writes: [
      { type: 'run.transition', runId, from: ['suspended'], attempt, change },
      ...approvals.map((approval): Write => ({ type: 'approval.insert', approval })),
    ],
    events: [
      ...[...again.values()].flatMap(({ events }) => events),
      lifecycleEvent(fork, 'run.suspended', { at: fork.createdAt, waitingFor: waitingFor(approvals) }),
    ],
    children: [],
    dueAts: approvals.flatMap(({ expiresAt, remindAt }) => [expiresAt, remindAt].filter((at) => at !== undefined)),
  }
}

const waitingFor = (approvals: readonly ApprovalRecord[]): readonly WaitingFor[] =>
  approvals.length === 0
    ? [{ kind: 'resume', name: 'resume' }]
    : approvals.map(({ id, name, expiresAt }) => ({ kind: 'approval', name, approvalId: id, dueAt: isoOf(expiresAt) }))
