import type { Call } from '../call.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { configBesideDev } from '../server-access/config-beside-dev.ts'
import { isStranded, openRunProblems } from './open-run-problems.ts'

/** Exits 1 if open runs would not continue with the configuration on disk. Writes nothing. */
export async function workflowsCheckCommand({ config, out, finish }: Call): Promise<void> {
  const loaded = await config()
  const { checked, problems } = await openRunProblems(loaded, configBesideDev(loaded))
  const isOk = !problems.some(isStranded)
  out.document({ ok: isOk, checked, problems }, (paint) => {
    const lines = problems.map(
      (one) =>
        `${paint(isStranded(one) ? 'red' : 'yellow', one.problem.padEnd(12))}  ${one.runId}  ${one.target}  ${one.status}  ${one.detail}\n`,
    )
    return [...lines, `${checked} open runs checked, ${problems.length} with a problem\n`].join('')
  })
  if (!isOk) finish(EXIT_CODES.failed.code)
}
