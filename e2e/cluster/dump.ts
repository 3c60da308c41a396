import type { Client, Shown } from './client.ts'
import type { Dump, DumpedRun } from './history.ts'

/** Reads through the API what is stored, and repeats each request that has a key. */
export async function readDump(client: Client, executingKeys: readonly string[]): Promise<Dump> {
  const repeated = new Map<string, { readonly answer: string; readonly isReplayed: boolean }>()
  await eachAtOnce([...client.keyed], async ([key, asked]) => {
    const { status, text, isReplayed } = await client.ask(asked)
    repeated.set(key, { answer: `${status} ${text}`, isReplayed })
  })
  const runs: DumpedRun[] = []
  await eachAtOnce(await everyItem(client, '/runs?include=input,result'), async (run) => {
    runs.push(await dumpRun(client, run))
  })
  const sessions = await everyItem(client, '/sessions')
  const entries = await everyItem(client, '/audit')
  return {
    ...{ runs, executingKeys, repeated },
    sessions: new Map(sessions.map(({ id, title }) => [id, { title }])),
    followed: (await everyItem(client, '/sessions/hall/replay', 'POST')).map(({ eventId }) => eventId),
    fires: await everyItem(client, '/triggers/beat/fires'),
    audit: {
      ok: (await client.ask({ path: '/audit/verify' })).body.ok,
      entries: new Set(
        entries.flatMap(({ action, target, decision }) => (decision === 'allowed' ? [`${action} ${target}`] : [])),
      ),
    },
  }
}

async function dumpRun(client: Client, run: Shown): Promise<DumpedRun> {
  const events = await everyItem(client, `/runs/${run.id}/events`)
  const { name } = run.input ?? {}
  const { scheduledAt } = run.metadata
  return {
    ...{ id: run.id, targetId: run.agentId ?? run.workflowId ?? '', status: run.status },
    ...{ finishReason: run.finishReason, attempt: run.attempt, result: run.result, events },
    ...(name === undefined ? {} : { name }),
    ...(scheduledAt === undefined ? {} : { scheduledAt }),
  }
}

/** Reads all pages of a list, by GET or by POST with order and cursor in the body. */
async function everyItem(client: Client, path: string, method: 'GET' | 'POST' = 'GET'): Promise<readonly Shown[]> {
  const items: Shown[] = []
  let cursor: string | undefined
  do {
    const page = { order: 'asc', limit: 200, ...(cursor === undefined ? {} : { cursor }) }
    const query = new URLSearchParams(Object.entries(page).map(([name, value]): [string, string] => [name, `${value}`]))
    const separator = path.includes('?') ? '&' : '?'
    const asked = method === 'GET' ? { method, path: `${path}${separator}${query}` } : { method, path, body: page }
    const { status, body } = await client.ask(asked)
    if (status !== 200) return items
    items.push(...body.items)
    cursor = body.nextCursor ?? undefined
  } while (cursor !== undefined)
  return items
}

const AT_ONCE = 8

async function eachAtOnce<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const rest = [...all]
  const lane = async () => {
    for (let one = rest.shift(); one !== undefined; one = rest.shift()) await work(one)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
}
