import { JSON_HEADERS, RUN_BODY, startPerdure } from '../harness/perdure.ts'
import { median } from '../harness/rounds.ts'
import { inFolder } from '../harness/server-process.ts'
import type { BenchCase } from './bench-case.ts'

const SERIES = 3_000
const BUDGET_MS = 5
const SCRAPES = 50

export const scrapes: BenchCase = {
  id: 'F11',
  title: `a scrape of ${SERIES} series`,
  run: () =>
    inFolder(async (folder) => {
      const perdure = await startPerdure({ folder, env: { BENCH_AGENTS: String(SERIES) } })
      const url = `http://127.0.0.1:${perdure.port}/v1`
      try {
        let next = 0
        const runAgents = async () => {
          while (next < SERIES) {
            const path = `${url}/agents/agent-${next++}/run`
            const response = await fetch(path, { method: 'POST', headers: JSON_HEADERS, body: RUN_BODY })
            if (!response.ok) throw new Error(`${path} answered ${response.status}`)
            await response.arrayBuffer()
          }
        }
        await Promise.all(Array.from({ length: 16 }, runAgents))
        const times: number[] = []
        let lines = 0
        for (let count = 0; count < SCRAPES; count++) {
          const startedAt = performance.now()
          const text = await (await fetch(`${url}/metrics`)).text()
          times.push(performance.now() - startedAt)
          lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length
        }
        if (lines < SERIES) throw new Error(`only ${lines} series`)
        const note = `floor: time budget; ${lines} series`
        const subject = [median(times)]
        return [{ case: 'F11', variant: 'scrape', unit: 'ms', floor: [BUDGET_MS], subject, goal: { atMost: 1 }, note }]
      } finally {
        await perdure.stop()
      }
    }),
}
