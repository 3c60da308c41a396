import { beginFold, foldEvent, hasEnded, isStateEvent, type LogEvent, transcriptOf } from '@perdure/core'
import type { RunRecord } from '@perdure/ports'
import type { Frame, Projector } from '../projection.ts'
import type { QuestionDigest } from './elicitation.ts'
import type { RpcId } from './json-rpc.ts'
import { notification } from './listen-messages.ts'
import { openTranscript } from './projector.ts'
import { detailedTask, taskAt } from './tasks.ts'

/** Shows a run as a task: a notification with the whole task for each change of its status or of its questions. */
export function createTaskProjector(
  digest: QuestionDigest,
  run: Pick<RunRecord, 'id' | 'createdAt'>,
  subscriptionId: RpcId,
): Projector {
  let fold = beginFold(run.id)
  let updatedAt = new Date(run.createdAt).toISOString()
  let shown = ''

  const current = () => {
    const transcript = hasEnded(fold) ? transcriptOf(fold) : openTranscript(fold)
    const task = detailedTask(digest, taskAt(run, transcript, updatedAt), transcript)
    return { task, state: [task.status, ...Object.keys(task.inputRequests ?? {})].join(' ') }
  }

  const frameOf = (task: object): Frame => notification('notifications/tasks', task, subscriptionId)

  return {
    next(event) {
      if (isStateEvent(event)) return []
      fold = foldEvent(fold, event)
      if (!CHANGES_TASK.test(event.type)) return []
      if (UPDATES_RUN.has(event.type)) updatedAt = event.at
      const { task, state } = current()
      if (state === shown) return []
      shown = state
      return [frameOf(task)]
    },
    opening: (of) => (of === 'all' ? [frameOf(current().task)] : []),
    rest: () => undefined,
  }
}

const CHANGES_TASK = /^(?:run|approval)\./

/** The events whose time the record of the run has as well. */
const UPDATES_RUN: ReadonlySet<LogEvent['type']> = new Set([
  ...['run.started', 'run.suspended', 'run.completed', 'run.failed', 'run.aborted'],
])
