import type { FinishReason, ListedRun, RunStatus } from '@perdure/protocol'
import type { InferOutput } from 'valibot'
import type { Call } from '../call.ts'
import { parseInstant } from '../duration.ts'
import { type Column, pairsText } from '../output/columns.ts'
import { durationText, relativeText } from '../output/time-text.ts'
import { readInput } from './read-input.ts'
import { type PageFlags, pageQuery, readPage } from './read-page.ts'
import { noteWaits, showOutcome } from './run-result.ts'

export interface RunsListFlags extends PageFlags {
  readonly status?: InferOutput<typeof RunStatus>
  readonly agent?: string
  readonly workflow?: string
  readonly session?: string
  readonly since?: string
  readonly until?: string
  readonly owner?: string
  readonly user?: string
  readonly metadata?: Readonly<Record<string, string>>
  readonly tag?: string
  readonly ofVersion?: string
  readonly reason?: InferOutput<typeof FinishReason>
  readonly code?: string
  readonly idempotencyKey?: string
  readonly include?: string
}

export interface RunFlags {
  readonly run: string
}

type RunRecord = InferOutput<typeof ListedRun>

export async function runsListCommand(call: Call, flags: RunsListFlags): Promise<void> {
  const { status, agent, workflow, session, since, until, owner, user, metadata, tag, ofVersion, reason, code } = flags
  const query = {
    ...pageQuery(flags),
    status,
    agentId: agent,
    workflowId: workflow,
    sessionId: session,
    since: since === undefined ? undefined : parseInstant('since', since, Date.now()),
    until: until === undefined ? undefined : parseInstant('until', until, Date.now()),
    ...{ owner, tag, code, metadata, userId: user, version: ofVersion, finishReason: reason },
    idempotencyKey: flags.idempotencyKey,
    include: flags.include,
  }
  const page = await readPage(call.client().runs.list(query), flags)
  call.out.list(page, [...runColumns(Date.now()), ...startColumns(page.items, Date.now())])
}

export const runColumns = (now: number): readonly Column<RunRecord>[] => [
  { head: 'RUN', cell: ({ id }) => id, isId: true },
  { head: 'OF', cell: ({ agentId, workflowId }) => agentId ?? workflowId },
  { head: 'STATUS', cell: ({ status }) => status, isStatus: true },
  { head: 'TOOK', cell: (run) => tookText(run, now) },
  { head: 'TOKENS', cell: ({ usage }) => usage.inputTokens + usage.outputTokens },
  { head: 'COST', cell: ({ usage }) => (usage.costUsd === 0 ? '-' : `$${usage.costUsd.toFixed(4)}`) },
  { head: 'STARTED', cell: ({ startedAt, createdAt }) => relativeText(startedAt ?? createdAt, now) },
]

/** The columns for priorities and start times, if a run has one. */
function startColumns(runs: readonly RunRecord[], now: number): readonly Column<RunRecord>[] {
  const columns: readonly (Column<RunRecord> & { readonly isSet: (run: RunRecord) => boolean })[] = [
    { head: 'PRIORITY', cell: ({ priority }) => priority, isSet: ({ priority }) => priority !== undefined },
    {
      head: 'STARTS',
      cell: ({ startAt }) => relativeText(startAt, now),
      isSet: ({ startAt }) => startAt !== undefined,
    },
  ]
  return columns.filter(({ isSet }) => runs.some(isSet))
}

/** For a run that has not ended, the time so far. */
function tookText({ startedAt, completedAt }: RunRecord, now: number): string {
  if (startedAt === undefined) return '-'
  const end = completedAt === undefined ? now : Date.parse(completedAt)
  return durationText(Math.max(0, end - Date.parse(startedAt)))
}

export async function runsShowCommand(call: Call, { run: id }: RunFlags): Promise<void> {
  const run = await call.client().runs.get(id)
  const { links: _, ...shown } = run
  call.out.document(run, (paint) => pairsText(Object.entries(shown), paint))
  if (run.status === 'suspended' && !call.out.isJson) noteWaits(call, await call.client().runs.state(id))
}

export async function runsAbortCommand(call: Call, { run, reason }: RunFlags & { reason?: string }): Promise<void> {
  const outcome = await call.client().runs.abort(run, reason === undefined ? {} : { reason })
  call.out.document(outcome, () => `aborted ${outcome.runId}\n`)
}

export async function runsResumeCommand(call: Call, { run, payload }: RunFlags & { payload?: string }): Promise<void> {
  const read = await readInput(call.terminal, 'payload', payload)
  showOutcome(call, await call.client().runs.resume(run, read === undefined ? {} : { payload: read }))
}
