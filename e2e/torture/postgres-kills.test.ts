import { expect } from 'vitest'
import { needsTool } from '../../tooling/needed-tool.ts'
import { startPostgres } from '../../tooling/postgres-server.ts'
import { createSandbox } from '../perdure-process.ts'
import { runKills } from './kills.ts'
import { seedOf } from './seed.ts'

const KILLS = Number(process.env.E2E_POSTGRES_KILLS ?? 6)
const RESTARTS = Number(process.env.E2E_POSTGRES_RESTARTS ?? 4)

needsTool('postgres').describe('the mixed load of the clients', () => {
  needsTool('postgres').it(
    'keeps acknowledged work and repeats nothing when the server is killed and PostgreSQL crashes',
    async () => {
      const database = await startPostgres()
      try {
        const { violations, outages, ...counts } = await runKills({
          seed: seedOf(),
          sandbox: createSandbox({ E2E_DATABASE_URL: database.url }),
          kills: KILLS,
          restarts: RESTARTS,
          workers: 8,
          uptimeMs: [50, 500],
          async restartDatabase() {
            database.stop('immediate')
            await database.start()
          },
        })

        console.log(JSON.stringify({ ...counts, slowestStartMs: outages.at(-1) }))
        expect(violations).toEqual([])
        expect(counts).toMatchObject({ kills: KILLS + 1, restarts: RESTARTS })
        expect(counts.actions).toBeGreaterThanOrEqual(8)
      } finally {
        database.remove()
      }
    },
  )
})
