import { join } from 'node:path'
import { eventually, startDurableServer } from './durable-server.ts'

const CONFIG = join(import.meta.dirname, 'fixtures/flow-control.config.mjs')

/** The response fields about a run that the tests read; a start request is answered with `runId`. */
export interface FlowRun {
  readonly id: string
  readonly runId: string
  readonly status: string
  readonly priority?: number
  readonly createdAt: string
  readonly startAt?: string
  readonly startedAt?: string
  readonly result?: unknown
  readonly error?: string
  readonly message?: string
}

/** One line of the ledger: code of a run starts or ends. */
export interface LedgerLine {
  readonly what: 'start' | 'end'
  readonly runId: string
  readonly key: string
  readonly pid: string
}

export type FlowServer = Awaited<ReturnType<typeof startFlowServer>>

/** A server with the registrations of the flow control tests. It can be killed and restarted on its database. */
export async function startFlowServer(env: NodeJS.ProcessEnv = {}) {
  const server = await startDurableServer(CONFIG, env)
  const lines = (): readonly LedgerLine[] =>
    server.ledger().map((line) => {
      const [what, runId = '', key = '', pid = ''] = line.split(' ')
      return { what: what as LedgerLine['what'], runId, key, pid }
    })
  const runs = async (runIds: readonly string[]) => {
    const answers = await Promise.all(runIds.map((runId) => server.call<FlowRun>('GET', `/runs/${runId}`)))
    return answers.map(({ body }) => body)
  }

  return {
    ...server,
    lines,
    /** The runs whose code has started, in order, once for each execution. */
    started: () => lines().flatMap(({ what, runId }) => (what === 'start' ? [runId] : [])),
    runs,
    async begin(path: string, body: unknown, more: { readonly token?: string; readonly key?: string } = {}) {
      const { token = server.token, key } = more
      const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
      const answer = await server.call<FlowRun>('POST', path, { body, token, headers })
      if (answer.status !== 202) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body.runId
    },
    async untilCompleted(runIds: readonly string[]) {
      const statuses = async () => (await runs(runIds)).map(({ status }) => status)
      await eventually(statuses).toEqual(runIds.map(() => 'completed'))
    },
  }
}

/**
 * The highest number of executions of a group at the same time, by group. A kill ends the executions of its process.
 *
 * @param groupOf the group of an execution: by default, its key
 */
export function mostAtOnce(lines: readonly LedgerLine[], groupOf = ({ key }: LedgerLine) => key): Map<string, number> {
  const executing = new Map<string, Set<string>>()
  const most = new Map<string, number>()
  for (const line of lines) {
    const group = groupOf(line)
    const id = `${line.pid} ${group}`
    const runIds = executing.get(id) ?? new Set()
    executing.set(id, runIds)
    if (line.what === 'end') runIds.delete(line.runId)
    else runIds.add(line.runId)
    most.set(group, Math.max(most.get(group) ?? 0, runIds.size))
  }
  return most
}

export const timeOf = (timestamp: string | undefined): number => {
  if (timestamp === undefined) throw new Error('the run has no such time')
  return Date.parse(timestamp)
}
