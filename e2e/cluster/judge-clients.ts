import { isDeepStrictEqual } from 'node:util'
import { type Dump, type Exchange, type History, isOver } from './history.ts'

/** A revoked token may be accepted for this long after its revocation was acknowledged. */
const REVOCATION_MS = 1_000

/** Others may need this long to take over the work of a process whose lease has run out. */
const RECOVERY_MS = 3_000

/** The promises about requests, streams and tokens, each with its violations. */
export const judgeClients = {
  'each key has one run and one answer': ({ exchanges }: History, { runs, repeated, executingKeys }: Dump) => {
    const answers = new Map<string, Set<string>>()
    const started = new Map<string, Set<string>>()
    for (const exchange of exchanges) {
      const { key, status, text } = exchange
      if (key === undefined || status >= 300) continue
      if (!isCutShort(exchange)) answers.set(key, (answers.get(key) ?? new Set()).add(`${status} ${text}`))
      const { runId } = bodyOf(exchange)
      if (runId !== undefined) started.set(key, (started.get(key) ?? new Set()).add(runId))
    }
    const violations = executingKeys.map((key) => `the key ${key} is still executing`)
    for (const [key, seen] of answers) {
      const again = repeated.get(key)
      if (again !== undefined) seen.add(again.answer)
      if (seen.size > 1) violations.push(`the key ${key} was answered ${[...seen].join(' and ')}`)
      if (again?.isReplayed === false) violations.push(`the key ${key} was forgotten`)
    }
    for (const [key, runIds] of started) {
      if (runIds.size > 1) violations.push(`the key ${key} started the runs ${[...runIds]}`)
    }
    for (const [name, same] of Map.groupBy(runs, (run) => run.name)) {
      if (name !== undefined && same.length > 1) {
        violations.push(`the request ${name} started the runs ${same.map(({ id }) => id)}`)
      }
    }
    return violations
  },

  'nothing acknowledged is missing': ({ exchanges }: History, { runs, sessions, audit }: Dump) => {
    const byId = new Map(runs.map((run) => [run.id, run]))
    const titles = lastTitles(exchanges)
    const missing = [...titles].flatMap(([id, title]) => {
      const session = sessions.get(id)
      if (session === undefined) return [`the session ${id}`]
      return session.title === title ? [] : [`the session ${id} has the title ${session.title} instead of ${title}`]
    })
    const others = exchanges.flatMap((exchange) => {
      if (exchange.status >= 300) return []
      const { method, path } = exchange
      const body = bodyOf(exchange)
      const violations: string[] = []
      if (body.runId !== undefined) {
        const run = byId.get(body.runId)
        if (run === undefined) return [`${method} ${path} returned the run ${body.runId}`]
        for (const field of ['status', 'finishReason', 'result'] as const) {
          if (!isOver(body.status ?? '') || body[field] === undefined) continue
          if (!isDeepStrictEqual(body[field], run[field])) {
            const [now, then] = [JSON.stringify(run[field]), JSON.stringify(body[field])]
            violations.push(`${field} of the run ${run.id} is ${now}, and was ${then} in the response`)
          }
        }
      }
      const entry = auditEntryOf(exchange, body.id)
      if (entry !== undefined && !audit.entries.has(entry)) violations.push(`the audit entry ${entry}`)
      return violations
    })
    return [...missing, ...others]
  },

  'a client that only follows cursors receives each event once, in order': (
    { readings }: History,
    { followed }: Dump,
  ) =>
    readings.flatMap(({ reader, eventIds, gaps }) => {
      const violations = gaps === 0 ? [] : [`${reader} received ${gaps} gaps`]
      const [first] = eventIds
      if (first === undefined) return [...violations, `${reader} received nothing`]
      const expected = followed.slice(followed.indexOf(first))
      const index = expected.findIndex((eventId, at) => eventId !== eventIds[at])
      if (index !== -1) violations.push(`${reader} received ${eventIds[index]} instead of ${expected[index]}`)
      if (eventIds.length > expected.length) violations.push(`${reader} received more events than there are`)
      return violations
    }),

  'a revoked token is refused': ({ exchanges, revocations }: History) => {
    const revokedAt = new Map(revocations.map(({ token, acknowledgedAt }) => [token, acknowledgedAt]))
    return exchanges.flatMap(({ token, status, sentAt, path }) => {
      const lateMs = sentAt - (revokedAt.get(token) ?? Number.POSITIVE_INFINITY)
      if (status >= 300 || lateMs <= REVOCATION_MS) return []
      return [`the token ${token} was accepted for ${path} ${lateMs} ms after its revocation`]
    })
  },

  'a ticket opens one socket': ({ ticketUses }: History) =>
    ticketUses.flatMap(({ name, accepted }) => (accepted > 1 ? [`the ticket ${name} opened ${accepted} sockets`] : [])),

  'the audit chain verifies': (_: History, { audit }: Dump) => (audit.ok ? [] : ['it does not verify']),

  'nothing belongs to a dead process': ({ leftovers }: History) =>
    leftovers.flatMap(({ what, ms }) => (ms > RECOVERY_MS ? [`${what} for ${ms} ms`] : [])),
} satisfies Record<string, (history: History, dump: Dump) => readonly string[]>

/** A server that drains answers callers that wait for a queued run. This is not the answer of their key. */
const isCutShort = ({ path, status }: Exchange): boolean => status === 202 && /^\/agents\/[^/]+\/run$/.test(path)

interface Acknowledged {
  readonly id?: string
  readonly runId?: string
  readonly status?: string
  readonly finishReason?: string | null
  readonly result?: unknown
  readonly title?: string
}

const bodyOf = ({ text }: Exchange): Acknowledged => (text.startsWith('{') ? JSON.parse(text) : {})

/** The title that each session got last. A session has one client, so its responses are in the order of the changes. */
function lastTitles(exchanges: readonly Exchange[]): ReadonlyMap<string, string> {
  const titles = new Map<string, string>()
  const seen = new Set<string>()
  for (const exchange of exchanges) {
    const { method, path, key = '', status } = exchange
    if (!path.startsWith('/sessions') || status >= 300 || !['POST', 'PATCH'].includes(method)) continue
    const { id, title } = bodyOf(exchange)
    if (id !== undefined && title !== undefined && !seen.has(key)) titles.set(id, title)
    seen.add(key)
  }
  return titles
}

/** The action and target of the audit entry that a privileged request must leave. */
function auditEntryOf({ method, path }: Exchange, id: string | undefined): string | undefined {
  const [, group, of, verb] = path.split('/')
  if (group === 'tokens' && method === 'DELETE') return `tokens.revoke ${of}`
  if (group === 'tokens' && method === 'POST') return `tokens.create ${id}`
  if (group === 'approvals' && verb === 'resolve') return `approvals.resolve ${of}`
  if (group === 'triggers' && verb === 'fire') return `triggers.fire ${of}`
  return undefined
}
