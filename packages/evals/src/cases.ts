import { readFile } from 'node:fs/promises'
import { basename, extname, resolve } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import {
  type AgentRegistration,
  caseDecisions,
  caseInput,
  type NamedDecision,
  RECORDING_FORMAT,
  type RecordedCall,
  type RunRecording,
  recordingOf,
} from '@perdure/core'
import { runAgent, type TestRun } from '@perdure/server-app/testing'
import { checkCase } from './check-case.ts'
import type { CaseContext } from './define-eval.ts'
import type { EvalCase, SimulatedUser, Turn } from './trial.ts'

/**
 * Reads cases from JSON files: a case, a list of cases, or recordings that `perdure runs export --fixture` wrote. A recorded
 * run is a case with the input of the run, the decisions that were made, and its text as `expected`.
 *
 * @param files file URLs, or paths that are relative to the folder of the file that exports the eval
 */
export const casesFromFiles =
  (...files: readonly (string | URL)[]) =>
  async ({ folder }: CaseContext = { folder: process.cwd() }): Promise<readonly EvalCase[]> => {
    const paths = files.map((file) => (file instanceof URL ? fileURLToPath(file) : resolve(folder, file)))
    const lists = await Promise.all(paths.map(readCases))
    return lists.flat()
  }

async function readCases(file: string): Promise<readonly EvalCase[]> {
  let value: unknown
  try {
    value = JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    throw new Error(`cannot read cases from ${file}: ${problemIn(error)}`)
  }
  const id = basename(file, extname(file))
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  return list.map((one) => {
    if (!isRecording(one)) return checkCase(one, file)
    if (one.isWithoutContent === true)
      throw new Error(
        `${file}: the recording of ${one.run.id} was exported without its content; add --others to perdure runs export --fixture`,
      )
    return caseOfRuns(list.length === 1 ? id : one.run.id, [one])
  })
}

const problemIn = (error: unknown): string =>
  isMissing(error)
    ? 'there is no such file; a path is relative to the folder of the file that exports the eval'
    : String(error instanceof Error ? error.message : error)

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'

const isRecording = (value: unknown): value is RunRecording =>
  typeof value === 'object' && value !== null && 'format' in value && value.format === RECORDING_FORMAT

/** A case that repeats recorded runs: one run with its input, or the runs of a session as the turns of a chat. */
export function caseOfRuns(id: string, recordings: readonly RunRecording[]): EvalCase {
  const decisions = caseDecisions(recordings.flatMap(({ calls }) => decidedIn(calls)))
  const last = recordings.at(-1)
  const expected = last === undefined ? undefined : textOf(last)
  const common = { id, recordings, decisions, ...(expected === undefined ? {} : { expected }) }
  if (recordings.length === 1) return { ...common, input: caseInput(last?.run.input) }
  return { ...common, turns: recordings.map(({ run }): Turn => turnOf(run.input)) }
}

/** The decisions in the order in which the models called the tools, which is the order in which an eval makes them. */
function decidedIn(calls: readonly RecordedCall[]): readonly NamedDecision[] {
  const asked = calls.flatMap((call) =>
    call.kind === 'model' ? call.answer.flatMap((part) => ('toolName' in part ? [part.toolCallId] : [])) : [],
  )
  const made = calls.flatMap((call) => (call.kind === 'decision' && call.decision !== 'expired' ? [call] : []))
  const rankOf = ({ toolCallId }: (typeof made)[number]): number =>
    toolCallId === undefined ? -1 : asked.indexOf(toolCallId)
  return made
    .toSorted((one, other) => rankOf(one) - rankOf(other))
    .map(({ name, decision }) => ({ name, isApproved: decision === 'approved' }))
}

function textOf({ run, calls }: RunRecording): string | undefined {
  const { result } = run
  if (typeof result === 'object' && result !== null && 'text' in result) return String(result.text)
  return calls
    .findLast((call) => call.kind === 'model')
    ?.answer.flatMap((part) => ('text' in part ? [part.text] : []))
    .join('')
}

/** @throws Error for an input without text, which no user of a chat can send */
function turnOf(input: unknown): Turn {
  if (typeof input === 'object' && input !== null && 'text' in input) return String(input.text)
  if (typeof input === 'string') return input
  throw new Error('the session has a run whose input has no text, so the run cannot be a turn of a chat')
}

/** What the cases need of a client of `perdure/client`. */
export interface RunsClient {
  readonly runs: {
    list(query: object): PromiseLike<{ readonly items: readonly { readonly id: string }[] }>
    get(id: string): PromiseLike<RunFacts>
    events(id: string, query: object): { all(): PromiseLike<readonly EventFacts[]> }
  }
}

interface RunFacts {
  readonly id: string
  readonly kind: 'agent' | 'workflow'
  readonly agentId?: string | undefined
  readonly workflowId?: string | undefined
  readonly sessionId?: string | undefined
  readonly input?: unknown
  readonly status: string
  readonly result?: unknown
  readonly error?: unknown
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly costUsd: number }
  readonly createdAt: string
  readonly completedAt?: string | undefined
}

interface EventFacts {
  readonly type: string
  readonly payload?: unknown
  readonly occurredAt?: string
}

/** Cases from the runs of a server that a query of `runs.list` selects, one for each run. */
export const casesFromRuns = (client: RunsClient, query: object) => async (): Promise<readonly EvalCase[]> => {
  const { items } = await client.runs.list({ limit: 100, ...query })
  const recordings = await Promise.all(items.map(({ id }) => recordRun(client, id)))
  return recordings.map((recording) => caseOfRuns(recording.run.id, [recording]))
}

/** A case from a session of a server: each of its runs is a turn. */
export const casesFromSessions =
  (client: RunsClient, ...sessionIds: readonly string[]) =>
  async (): Promise<readonly EvalCase[]> =>
    Promise.all(
      sessionIds.map(async (sessionId) => {
        const { items } = await client.runs.list({ sessionId, limit: 200 })
        const ids = items.map(({ id }) => id).reverse()
        const recordings = await Promise.all(ids.map((id) => recordRun(client, id)))
        return caseOfRuns(sessionId, recordings)
      }),
    )

async function recordRun({ runs }: RunsClient, id: string): Promise<RunRecording> {
  const [run, events] = await Promise.all([runs.get(id), runs.events(id, { limit: 200 }).all()])
  return recordRunOf(run, events)
}

/** The recording of a run, as the API shows it. */
export function recordRunOf(run: RunFacts, events: readonly EventFacts[]): RunRecording {
  const { id, kind, agentId, workflowId, sessionId, input, status, result, error, usage, createdAt, completedAt } = run
  const { inputTokens, outputTokens, costUsd } = usage
  const head = {
    ...{ id, target: { kind, id: agentId ?? workflowId ?? '' } },
    ...(sessionId === undefined ? {} : { sessionId }),
    ...{ input: input ?? null, status },
    ...(result === undefined ? {} : { result }),
    ...(error === undefined ? {} : { error }),
    ...{ usage: { inputTokens, outputTokens, costUsd }, createdAt },
    ...(completedAt === undefined ? {} : { completedAt }),
  }
  return recordingOf(
    head,
    events.map(({ type, payload, occurredAt }) => ({ type, payload, at: occurredAt })),
  )
}

/**
 * A simulated user that an agent plays. The agent gets `{ text }`, what was said so far, and answers with what the user says
 * next. An answer that matches `stopAt` ends the chat.
 */
export function simulatedUser(
  agent: AgentRegistration,
  { stopAt = /^\s*DONE\b/ }: { readonly stopAt?: RegExp } = {},
): SimulatedUser {
  return async ({ said }) => {
    const text =
      said.map(({ by, text }) => `${by}: ${text}`).join('\n') || 'The chat begins. Write the first message of the user.'
    const run = (await runAgent(agent as never, { text } as never)) as TestRun
    const { result } = run
    const next =
      typeof result === 'object' && result !== null && 'text' in result ? String(result.text) : String(result ?? '')
    return next === '' || stopAt.test(next) ? undefined : next
  }
}
