import { NO_USAGE } from '@perdure/ports'
import { anApproval, anEvent, aRun, aStep } from '../builders.ts'
import { at } from './optional-fields.ts'

export const RUN = aRun({ id: 'run-1', status: 'running' })
export const STEP = aStep({ runId: RUN.id, status: 'waiting', kind: 'event', dueAt: at(1), eventName: 'e' })
export const APPROVAL = anApproval({ id: 'apr-1', runId: RUN.id })
export const DENIAL = { status: 'denied', resolvedAt: at(1) } as const
export const FLOW = aRun({ id: 'flow-1', kind: 'workflow', targetId: 'nightly', threadId: 'thr-1', status: 'failed' })
export const BUSY = aRun({ ...FLOW, id: 'flow-2', threadId: 'thr-2', status: 'queued', deadlineAt: at(1) })
export const ENDED = aRun({ id: 'run-ended', status: 'completed', completedAt: at(0) })

export const RUN_CHANGES = {
  'run.followed-up': { type: 'run.followed-up', runId: ENDED.id },
  'run.withdraw': { type: 'run.withdraw', sessionId: 'ses-gone', from: 'run-gone', by: 'run-2' },
  'run.interrupt': { type: 'run.interrupt', runId: RUN.id },
  'run.charge': { type: 'run.charge', runId: RUN.id, usage: { ...NO_USAGE, toolCalls: 1 } },
  'run.emit': {
    type: 'run.emit',
    runId: RUN.id,
    attempt: 1,
    execution: RUN.execution,
    events: [anEvent({ runId: RUN.id })],
  },
} as const
