import { fieldsOf, isFields, type LogEvent, type Transcript } from '@perdure/core'
import { modelFinishOf } from '../chat/model-finish.ts'
import type { RunView } from '../projection.ts'
import type { OutputItem } from './output-items.ts'
import { formatResponseId } from './response-id.ts'
import { responseUsage, type UsedTokens } from './usage.ts'

/** What a response shows besides the events of its run. */
export interface ResponseView extends RunView {
  readonly segment: number
  /** When the run was created, in seconds. */
  readonly startedAt: number
  /** The agent or workflow, as the client named it. */
  readonly model: string
  readonly metadata: Readonly<Record<string, string>>
  readonly isBackground: boolean
  readonly previousResponseId?: string | undefined
  readonly conversationId?: string | undefined
}

export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'failed' | 'incomplete' | 'cancelled'

export interface ResponseState {
  readonly status: ResponseStatus
  /** Seconds. */
  readonly createdAt: number
  readonly completedAt?: number | undefined
  readonly output: readonly OutputItem[]
  /** Missing if no model was called. */
  readonly usage?: UsedTokens | undefined
  readonly error?: object | undefined
  readonly reason?: string | undefined
  /** Why the answer of the model is incomplete. */
  readonly cut?: string | undefined
  /** Where a client reads what the response leaves out, because it would be too long. */
  readonly rest?: string | undefined
}

/** A response as OpenAI describes it. Members that have no meaning here have the value that says so. */
export function toResponse(view: ResponseView, state: ResponseState): object {
  const { metadata, previousResponseId, conversationId, isBackground, model } = view
  const { status, createdAt, completedAt, output, usage, error, reason, rest } = state
  const cut = rest === undefined ? state.cut : 'max_output_tokens'
  return {
    ...{ id: formatResponseId(view), object: 'response', created_at: createdAt, status, model },
    background: isBackground,
    ...(completedAt === undefined ? {} : { completed_at: completedAt }),
    ...{ error: error ?? null, incomplete_details: cut === undefined ? null : { reason: cut }, instructions: null },
    ...{ output, output_text: textOf(output), parallel_tool_calls: true, tool_choice: 'auto', tools: [] },
    previous_response_id: previousResponseId ?? null,
    ...(conversationId === undefined ? {} : { conversation: { id: conversationId } }),
    metadata: {
      ...metadata,
      ...(reason === undefined ? {} : { perdure_reason: reason }),
      ...(rest === undefined ? {} : { perdure_rest: rest }),
    },
    ...{ temperature: null, top_p: null, max_output_tokens: null, store: true, truncation: 'disabled' },
    ...{ reasoning: { effort: null, summary: null }, text: { format: { type: 'text' } } },
    ...(usage === undefined ? {} : { usage: responseUsage(usage) }),
  }
}

/** The text of the messages, as the client computes it. */
const textOf = (output: readonly OutputItem[]): string =>
  output
    .flatMap(({ type, content }) => (type === 'message' && Array.isArray(content) ? content : []))
    .flatMap((part) => (isFields(part) && typeof part.text === 'string' ? [part.text] : []))
    .join('')

/** Why the answer of a completed run is shown as incomplete. */
export function cutOf({ modelFinishReason }: Transcript): string | undefined {
  const finish = modelFinishOf(modelFinishReason)
  if (finish === 'length') return 'max_output_tokens'
  return finish === 'content-filter' ? 'content_filter' : undefined
}

export interface RunEnd {
  readonly status: 'completed' | 'failed' | 'incomplete' | 'cancelled'
  /** Why it has not completed. */
  readonly code?: string
  readonly message?: string
}

/** How the run ended, as a response shows it. */
export function endOf({ status, finishReason, error, reason }: Transcript): RunEnd {
  if (status === 'completed') return { status: 'completed' }
  if (finishReason !== undefined && LIMITS.has(finishReason)) {
    return { status: 'incomplete', code: finishReason, message: `the run ended: ${finishReason}` }
  }
  if (status === 'aborted') {
    return { status: 'cancelled', code: 'aborted', message: `the run was aborted: ${reason ?? 'aborted'}` }
  }
  const { code = 'run-failed', message = 'the run failed' } = isFields(error) ? error : {}
  return { status: 'failed', code: String(code), message: String(message) }
}

/** The run used up what it was given. */
const LIMITS: ReadonlySet<string> = new Set(['timeout', 'budget-exhausted'])

/** Seconds, as OpenAI counts time. */
export const secondsOf = ({ at }: LogEvent): number => Math.floor(Date.parse(at) / 1_000)

/** Whether the event shows a run that has not been given a slot. */
export const isQueued = (event: LogEvent): boolean => event.type === 'run.queued' && fieldsOf(event).status === 'queued'
