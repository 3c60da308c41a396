import { DatabaseSync } from 'node:sqlite'

/** The largest rows that a server accepts by default, and more of each than a client reads at once. */
export const LARGE = {
  /** Says 50 MB. */
  longRun: 'run_00000000000000000000000LNG',
  /** Has waited for its client 400 times. */
  answeredRun: 'run_00000000000000000000000ANS',
  /** Has 100,000 children. */
  parentRun: 'run_00000000000000000000000PAR',
  /** 1,000 turns of 220 kB. */
  session: 'ses_turns',
  /** The session of the parent and its children. */
  family: 'ses_family',
} as const

const DELTAS = 260
const DELTA_LENGTH = 200_000
const ANSWERS = 400
const TURNS = 1_000
const TURN_LENGTH = 100_000
const CHILDREN = 100_000
const APPROVALS = 400
const APPROVAL_LENGTH = 100_000

/** Fills the database of a server that is not running. */
export function storeLargeRows(path: string, owner: string): void {
  const database = new DatabaseSync(path)
  const now = Date.now()
  const first = 1_000_000
  const [long, answered, parent, child, turn] = [first, first + 1, first + 2, first + 10, first + 10 + CHILDREN]
  database.exec(`PRAGMA synchronous = OFF; BEGIN;
    ${sessionRow(1, LARGE.session, owner, now)} ${sessionRow(2, LARGE.family, owner, now)}
    INSERT INTO run_keys (key, run_id) VALUES (${long}, '${LARGE.longRun}'), (${answered}, '${LARGE.answeredRun}'),
      (${parent}, '${LARGE.parentRun}');
    INSERT INTO run_keys (key, run_id) ${numbers(CHILDREN)} SELECT ${child} + n, printf('run_%026d', n) FROM numbers;
    INSERT INTO run_keys (key, run_id) ${numbers(TURNS)} SELECT ${turn} + n, printf('run_1%025d', n) FROM numbers;

    ${runs(`SELECT ${long} AS key, '${LARGE.longRun}' AS id, NULL AS session, NULL AS parent, 0 AS n, '"hi"' AS text`)}
    ${runs(`SELECT ${answered}, '${LARGE.answeredRun}', NULL, NULL, 0, '"hi"'`)}
    ${runs(`SELECT ${parent}, '${LARGE.parentRun}', '${LARGE.family}', NULL, 0, '"hi"'`)}
    ${runs(`SELECT ${child} + n, printf('run_%026d', n), '${LARGE.family}', '${LARGE.parentRun}', n, '"hi"' FROM numbers`, CHILDREN)}
    ${runs(`SELECT ${turn} + n, printf('run_1%025d', n), '${LARGE.session}', NULL, n, '"${'t'.repeat(TURN_LENGTH)}"' FROM numbers`, TURNS)}

    ${event(long, 'run.started', { status: 'running', attempt: 1 })}
    ${event(long, 'text.start', { messageId: 'm' })}
    ${events(DELTAS, long, 'text.delta', `json_object('messageId', 'm', 'delta', '${'z'.repeat(DELTA_LENGTH)}')`)}
    ${event(long, 'run.completed', { status: 'completed', attempt: 1, finishReason: 'completed' })}

    ${event(parent, 'run.started', { status: 'running', attempt: 1 })}
    ${events(CHILDREN, parent, 'run.child.started', `json_object('childRunId', printf('run_%026d', n), 'agentId', 'echo', 'seq', n)`)}
    ${event(parent, 'run.completed', { status: 'completed', attempt: 1, finishReason: 'completed' })}

    INSERT INTO events (run_key, session_id, type, at, payload) ${numbers(TURNS)}
      SELECT ${turn} + n, '${LARGE.session}', type, ${now}, payload FROM numbers, (
        SELECT 1 AS step, 'run.started' AS type, '{"status":"running","attempt":1}' AS payload
        UNION ALL SELECT 2, 'text.delta', '{"messageId":"m","delta":"${'w'.repeat(20_000)}"}'
        UNION ALL SELECT 3, 'run.completed', '{"status":"completed","attempt":1,"finishReason":"completed"}'
      ) ORDER BY n, step;
    INSERT INTO messages (session_key, seq, id, role, created_at, content) ${numbers(2 * TURNS)}
      SELECT 1, n + 1, 'msg_' || n, 'user', ${now}, '"${'m'.repeat(TURN_LENGTH)}"' FROM numbers;
    UPDATE sessions SET last_seq = ${2 * TURNS} WHERE key = 1;

    INSERT INTO approvals (id, run_id, kind, target_id, owner, name, status, created_at, payload) ${numbers(APPROVALS)}
      SELECT printf('apr_%026d', n), '${LARGE.longRun}', 'agent', 'echo', '${owner}', 'pay', 'pending', ${now} + n,
        '"${'p'.repeat(APPROVAL_LENGTH)}"' FROM numbers;
    COMMIT;`)
  const insert = database.prepare('INSERT INTO events (run_key, type, at, payload) VALUES (?, ?, ?, ?)')
  database.exec('BEGIN')
  const add = (type: string, payload: object) => insert.run(answered, type, now, JSON.stringify(payload))
  add('run.started', { status: 'running', attempt: 1 })
  for (let n = 1; n <= ANSWERS; n++) {
    const toolCallId = `${LARGE.answeredRun}.${n}`
    add('text.complete', { messageId: `m${n}`, text: 'question '.repeat(200) })
    add('tool.call.end', { toolCallId, toolName: 'look-up', args: { n }, executor: 'client' })
    add('run.suspended', { status: 'suspended', attempt: 1, waitingFor: [{ kind: 'client-tool', toolCallId }] })
    add('tool.result', { toolCallId, result: 'answer '.repeat(200) })
    add('run.started', { status: 'running', attempt: 1 })
  }
  add('run.completed', { status: 'completed', attempt: 1, finishReason: 'completed', result: 'done' })
  database.exec('COMMIT')
  database.close()

  function runs(rows: string, count = 1): string {
    return `INSERT INTO runs (key, id, kind, target_id, session_id, parent_run_id, owner, status, finish_reason, attempt,
        created_at, started_at, completed_at, usage, metadata, input, result)
      ${numbers(count)}, rows (key, id, session, parent, n, text) AS (${rows})
      SELECT key, id, 'agent', 'echo', session, parent, '${owner}', 'completed', 'completed', 1, ${now} + n, ${now} + n,
        ${now} + n, '{"inputTokens":0,"outputTokens":0,"costUsd":0,"toolCalls":0}', '{}', text, text FROM rows;`
  }

  function events(count: number, key: number, type: string, payload: string): string {
    return `INSERT INTO events (run_key, type, at, payload) ${numbers(count)}
      SELECT ${key}, '${type}', ${now}, ${payload} FROM numbers;`
  }

  function event(key: number, type: string, payload: object): string {
    return events(1, key, type, `'${JSON.stringify(payload)}'`)
  }
}

const numbers = (count: number): string =>
  `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count - 1})`

const sessionRow = (key: number, id: string, owner: string, now: number): string =>
  `INSERT INTO sessions (key, id, owner, agent_id, last_seq, created_at, updated_at, metadata)
    VALUES (${key}, '${id}', '${owner}', 'echo', 0, ${now}, ${now}, '{}');`
