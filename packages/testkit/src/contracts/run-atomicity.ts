import { anApproval, aRun, aStep } from '../builders.ts'
import { at } from './optional-fields.ts'

export const RUN = aRun({ id: 'run-1', status: 'running' })
export const STEP = aStep({ runId: RUN.id, status: 'waiting', kind: 'event', dueAt: at(1), eventName: 'e' })
export const APPROVAL = anApproval({ id: 'apr-1', runId: RUN.id })
export const DENIAL = { status: 'denied', resolvedAt: at(1) } as const
export const FLOW = aRun({ id: 'flow-1', kind: 'workflow', targetId: 'nightly', threadId: 'thr-1', status: 'failed' })
export const BUSY = aRun({ ...FLOW, id: 'flow-2', threadId: 'thr-2', status: 'queued', deadlineAt: at(1) })
export const ENDED = aRun({ id: 'run-ended', status: 'completed', completedAt: at(0) })
