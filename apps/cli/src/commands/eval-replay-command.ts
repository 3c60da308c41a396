import type { ReplayCause, ReplayedRun } from '@perdure/core'
import { createServer } from '@perdure/server-app'
import type { Call } from '../call.ts'
import { usageError } from '../cli-error.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { parseInstant } from '../flag-time.ts'
import { columnsText, oneLine } from '../output/columns.ts'
import { configBesideDev } from '../server-access/config-beside-dev.ts'

/** The runs with the same first difference. */
interface CauseSummary {
  readonly cause: ReplayCause
  readonly runs: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd: number
}

const FILTERS: readonly string[] = ['since', 'agent', 'workflow']

/** Replays recorded runs against the configuration on disk. Writes nothing, and asks no model. */
export async function evalReplay(call: Call, filter: Readonly<Record<string, string>>): Promise<void> {
  const unknown = Object.keys(filter).find((name) => !FILTERS.includes(name))
  if (unknown !== undefined)
    throw usageError(`--replay has no filter ${unknown}`, `filters: ${FILTERS.join(', ')}, such as since=7d`)
  const { since, agent, workflow } = filter
  if (agent !== undefined && workflow !== undefined)
    throw usageError('--replay takes agent or workflow, not both', 'replay the others with a second command')
  const sinceMs = since === undefined ? undefined : Date.parse(parseInstant('replay since', since, Date.now()))
  const loaded = await call.config()
  const { agents, workflows, skills, mcpServers, adapters, embedder, consolidator, configDir } = loaded
  const server = await createServer({
    ...{ config: configBesideDev(loaded), agents, workflows, skills, mcpServers, consolidator, configDir, adapters },
    ...(embedder === undefined ? {} : { embedder }),
  })
  const runs: ReplayedRun[] = []
  const target = targetOf({ agent, workflow })
  for await (const run of server.replayRuns({ since: sinceMs as never, targetId: target?.id })) {
    if (target === undefined || run.kind === target.kind) runs.push(run)
  }
  if (runs.length === 0 && target !== undefined) requireRegistered(target, { agents, workflows })
  report(call, runs)
}

interface Target {
  readonly kind: 'agent' | 'workflow'
  readonly id: string
}

function targetOf({ agent, workflow }: Readonly<Record<'agent' | 'workflow', string | undefined>>): Target | undefined {
  if (agent !== undefined) return { kind: 'agent', id: agent }
  return workflow === undefined ? undefined : { kind: 'workflow', id: workflow }
}

/** @throws CliError `usage` for an id that the configuration does not have */
function requireRegistered(
  { kind, id }: Target,
  { agents, workflows }: Readonly<Record<'agents' | 'workflows', readonly { readonly id: string }[]>>,
): void {
  const ids = (kind === 'agent' ? agents : workflows).map((one) => one.id)
  if (ids.includes(id)) return
  throw usageError(
    `no ${kind} is named ${id}, and no run of one is stored`,
    `${kind}s: ${[...new Set(ids)].join(', ') || 'none'}`,
  )
}

const isDifferent = ({ cause }: ReplayedRun): boolean => cause !== 'same' && cause !== 'unknown'

function report({ out, finish }: Call, runs: readonly ReplayedRun[]): void {
  const differences = runs.filter(({ cause }) => cause !== 'same').map(({ usage: _, ...run }) => run)
  const ok = !runs.some(isDifferent)
  const causes = [...Map.groupBy(runs, ({ cause }) => cause)].map(([cause, group]) => summaryOf(cause, group))
  out.document({ ok, replayed: runs.length, causes, differences }, (paint) => {
    const table = columnsText(
      causes,
      [
        { head: 'CAUSE', cell: ({ cause }) => cause, isId: true },
        { head: 'RUNS', cell: (one) => one.runs },
        { head: 'TOKENS', cell: ({ inputTokens, outputTokens }) => inputTokens + outputTokens },
        { head: 'COST', cell: ({ costUsd }) => (costUsd === 0 ? '-' : `$${costUsd.toFixed(4)}`) },
      ],
      { paint, width: undefined },
    )
    const lines = differences.map(({ cause, runId, targetId, seq, detail = '' }) => {
      const place = seq === undefined ? '' : `call ${seq}: `
      return `${paint(cause === 'unknown' ? 'yellow' : 'red', cause.padEnd(12))}  ${runId}  ${targetId}  ${place}${oneLine(detail)}\n`
    })
    return `${table}${lines.join('')}`
  })
  if (!ok) finish(EXIT_CODES.problem.code)
}

function summaryOf(cause: ReplayCause, runs: readonly ReplayedRun[]): CauseSummary {
  const sum = (of: 'inputTokens' | 'outputTokens' | 'costUsd') =>
    runs.reduce((total, { usage }) => total + usage[of], 0)
  return {
    ...{ cause, runs: runs.length },
    ...{ inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens'), costUsd: sum('costUsd') },
  }
}
