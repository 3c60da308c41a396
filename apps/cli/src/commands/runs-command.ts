import type { FinishReason, RunStatus } from '@perdure/protocol'
import type { InferOutput } from 'valibot'
import type { Call } from '../call.ts'
import { instantIn } from '../flag-time.ts'
import type { ItemOf } from '../manifest/operation-types.ts'
import { type Columns, id, pairsText, status } from '../output/columns.ts'
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

export async function runsListCommand(call: Call, flags: RunsListFlags): Promise<void> {
  const { status, agent, workflow, session, since, until, owner, user, metadata, tag, ofVersion, reason, code } = flags
  const query = {
    ...pageQuery(flags),
    status,
    agentId: agent,
    workflowId: workflow,
    sessionId: session,
    since: instantIn('since', since),
    until: instantIn('until', until),
    ...{ owner, tag, code, metadata, userId: user, version: ofVersion, finishReason: reason },
    idempotencyKey: flags.idempotencyKey,
    include: flags.include,
  }
  const page = await readPage(call.client().runs.list(query), flags)
  call.out.list(page, { ...RUN_COLUMNS, ...startColumns(page.items) })
}

export const RUN_COLUMNS = {
  RUN: id('id'),
  OF: ({ agentId, workflowId }) => agentId ?? workflowId,
  STATUS: status('status'),
  TOOK: (run) => tookText(run, Date.now()),
  TOKENS: ({ usage }) => usage.inputTokens + usage.outputTokens,
  COST: ({ usage }) => (usage.costUsd === 0 ? '-' : `$${usage.costUsd.toFixed(4)}`),
  STARTED: ({ startedAt, createdAt }) => relativeText(startedAt ?? createdAt),
} satisfies Columns<ItemOf<'runs.list'>>

/** The columns for priorities and start times, if a run has one. */
const startColumns = (runs: readonly ItemOf<'runs.list'>[]): Columns<ItemOf<'runs.list'>> => ({
  ...(runs.some(({ priority }) => priority !== undefined) ? { PRIORITY: 'priority' } : {}),
  ...(runs.some(({ startAt }) => startAt !== undefined) ? { STARTS: ({ startAt }) => relativeText(startAt) } : {}),
})

/** For a run that has not ended, the time so far. */
function tookText({ startedAt, completedAt }: ItemOf<'runs.list'>, now: number): string {
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

export async function runsResumeCommand(call: Call, { run, payload }: RunFlags & { payload?: string }): Promise<void> {
  const read = await readInput(call.terminal, 'payload', payload)
  showOutcome(call, await call.client().runs.resume(run, read === undefined ? {} : { payload: read }))
}
