import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Replaces a text that occurs once in a file. */
export interface Edit {
  readonly file: string
  readonly find: string
  readonly replace: string
}

const POSTGRES = 'packages/postgres/src'
const STORAGE = 'packages/storage/src'
const LOG_LOCK = `select pg_advisory_xact_lock(${0x62_65_72_74}, hashtext(current_schema()))`

const WITHOUT_LOG_LOCK: Edit = {
  file: `${POSTGRES}/query/locks.ts`,
  find: "log: lock('log'),",
  replace: 'log: compile(() => sql`select 1`),',
}

const WITHOUT_LINEAGES: Edit = {
  file: `${POSTGRES}/connection/server-history.ts`,
  find: '!found.lineages.includes(lineage)',
  replace: "lineage === ''",
}

/**
 * Faults that leave out one protection of the cluster each. The attack, or a test that the README names, must find each
 * of them. `node e2e/cluster/planted-faults.ts NAME` plants one in this working tree; then build, attack, and restore.
 */
export const PLANTED_FAULTS = {
  'node-row': [
    {
      file: `${POSTGRES}/host/transaction.ts`,
      find: '  if (node !== undefined) return\n  throw leaseLost()',
      replace: '  if (node !== undefined || node === undefined) return\n  throw leaseLost()',
    },
    {
      file: `${POSTGRES}/groups/commit-at-once.ts`,
      find: 'Promise.all([session.execute(BEGIN), db.run(AT_ONCE.holdNode, marker)])',
      replace: 'Promise.all([session.execute(BEGIN)])',
    },
  ],
  'tail-hold': [
    {
      file: `${POSTGRES}/tail/create-tail.ts`,
      find: 'if (events.length > 0) await untilAnswered()',
      replace: 'if (events.length < 0) await untilAnswered()',
    },
  ],
  'older-primary': [
    {
      file: `${POSTGRES}/connection/server-history.ts`,
      find: 'found.timeline < before.timeline) {',
      replace: 'found.timeline < 0) {',
    },
    WITHOUT_LINEAGES,
  ],
  'forked-primary': [WITHOUT_LINEAGES],
  'any-clock': [
    {
      file: 'packages/core/src/lifecycle/trusted-clock.ts',
      find: 'if (Math.abs(offset - trusted) <= MAX_CLOCK_SKEW_MS) follow(offset)',
      replace: 'if (Math.abs(offset - trusted) >= 0) follow(offset)',
    },
  ],
  'claim-reservation': [
    {
      file: `${POSTGRES}/cluster/queued-runs.ts`,
      find: 'const UNCLAIMED = sql`executor is null or not exists (select from nodes where nodes.id = runs.executor)`',
      replace: 'const UNCLAIMED = sql`true`',
    },
  ],
  'approval-fence': [
    {
      file: `${STORAGE}/approvals/approval-writes.ts`,
      find: 'for (const id of ids) {',
      replace: 'for (const id of ids.slice(0, 0)) {',
    },
  ],
  execution: [
    {
      file: `${POSTGRES}/groups/evaluate.ts`,
      find: 'if (execution !== undefined && run.execution !== execution) return ALONE',
      replace: '',
    },
    {
      file: `${POSTGRES}/groups/evaluate.ts`,
      find: 'attempt && (execution === undefined || run.execution === execution)',
      replace: 'attempt && (execution === execution)',
    },
    {
      file: `${POSTGRES}/groups/at-once-statements.ts`,
      find: `(\${param('expectedExecution')}::integer is null or execution = \${param('expectedExecution')})`,
      replace: `(\${param('expectedExecution')}::integer is null or true)`,
    },
    {
      file: `${POSTGRES}/groups/at-once-statements.ts`,
      find: `(\${param('execution')}::integer is null or execution = \${param('execution')})`,
      replace: `(\${param('execution')}::integer is null or true)`,
    },
    {
      file: `${STORAGE}/runs/run-writes.ts`,
      find: '  execution === undefined || state.execution === execution',
      replace: '  execution === undefined || state.execution > 0 || execution >= 0',
    },
  ],
  'bare-sequence': [
    WITHOUT_LOG_LOCK,
    {
      file: `${POSTGRES}/host/append-events.ts`,
      find: `select greatest(\${param('known')}::bigint, (
        select position from events where position >= \${param('known')}::bigint order by position desc limit 1
      )) + number, run_id`,
      replace: `select nextval('planted') + 0 * \${param('known')}::bigint, run_id`,
    },
    {
      file: `${POSTGRES}/migrations/from-0001.ts`,
      find: "name: 'log',\n    sql: `\n",
      replace: "name: 'log',\n    sql: `\nCREATE SEQUENCE planted;\n",
    },
  ],
  'lock-with-insertion': [
    WITHOUT_LOG_LOCK,
    {
      file: `${POSTGRES}/host/append-events.ts`,
      find: `    select greatest(\${param('known')}::bigint, (`,
      replace: `    select (select count(*) - 1 from (${LOG_LOCK}) as held) + greatest(\${param('known')}::bigint, (`,
    },
  ],
} as const satisfies Record<string, readonly Edit[]>

const ROOT = join(import.meta.dirname, '../..')

/** The text of the file with the edit. @throws Error unless the text to replace occurs exactly once */
export function edited({ file, find, replace }: Edit): string {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const parts = text.split(find)
  if (parts.length !== 2) throw new Error(`${file} contains ${parts.length - 1} times: ${find}`)
  return parts.join(replace)
}

const isName = (name: string | undefined): name is keyof typeof PLANTED_FAULTS =>
  name !== undefined && Object.hasOwn(PLANTED_FAULTS, name)

if (import.meta.main) {
  const [name] = process.argv.slice(2)
  if (!isName(name)) throw new Error(`name one of ${Object.keys(PLANTED_FAULTS).join(', ')}`)
  for (const edit of PLANTED_FAULTS[name]) writeFileSync(join(ROOT, edit.file), edited(edit))
}
