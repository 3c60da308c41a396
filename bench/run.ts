// npm run bench [-- --quick] [--only F1,F2] [--json file]: measures every case and its floor.
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import type { Effort } from './cases/bench-case.ts'
import { CASES } from './cases/cases.ts'
import { toTable } from './harness/report.ts'
import type { Comparison } from './harness/rounds.ts'

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    json: { type: 'string' },
    rounds: { type: 'string' },
  },
})
const isQuick = values.quick
const effort: Effort = {
  rounds: Number(values.rounds ?? (isQuick ? 3 : 5)),
  durationMs: isQuick ? 1_500 : 4_000,
  warmUpMs: isQuick ? 500 : 1_000,
  isQuick,
}
const wanted = values.only?.split(',')
const unknown = wanted?.filter((id) => !CASES.some((one) => one.id === id)) ?? []
if (unknown.length > 0) {
  console.error(`unknown case: ${unknown.join(', ')}; use one of ${CASES.map(({ id }) => id).join(', ')}`)
  process.exit(2)
}

const comparisons: Comparison[] = []
for (const { id, title, run } of CASES) {
  if (wanted !== undefined && !wanted.includes(id)) continue
  console.error(`${id}: ${title}`)
  const rows = await run(effort)
  comparisons.push(...rows)
  console.error(toTable(rows))
}
console.log(toTable(comparisons))
const [cpu] = cpus()
const machine = { cpu: cpu?.model, cores: cpus().length, node: process.version, platform: process.platform }
writeFileSync(values.json ?? 'bench-results.json', `${JSON.stringify({ machine, effort, comparisons }, null, 2)}\n`)
