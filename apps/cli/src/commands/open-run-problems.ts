import type { CheckedRun, RunForecast } from '@perdure/core'
import type { ServerConfig } from '@perdure/protocol'
import { createServer } from '@perdure/server-app'
import type { LoadedConfig } from '../config/load-config.ts'
import { missingCodeText } from './wait-text.ts'

/** A run that the configuration cannot continue, or for which this is unknown. */
export interface OpenRunProblem {
  readonly runId: string
  readonly target: string
  readonly status: string
  readonly problem: RunForecast['kind']
  readonly detail: string
}

export interface CheckedRuns {
  readonly checked: number
  readonly problems: readonly OpenRunProblem[]
}

/** Replays the open runs of the storage against the registrations. Writes nothing. @throws StartError */
export async function openRunProblems(loaded: LoadedConfig, config: ServerConfig): Promise<CheckedRuns> {
  const { agents, workflows, skills, mcpServers, adapters, embedder, consolidator, configDir } = loaded
  const server = await createServer({
    ...{ config, agents, workflows, skills, mcpServers, consolidator, configDir, adapters },
    ...(embedder === undefined ? {} : { embedder }),
  })
  const problems: OpenRunProblem[] = []
  let checked = 0
  for await (const run of server.checkRuns()) {
    checked++
    if (run.forecast.kind !== 'continues') problems.push(problemOf(run))
  }
  return { checked, problems }
}

/** Whether the run would not continue; nothing is known about the others. */
export const isStranded = ({ problem }: OpenRunProblem): boolean => problem !== 'unknown'

const problemOf = ({ runId, kind, targetId, version, status, forecast }: CheckedRun): OpenRunProblem => ({
  runId,
  target: `${kind} ${targetId}${version === undefined ? '' : ` version ${version}`}`,
  status,
  problem: forecast.kind,
  detail: detailOf(forecast),
})

function detailOf(forecast: RunForecast): string {
  if (forecast.kind === 'fails') return forecast.message
  if (forecast.kind === 'unregistered') return 'its code is not registered'
  if (forecast.kind !== 'parks') return 'its code waits for something that is not a durable call'
  return missingCodeText(forecast.reason)
}
