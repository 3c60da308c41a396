import type { ListedRun, RunRecord } from '@perdure/ports'
import { isTerminal, type ReceiptState } from '@perdure/protocol'

export interface Receipt {
  /** The run that the message has started. */
  readonly runId: string
  readonly state: ReceiptState
  /** The run that works with the message, once it is delivered. */
  readonly deliveredTo?: string | undefined
  /** Why the message was not delivered. */
  readonly reason?: string | undefined
}

type Sent = Omit<ListedRun<never>, 'flow'> | RunRecord

/** A message is queued until a run starts to work with it, and has then been delivered, whatever becomes of that run. */
export function receiptOf({ id: runId, status, execution, finishReason, withdrawnBy, ...run }: Sent): Receipt {
  if (finishReason === 'joined') return { runId, state: 'delivered', deliveredTo: withdrawnBy }
  if (execution > 0 || run.startedAt !== undefined) return { runId, state: 'delivered', deliveredTo: runId }
  if (!isTerminal(status)) return { runId, state: 'queued' }
  if (withdrawnBy !== undefined) return { runId, state: 'withdrawn' }
  return { runId, state: 'not-delivered', reason: run.error?.message ?? run.abortReason ?? finishReason }
}
