import type { CheckedRun, RunForecast } from '@perdure/core'
import { createServer } from '@perdure/server-app'
import type { Call } from '../call.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { configBesideDev } from '../server-access/config-beside-dev.ts'
import { missingCodeText } from './wait-text.ts'

/** A run that the configuration cannot continue, or for which this is unknown. */
interface Problem {
  readonly runId: string
  readonly target: string
  readonly status: string
  readonly problem: RunForecast['kind']
  readonly detail: string
}

/** Exits 1 if open runs would not continue with the configuration on disk. Writes nothing. */
export async function workflowsCheckCommand({ config, out, finish }: Call): Promise<void> {
  const loaded = await config()
  const { agents, workflows, skills, mcpServers, adapters, embedder, consolidator, configDir } = loaded
  const server = await createServer({
    ...{ config: configBesideDev(loaded), agents, workflows, skills, mcpServers, consolidator, configDir, adapters },
    ...(embedder === undefined ? {} : { embedder }),
  })
  const problems: Problem[] = []
  let checked = 0
  for await (const run of server.checkRuns()) {
    checked++
    if (run.forecast.kind !== 'continues') problems.push(problemOf(run))
  }
  const isOk = problems.every(({ problem }) => problem === 'unknown')
  out.document({ ok: isOk, checked, problems }, (paint) => {
    const lines = problems.map(
      ({ runId, target, status, problem, detail }) =>
        `${paint(problem === 'unknown' ? 'yellow' : 'red', problem.padEnd(12))}  ${runId}  ${target}  ${status}  ${detail}\n`,
    )
    return [...lines, `${checked} open runs checked, ${problems.length} with a problem\n`].join('')
  })
  if (!isOk) finish(EXIT_CODES.failed.code)
}

const problemOf = ({ runId, kind, targetId, version, status, forecast }: CheckedRun): Problem => ({
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
