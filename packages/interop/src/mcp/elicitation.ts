import type { ApprovalItem } from '@perdure/core'
import { isFields } from '@perdure/core'
import type { Digest } from '@perdure/ports'

export type QuestionDigest = Pick<Digest, 'sha256'>

/** What an elicitation asks for: a decision, or input for a run that has paused. */
export interface Question {
  /** The id of the approval, or of the pause. It is the id of the request to the client as well. */
  readonly id: string
  params(digest: QuestionDigest): object
}

const DECISION = {
  type: 'object',
  properties: {
    approved: { type: 'boolean', title: 'Approve', description: 'Whether to approve the request.' },
    reason: { type: 'string', title: 'Reason', description: 'Why. Optional.' },
  },
  required: ['approved'],
}

const INPUT = {
  type: 'object',
  properties: { text: { type: 'string', title: 'Answer', description: 'The answer to the run.' } },
  required: ['text'],
}

const MAX_PAYLOAD = 2_000

export function approvalQuestion({ id, name, title, payload }: ApprovalItem): Question {
  return {
    id,
    params: (digest) => ({
      mode: 'form',
      message: [title ?? name, ...detailsOf(digest, id, payload)].join('\n\n'),
      requestedSchema: DECISION,
    }),
  }
}

function detailsOf({ sha256 }: QuestionDigest, id: string, payload: unknown): readonly string[] {
  if (payload === undefined) return []
  const text = JSON.stringify(payload)
  if (!isTooLong(text)) return [text]
  return [
    text.slice(0, MAX_PAYLOAD),
    `… cut: the request has ${text.length} characters and the SHA-256 ${sha256(text)}. It cannot be approved here: decide it in the console, or with \`perdure approvals approve ${id}\`.`,
  ]
}

/** Whether a question shows only the beginning of a payload, so that its reader cannot approve it. */
export const isTooLong = (payload: string): boolean => payload.length > MAX_PAYLOAD

export const inputQuestion = (runId: string, continuation: number, text: string): Question => ({
  id: pauseId(runId, continuation),
  params: () => ({ mode: 'form', message: text === '' ? 'The run waits for input.' : text, requestedSchema: INPUT }),
})

const pauseId = (runId: string, continuation: number): string => `pause_${continuation}_${runId}`

/** The pause that an id names; `undefined` for the id of an approval. */
export function parsePauseId(id: string): { readonly runId: string; readonly continuation: number } | undefined {
  const [, continuation = '', runId = ''] = /^pause_(\d{1,9})_(.+)$/.exec(id) ?? []
  return runId === '' ? undefined : { runId, continuation: Number(continuation) }
}

export type Decision =
  | { readonly kind: 'none' }
  | { readonly kind: 'denied'; readonly reason?: string }
  | { readonly kind: 'accepted'; readonly content: Readonly<Record<string, unknown>> }

/** Reads the result of an elicitation. Only an explicit `accept` has an effect that the user may not want. */
export function readAnswer(result: unknown): Decision | undefined {
  if (!isFields(result)) return undefined
  const { action, content } = result
  if (action === 'cancel') return { kind: 'none' }
  if (action === 'decline') return { kind: 'denied' }
  return action === 'accept' && isFields(content) ? { kind: 'accepted', content } : undefined
}
