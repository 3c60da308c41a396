import { isFields, type LogEvent } from '@perdure/core'
import { fromJsonText, type JsonText } from '@perdure/ports'
import { viaIn } from '../chat/awaited-input.ts'
import { isAnswerTo } from '../chat/pass-answers.ts'
import type { AiSdkVersion } from './chunk.ts'
import type { ResponseStart } from './chunk-index.ts'

export type Version = '6' | '7' | 'workflow'

export const versionOf = (version: Version): AiSdkVersion =>
  version === 'workflow' ? version : version === '6' ? 6 : 7

/** What a response continues with: the answers that its request gave, or the message that the run waited for. */
export type Continuation = { readonly ids: readonly string[] } | { readonly ref: string }

/** A response of a run. A run that waits for its client has several. */
export interface NamedResponse {
  readonly runId: string
  /** Missing: the response that begins with the run. */
  readonly after?: Continuation | undefined
  readonly version: Version
}

const NAME = /^(run_[^.]{1,200})(?:\.([67]))?(?:\.([\w-]{1,2000}))?$/

/**
 * The name by which `WorkflowChatTransport` asks for the rest of a response. It is the id of the run, with what else
 * decides about the chunks: the version, unless it is that of the transport, and what the response continues with.
 */
export function responseName({ runId, after, version }: NamedResponse): string {
  const more = after === undefined ? '' : `.${Buffer.from(JSON.stringify(after)).toString('base64url')}`
  return `${runId}${version === 'workflow' ? '' : `.${version}`}${more}`
}

/** `undefined` for anything but the name of a response. */
export function parseResponseName(name: string): NamedResponse | undefined {
  const [, runId, major, more] = NAME.exec(name) ?? []
  if (runId === undefined) return undefined
  const version = major === undefined ? 'workflow' : (major as '6' | '7')
  if (more === undefined) return { runId, version }
  const after = continuationIn(more)
  return after === undefined ? undefined : { runId, version, after }
}

function continuationIn(encoded: string): Continuation | undefined {
  try {
    const after = fromJsonText(Buffer.from(encoded, 'base64url').toString() as JsonText)
    if (!isFields(after)) return undefined
    const { ids, ref } = after
    if (typeof ref === 'string') return { ref }
    return Array.isArray(ids) && ids.every((id) => typeof id === 'string') ? { ids } : undefined
  } catch {
    return undefined
  }
}

export function startOf(after: Continuation | undefined): ResponseStart {
  if (after === undefined) return 'first'
  if ('ids' in after) return isAnswerTo(new Set(after.ids))
  return (event: LogEvent) => event.type === 'run.resumed' && viaIn(event.payload) === after.ref
}
