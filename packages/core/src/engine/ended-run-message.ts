import type { RunRecord } from '@perdure/ports'
import type { ChatInput } from '../targets/chat-input.ts'

type Ended = Pick<RunRecord, 'id' | 'kind' | 'targetId' | 'status' | 'result'>

/**
 * What the conversation is told about the end of a run. Errors stay out of it, as a chat does not show them.
 *
 * @param maxResult how many characters of the result it may have; `GET /runs/:id` has all of them
 */
export function endAsChat(ended: Ended, maxResult: number): ChatInput {
  const { id: runId, kind, targetId, status, result } = ended
  const text = `The ${kind} ${targetId}, which this conversation started as ${runId}, ${VERBS[status]}.${resultText(result, maxResult)}`
  const metadata = { endedRun: { runId, kind, id: targetId, status } }
  return { text, messages: [{ role: 'user', metadata, content: [{ type: 'text', text }] }] }
}

const VERBS: Readonly<Record<RunRecord['status'], string>> = {
  completed: 'has completed',
  failed: 'has failed',
  aborted: 'was aborted',
  queued: 'is queued',
  running: 'is running',
  suspended: 'is suspended',
}

function resultText(result: string | undefined, maxResult: number): string {
  if (result === undefined || result === 'null') return ''
  if (result.length <= maxResult) return ` Result: ${result}`
  return ` The first ${maxResult} of ${result.length} characters of its result: ${result.slice(0, maxResult)}`
}
