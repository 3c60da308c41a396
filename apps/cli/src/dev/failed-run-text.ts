import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ownFrames } from '@perdure/core'
import type { LogFields } from '@perdure/ports'
import { oneLine } from '../output/columns.ts'
import type { Paint } from '../output/paint.ts'
import { durationText } from '../output/time-text.ts'

export interface FailedRunView {
  readonly cwd: string
  readonly paint: Paint
}

/**
 * A failed run in the log of `perdure dev`: its error, where the user's code threw it, and its causes.
 *
 * ```text
 *   ✗ run failed triage: TypeError: Cannot read properties of undefined (reading 'c')  12 ms  run_…
 *       at lookUp (agents/triage.ts:12:40)
 *     caused by Error: no such ticket
 * ```
 */
export function failedRunText(error: unknown, fields: LogFields, { cwd, paint }: FailedRunView): string {
  const { agentId, workflowId, step, durationMs, runId } = fields
  const shown = withoutStepFailure(error)
  const name = `${agentId ?? workflowId}${shown === error ? '' : ` in step ${step ?? ''}`}`
  const took = durationMs === undefined || durationMs === null ? '' : `  ${durationText(Number(durationMs))}`
  const head = `${paint('red', oneLine(`✗ run failed ${name}: ${headOf(shown)}`))}${took}  ${paint('dim', oneLine(String(runId)))}`
  return [`  ${head}`, ...framesOf(shown, cwd).map((frame) => `      ${frame}`), ...causeLines(shown, cwd)]
    .map((line) => `${line}\n`)
    .join('')
}

/** Returns the error that the code of a step threw, instead of the `step-failed` error that wraps it. */
function withoutStepFailure(error: unknown): unknown {
  const isStepFailure = error instanceof Error && 'code' in error && error.code === 'step-failed'
  return isStepFailure ? (error.cause ?? error) : error
}

function causeLines(error: unknown, cwd: string): readonly string[] {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause === undefined) return []
  const frames = framesOf(cause, cwd).map((frame) => `      ${frame}`)
  return [`    caused by ${oneLine(headOf(cause))}`, ...frames, ...causeLines(cause, cwd)]
}

/** `TypeError: message`, or the text of a value that is not an error. */
export function headOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message === '' ? error.name : `${error.name}: ${error.message}`
}

/** Frames shown of a stack without frames of the user's code. */
const FOREIGN_FRAMES = 3

function framesOf(error: unknown, cwd: string): readonly string[] {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const own = ownFrames(stack)
  const frames = own.length > 0 ? own : stack.split('\n').filter((line) => /^\s+at /.test(line))
  return frames.slice(0, own.length > 0 ? own.length : FOREIGN_FRAMES).map((frame) => oneLine(nearFrame(frame, cwd)))
}

/** `at run (agents/triage.ts:12:40)`, with the path as seen from the working directory. */
function nearFrame(frame: string, cwd: string): string {
  const text = frame.trim()
  const end = text.search(/:\d+:\d+\)?$/)
  const start = Math.max(text.lastIndexOf('(') + 1, text.lastIndexOf(' file:') + 1, text.lastIndexOf(' /') + 1)
  const location = text.slice(start, end)
  if (end === -1 || !/^(?:file:\/\/)?\//.test(location)) return text
  const path = location.startsWith('file:') ? fileURLToPath(location) : location
  const near = relative(cwd, path)
  return `${text.slice(0, start)}${near.startsWith('..') ? path : near}${text.slice(end)}`
}
