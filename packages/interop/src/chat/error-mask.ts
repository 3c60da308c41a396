import type { ProtocolOptions, RunTargets } from '@perdure/core'
import { type Fields, fieldsOf, isFields, type LogEvent, textIn } from '@perdure/core'
import type { ListedRun } from '@perdure/ports'
import { ERRORS, EVENTS, PROVIDER_FAILURES, TOOL_FAILURES } from '@perdure/protocol'

/** The run whose errors are shown. */
export type FailingRun = Pick<ListedRun, 'id' | 'kind' | 'targetId'>

/** Shows events to clients of other protocols: with the texts that they may see in place of messages of exceptions. */
export type ErrorMask = (event: LogEvent) => LogEvent

/**
 * Every text of an exception is in the member `error` of an event, so that one function hides them from every protocol.
 * It takes the events of one run in their order.
 */
export function createErrorMask(targets: Pick<RunTargets, 'find'>, run: FailingRun): ErrorMask {
  const { protocols } = targets.find(run.kind, run.targetId) ?? {}
  const errors = protocols === false ? undefined : protocols?.errors
  if (errors === 'message') return (event) => event
  const performedByClient = new Set<unknown>()

  return (event) => {
    const fields = fieldsOf(event)
    if (event.type.startsWith('tool.call.') && fields.executor === 'client') performedByClient.add(fields.toolCallId)
    if (!HAVE_ERRORS.has(event.type) || fields.error === undefined || fields.error === null) return event
    // The client has sent this error itself.
    if (event.type === 'tool.result' && performedByClient.has(fields.toolCallId)) return event
    return { ...event, payload: { ...fields, error: masked(fields, { errors, runId: run.id }) } }
  }
}

const HAVE_ERRORS: ReadonlySet<string> = new Set(
  Object.entries(EVENTS).flatMap(([type, { payload }]) =>
    'entries' in payload && 'error' in payload.entries ? [type] : [],
  ),
)

interface Shown {
  readonly errors: ProtocolOptions['errors']
  readonly runId: string
}

function masked(fields: Fields, { errors, runId }: Shown): Fields {
  const error = isFields(fields.error) ? fields.error : {}
  const code = textIn(error, 'code') ?? textIn(error, 'kind') ?? 'run-failed'
  const toolName = textIn(fields, 'toolName')
  const told = { code, message: textIn(error, 'message') ?? '', runId, ...(toolName === undefined ? {} : { toolName }) }
  const message = textOf(typeof errors === 'function' ? () => errors(told) : undefined) ?? textForRun(runId)
  return 'kind' in error
    ? { kind: KNOWN.has(code) ? code : 'execution_failed', message }
    : { code: KNOWN.has(code) ? code : 'run-failed', message }
}

const textForRun = (runId: string): string => `An error occurred (run ${runId})`

/** The function of the registration must not break the stream of a client. */
function textOf(make: (() => unknown) | undefined): string | undefined {
  try {
    const text = make?.()
    return typeof text === 'string' ? text : undefined
  } catch {
    return undefined
  }
}

/** The identifiers that Perdure documents. An exception can bring any other. */
const KNOWN: ReadonlySet<string> = new Set(
  [ERRORS, TOOL_FAILURES, PROVIDER_FAILURES].flatMap((table) => Object.keys(table)),
)
