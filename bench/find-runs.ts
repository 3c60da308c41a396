// node --conditions=perdure-source bench/find-runs.ts [runs]
// Fills a database with runs (default: 1,000,000) and sessions, and measures the lists that a filter narrows. For each
// filter it prints the latency of the first page and of a page in the middle of the list, and checks the query plan.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type EpochMs,
  EVERY_ROW,
  type PageQuery,
  type RunFilter,
  type SessionFilter,
  type Visibility,
} from '@perdure/ports'
import { openSqliteStorage } from '@perdure/sqlite'
import Database from 'better-sqlite3'
import { SQLITE } from '../packages/sqlite/src/query/dialect.ts'
import { listQuery, runPaths, sessionListQuery, sessionPaths } from '../packages/storage/src/queries.ts'
import { at, fillRuns, idOf, OWN_AGENT, RARE_RUNS, SESSIONS, TINY } from './harness/found-runs.ts'

const RUNS = Number(process.argv[2] ?? 1_000_000)
const ROUNDS = 100
const GOAL_MS = 20

const completed: RunFilter = { statuses: ['completed'] }
const failed: RunFilter = { statuses: ['failed'] }
const middle = { since: at(RUNS / 2) as EpochMs, until: at(RUNS / 2 + 1_000) as EpochMs }

const RUN_LISTS: readonly (readonly [RunFilter, Visibility?])[] = [
  [{}],
  [{}, { owner: 'alice' }],
  [{}, { owner: TINY }],
  [{ kind: 'agent', targetId: 'triage' }],
  [{ kind: 'workflow', targetId: 'nightly' }],
  [{ sessionId: 'ses_7' }],
  [{ sessionId: 'ses_0', userId: 'popular' }],
  [{ owner: 'alice' }],
  [{ owner: TINY }],
  [{ userId: 'popular' }],
  [{ userId: 'user-17' }],
  [{ userId: 'nobody' }],
  [{ metadata: { env: 'prod' } }],
  [{ metadata: { ticket: '17' } }],
  [{ metadata: { rare: '1' } }],
  [{ tag: 'slow' }],
  [{ version: '2' }],
  [{ code: 'timeout' }],
  [{ finishReason: 'error' }],
  [{ finishReason: 'completed' }],
  [middle],
  [completed],
  [failed],
  [{ statuses: ['suspended'] }],
  // two conditions, one of which most runs meet
  [{ ...completed, metadata: { rare: '1' } }],
  [{ metadata: { env: 'prod', rare: '1' } }],
  [{ metadata: { env: 'prod', ticket: '17' }, userId: 'popular' }],
  [{ owner: 'alice', userId: 'user-17' }],
  [{ owner: TINY, userId: 'popular' }],
  [{ owner: TINY, metadata: { env: 'prod' } }],
  [{ owner: TINY, ...completed }],
  [{ owner: TINY, kind: 'agent', targetId: 'triage' }],
  [{ code: 'timeout', ...middle }],
  [{ code: 'run-failed', kind: 'agent', targetId: OWN_AGENT }],
  [{ ...failed, kind: 'agent', targetId: OWN_AGENT }],
  [{ ...failed, kind: 'agent', targetId: 'triage' }],
  [{ ...failed, metadata: { env: 'prod' } }],
  [{ ...failed, owner: TINY }],
  [{ statuses: ['queued'], kind: 'agent', targetId: 'triage' }],
  [{ statuses: ['suspended'], metadata: { env: 'prod' } }],
  // a caller with narrow scopes
  [{ metadata: { env: 'prod' } }, { owner: TINY }],
  [{ metadata: { rare: '1' } }, { owner: 'alice' }],
  [{ userId: 'popular' }, { owner: TINY }],
  [completed, { owner: TINY }],
  [failed, { owner: TINY }],
  [{ kind: 'agent', targetId: 'triage' }, { owner: TINY }],
  [{ tag: 'slow' }, { agentIds: [OWN_AGENT] }],
  [{ metadata: { env: 'prod' } }, { agentIds: [OWN_AGENT] }],
  [{ finishReason: 'error' }, { owner: TINY }],
  // conditions that many runs meet, but no run meets both
  [{ owner: 'alice', metadata: { env: 'test' } }],
]

const SESSION_LISTS: readonly (readonly [SessionFilter, Visibility?])[] = [
  [{}],
  [{}, { owner: TINY }],
  [{ userId: 'popular' }],
  [{ userId: 'user-17' }],
  [{ agentId: 'triage' }],
  [{ agentId: OWN_AGENT }],
  [{ metadata: { env: 'prod' } }],
  [{ metadata: { ticket: '17' } }],
  [{ metadata: { env: 'prod', rare: '1' } }],
  [{ metadata: { env: 'prod' }, userId: 'user-17' }],
  [{ agentId: 'triage', userId: 'user-17' }],
  [{ agentId: 'triage' }, { owner: TINY }],
  [{ metadata: { env: 'prod' } }, { owner: TINY }],
]

const folder = mkdtempSync(join(tmpdir(), 'perdure-bench-'))
const path = process.env.FOUND_RUNS_DB ?? join(folder, 'data.db')
await (await openSqliteStorage({ path })).close()
const filledMs = fillRuns(path, RUNS)
const storage = await openSqliteStorage({ path })
const plans = new Database(path, { readonly: true })
console.log(
  `${RUNS} runs, ${SESSIONS} sessions, ${RARE_RUNS} rare; filled in ${filledMs} ms, ${statSync(path).size} bytes`,
)
console.log(
  '| list | visible | first page p50 / p99 ms | from the middle p50 / p99 ms | rows | index |\n|---|---|---|---|---|---|',
)

let late = 0
for (const [filter, visibility = EVERY_ROW] of RUN_LISTS) {
  const list = (page: PageQuery) => storage.runs.outline(filter, { ...page, content: [] }, visibility)
  const queries = [undefined, ...runPaths({ filter, visibility })].map((path) =>
    listQuery({ filter, page: { limit: 51, order: 'desc', cursor: '1.a' }, visibility }, path && { path }),
  )
  await report('runs', { filter, visibility, list, checked: queries.map((query) => planOf(query.in(SQLITE).text)) })
}
for (const [filter, visibility = EVERY_ROW] of SESSION_LISTS) {
  const list = (page: PageQuery) => storage.sessions.list(filter, page, visibility)
  const queries = [undefined, ...sessionPaths({ filter, visibility })].map((path) =>
    sessionListQuery({ filter, page: { limit: 51, order: 'desc', cursor: '1.a' }, visibility }, path),
  )
  await report('sessions', { filter, visibility, list, checked: queries.map((query) => planOf(query.in(SQLITE).text)) })
}
plans.close()
await storage.close()
rmSync(folder, { recursive: true })
console.log(`${late} pages later than ${GOAL_MS} ms`)

interface Listed {
  readonly filter: RunFilter | SessionFilter
  readonly visibility: Visibility
  readonly list: (page: PageQuery) => Promise<{ readonly items: readonly unknown[] }>
  /** The plan of each index that the list can walk. */
  readonly checked: readonly string[]
}

async function report(noun: string, { filter, visibility, list, checked }: Listed): Promise<void> {
  const first = await measure(list, { limit: 50, order: 'desc' })
  const deep = await measure(list, { limit: 50, order: 'desc', cursor: `${at(RUNS / 2)}.${idOf(RUNS / 2)}` })
  late += [first, deep].filter(({ p99 }) => p99 > GOAL_MS).length
  const sorted = checked.filter((plan) =>
    /TEMP B-TREE(?! FOR LAST TERM)|SCAN (?!runs USING INDEX runs_by_creation|sessions USING INDEX sessions_by_creation|json_each)/.test(
      plan,
    ),
  )
  const seen = visibility === EVERY_ROW ? 'all' : JSON.stringify(visibility)
  const plan = sorted.length === 0 ? 'yes' : `NO: ${sorted[0]}`
  const text = ({ p50, p99 }: Figures) => `${p50.toFixed(2)} / ${p99.toFixed(2)}`
  console.log(
    `| ${noun} ${JSON.stringify(filter)} | ${seen} | ${text(first)} | ${text(deep)} | ${first.rows} | ${plan} |`,
  )
}

interface Figures {
  readonly p50: number
  readonly p99: number
  readonly rows: number
}

async function measure(list: Listed['list'], page: PageQuery): Promise<Figures> {
  const times: number[] = []
  let rows = 0
  for (let round = 0; round < ROUNDS; round++) {
    const from = performance.now()
    rows = (await list(page)).items.length
    times.push(performance.now() - from)
    if (round >= 4 && times.reduce((sum, ms) => sum + ms) > 5_000) break
  }
  times.sort((a, b) => a - b)
  const rank = (share: number) => times[Math.floor(share * (times.length - 1))] ?? 0
  return { p50: rank(0.5), p99: rank(0.99), rows }
}

function planOf(sql: string): string {
  const values = Array.from(sql.matchAll(/\?/g), () => null)
  const steps = plans.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(values) as { detail: string }[]
  return steps.map(({ detail }) => detail).join('; ')
}
