import type { LogFields, Logger } from '@perdure/ports'
import { type Paint, painter } from '../output/paint.ts'
import { durationText } from '../output/time-text.ts'
import type { Terminal } from '../terminal.ts'
import { failedRunText } from './failed-run-text.ts'

/** The id of the request that `perdure dev` sends to its own server. Its line is no news for the developer. */
export const OWN_REQUEST_ID = 'perdure-dev-console-code'

/**
 * The log of `perdure dev`: one line per request and per start, suspension and end of a run. Other lines, such as
 * warnings, go to `rest` unchanged.
 */
export function createDevLog({ env, stderr, cwd }: Pick<Terminal, 'env' | 'stderr' | 'cwd'>, rest: Logger): Logger {
  const paint = painter(env, stderr)
  const write = (text: string) => void stderr.write(`${text}\n`)
  const writeKnown = (message: string, fields: LogFields = {}): boolean => {
    const line = message === 'request' ? requestLine(fields, paint) : runLine(message, fields, paint)
    if (line !== undefined) write(line)
    return line !== undefined
  }
  return {
    ...rest,
    info(message, fields) {
      if (fields?.requestId === OWN_REQUEST_ID) rest.debug(message, fields)
      else if (!writeKnown(message, fields)) rest.info(message, fields)
    },
    warn(message, fields) {
      if (!writeKnown(message, fields)) rest.warn(message, fields)
    },
    error(message, error, fields = {}) {
      if (message === 'run failed') stderr.write(failedRunText(error, fields, { cwd, paint }))
      else rest.error(message, error, fields)
    },
  }
}

/** `POST /v1/agents/:agentId/run 200 39 ms`, with the error of a refusal. */
function requestLine({ method, route, status, durationMs, error }: LogFields, paint: Paint): string {
  const isRefused = Number(status) >= 400
  const shown = paint(isRefused ? 'red' : 'green', String(status))
  const line = `${method} ${route ?? (isRefused ? '(no such route)' : '(no operation)')} ${shown} ${durationText(Number(durationMs ?? 0))}`
  return error === undefined || error === null ? line : `${line} ${paint('red', String(error))}`
}

const RUN_MARKS = {
  'run started': ['▶', 'cyan'],
  'run completed': ['✓', 'green'],
  'run suspended': ['…', 'yellow'],
  'run aborted': ['✗', 'yellow'],
} as const

/** `  ✗ triage aborted 12 ms  run_…`. */
function runLine(message: string, fields: LogFields, paint: Paint): string | undefined {
  if (!Object.hasOwn(RUN_MARKS, message)) return undefined
  const [mark, colour] = RUN_MARKS[message as keyof typeof RUN_MARKS]
  const { agentId, workflowId, error, durationMs, runId, attempt } = fields
  const parts = [
    `${agentId ?? workflowId}`,
    message.slice('run '.length),
    Number(attempt) > 1 ? `(attempt ${attempt})` : undefined,
    error,
    durationMs === undefined || durationMs === null ? undefined : durationText(Number(durationMs)),
  ]
  const text = parts.filter((part) => part !== undefined && part !== null).join(' ')
  return `  ${paint(colour, `${mark} ${text}`)}  ${paint('dim', String(runId))}`
}
