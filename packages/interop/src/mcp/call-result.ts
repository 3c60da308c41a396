import type { ApprovalItem, Transcript } from '@perdure/core'
import { isFields, outputText } from '@perdure/core'
import { isOpenApproval } from '@perdure/protocol'
import { TRUNCATED } from '../chat/log-limit.ts'

/** The result of a tool call. */
export interface CallResult {
  readonly content: ReadonlyArray<{ readonly type: 'text'; readonly text: string }>
  readonly structuredContent?: Readonly<Record<string, unknown>>
  readonly isError?: true
  readonly _meta?: Readonly<Record<string, unknown>>
}

const textResult = (text: string): CallResult => ({ content: [{ type: 'text', text }] })

export const errorResult = (text: string): CallResult => ({ ...textResult(text), isError: true })

export const structuredResult = (value: Readonly<Record<string, unknown>>): CallResult => ({
  ...textResult(JSON.stringify(value)),
  structuredContent: value,
})

/** What the run has come to; for a run that has not ended, how the client gets its result later. */
export function resultOf(transcript: Transcript): CallResult {
  const { status, runId } = transcript
  const _meta = { 'perdure/runId': runId }
  if (status === 'completed') return { ...completedResult(transcript), _meta }
  if (status === 'failed') return { ...errorResult(failureText(transcript.error)), _meta }
  if (status === 'aborted') return { ...errorResult(`the run was aborted: ${transcript.reason ?? 'aborted'}`), _meta }
  return { ...unfinishedResult(transcript), _meta }
}

function completedResult(transcript: Transcript): CallResult {
  const { result } = transcript
  const content = [...textResult(outputText(transcript)).content, ...truncationOf(transcript)]
  return isFields(result) ? { content, structuredContent: result } : { content }
}

/** Tells the model, and through it the user, that the answer was cut off. */
const truncationOf = ({ items }: Transcript): CallResult['content'] =>
  items.flatMap((item) => {
    if (item.kind !== 'custom' || item.type !== TRUNCATED || !isFields(item.payload)) return []
    const { message, rest } = item.payload
    return textResult(`[The answer is cut off: ${message}. The rest is at ${rest}.]`).content
  })

function failureText(error: unknown): string {
  const { code, message } = isFields(error) ? error : {}
  const text = typeof message === 'string' ? message : 'the run failed'
  return typeof code === 'string' ? `${text} (${code})` : text
}

function unfinishedResult({ runId, status = 'queued', items }: Transcript): CallResult {
  const approvals = items
    .filter(isPending)
    .map(({ id, name, title, assignee }) => ({ approvalId: id, name, title, assignee }))
  const names = approvals.map(({ approvalId, name, title }) => `${title ?? name} (${approvalId})`).join(', ')
  const state =
    approvals.length > 0
      ? `The run waits for a decision: ${names}. A person decides it in the inbox of the server.`
      : status === 'suspended'
        ? 'The run is suspended and continues later.'
        : 'The run is still executing.'
  return {
    ...textResult(`${state} Call perdure_run_wait with runId ${runId} to get the result.`),
    structuredContent: { runId, status, approvals },
  }
}

const isPending = (item: Transcript['items'][number]): item is ApprovalItem =>
  item.kind === 'approval' && isOpenApproval(item.status)
