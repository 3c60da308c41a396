import type { Call } from '../call.ts'
import { usageError } from '../cli-error.ts'
import { readInput } from './read-input.ts'
import { type BulkFlags, retryFailedRuns } from './retry-failed-runs.ts'

interface RepeatFlags {
  readonly run: string
  readonly input?: string
  readonly result?: Readonly<Record<string, string>>
  readonly session?: string
  readonly thread?: string
}

type RetryFlags = Partial<RepeatFlags> & BulkFlags

export async function runsRetryCommand(call: Call, flags: RetryFlags): Promise<void> {
  const { run, status, since, agent, workflow, code } = flags
  if (run === undefined) return retryFailedRuns(call, { ...flags, status: status ?? 'failed' })
  if ([status, since, agent, workflow, code].some((filter) => filter !== undefined)) {
    throw usageError('runs retry takes a run or filters, not both', 'leave out the run or the filters')
  }
  show(call, run, await call.client().runs.retry(run, await bodyOf(call, { ...flags, run })))
}

export async function runsRerunCommand(call: Call, flags: RepeatFlags): Promise<void> {
  const { results: _, ...body } = await bodyOf(call, flags)
  show(call, flags.run, await call.client().runs.rerun(flags.run, body))
}

export async function runsForkCommand(call: Call, flags: RepeatFlags & { readonly from: string }): Promise<void> {
  const body = { ...(await bodyOf(call, flags)), from: pointOf(flags.from) }
  show(call, flags.run, await call.client().runs.fork(flags.run, body))
}

function show(call: Call, source: string, fork: { readonly runId: string; readonly status: string }): void {
  call.out.document(fork, () => `${fork.runId} ${fork.status}, repeats ${source}\n`)
}

async function bodyOf({ terminal }: Call, { input, result, session, thread }: RepeatFlags) {
  const read = await readInput(terminal, 'input', input)
  return {
    ...(read === undefined ? {} : { input: read }),
    ...(result === undefined ? {} : { results: resultsOf(result) }),
    ...(session === undefined ? {} : { sessionId: session }),
    ...(thread === undefined ? {} : { threadId: thread }),
  }
}

function pointOf(from: string): 'failure' | 'start' | { readonly seq: number } {
  if (from === 'failure' || from === 'start') return from
  const seq = Number(from)
  if (Number.isSafeInteger(seq) && seq > 0) return { seq }
  throw usageError(`--from ${from} names no point`, 'use failure, start, or the number of a call (perdure runs trace)')
}

/** Each value is JSON, or else text. */
function resultsOf(given: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(given).map(([seq, text]) => [seq, jsonOrText(text)]))
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
