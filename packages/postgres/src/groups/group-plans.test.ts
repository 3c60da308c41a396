import type { Query } from '@perdure/storage'
import { beforeAll, expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { clientConfig } from '../connection/session.ts'
import { POSTGRES } from '../query/dialect.ts'
import { fillTables } from '../query/query-plans.fixture.ts'
import { createTestSchema } from '../test-schema.fixture.ts'
import { AT_ONCE } from './at-once-statements.ts'
import { LAST_ORDERS, LOCK_RUNS, LOCK_SESSIONS, LOCK_SLOTS, LOCK_STEPS, LOCK_WAITING, RESERVE } from './look.ts'
import { SET_WRITES } from './write-changes.ts'

type Statement = Pick<Query<never, unknown>, 'in'>

const { runs, sessions, steps, messages, runFields, sessionFields, ...others } = SET_WRITES
const { insertRun, insertStep, ...atOnce } = AT_ONCE
const INSERTIONS: readonly Statement[] = [
  ...[runs, sessions, steps, messages, runFields, sessionFields, insertRun, insertStep],
]
const LOOKS = { LAST_ORDERS, LOCK_RUNS, LOCK_SESSIONS, LOCK_SLOTS, LOCK_STEPS, LOCK_WAITING, RESERVE }

/** On the first day of an installation, the tables are empty and have no statistics. */
const STATES = [
  ['without statistics', async () => undefined],
  ['with statistics', fillTables],
] as const

for (const [state, fill] of STATES) {
  needsTool('PostgreSQL').describe(`the plan of a statement of a group, ${state},`, () => {
    const schema = createTestSchema()
    let plans = 0

    beforeAll(async () => {
      await (await schema.open()).close()
      await fill(schema)
      const server = {
        url: 'postgres://127.0.0.1/plans',
        schema: schema.name,
        statementTimeoutMs: 1_000,
        pipeline: false,
      }
      const { options = '' } = clientConfig(server, { name: 'plans', planning: 'pinned' })
      for (const [, setting, value] of options.matchAll(/-c (\w+)=(\S+)/g)) {
        if (setting !== 'search_path') await schema.query(`set ${setting} = '${value}'`)
      }
    })

    const planOf = async (statement: Statement): Promise<string> => {
      const sql = statement.in(POSTGRES).text
      const name = `plan${plans++}`
      const values = new Set(sql.match(/\$\d+/g)).size
      await schema.query(`prepare ${name} as ${sql}`)
      const rows = await schema.query(`explain (costs off) execute ${name}(${Array(values).fill('null').join()})`)
      return rows.map((row) => String(row['QUERY PLAN'])).join('\n')
    }

    it.each(Object.entries(LOOKS))('finds its rows by an index: %s', async (_, statement) => {
      expect(await planOf(statement)).not.toMatch(/Seq Scan|Hash Join|Merge Join|Bitmap/)
    })

    it.each(Object.entries({ ...others, ...atOnce }))('finds its rows by an index: %s', async (_, statement) => {
      const plan = await planOf(statement)

      expect(plan).toMatch(/Index (?:Only )?Scan|Conflict Arbiter Indexes|Function Scan/)
      expect(plan).not.toMatch(/Seq Scan|Hash Join|Merge Join|Bitmap/)
    })

    it('reads no table to insert rows', async () => {
      for (const statement of INSERTIONS) expect(await planOf(statement)).not.toMatch(/Seq Scan|Index/)
    })
  })
}
