import { openSession, type Session } from '../../packages/postgres/src/connection/session.ts'
import { pause } from './client.ts'
import type { Leftover } from './history.ts'
import { watchLeftovers } from './leftovers.ts'

export interface ObserverOptions {
  /** The address of the database, past the faulty networks. */
  readonly url: string
  readonly schema: string
  readonly leaseMs: number
  /** The ids of the processes without a fault; `undefined` while the database has one. */
  readonly unhindered: () => ReadonlySet<number> | undefined
}

const EVERY_MS = 200

interface NodeRow {
  readonly id: string
  readonly name: string
  readonly is_living: boolean
}

/** Looks at the database until it is stopped, and returns what belonged to processes without a lease. */
export function observeLeftovers({ url, schema, leaseMs, unhindered }: ObserverOptions) {
  const watch = watchLeftovers(leaseMs)
  const server = { url, schema, statementTimeoutMs: 5_000, pipeline: false }
  let session: Session | undefined
  let isStopped = false

  const rowsOf = async <T>(text: string): Promise<readonly T[]> => {
    session ??= await openSession(server, { name: 'observer', planning: 'default' })
    return (await session.execute({ text, values: [] })).rows as readonly T[]
  }

  const look = async () => {
    const before = unhindered()
    const owned = await rowsOf<{ what: string; owner: string }>(OWNED)
    const nodes = await rowsOf<NodeRow>(NODES)
    const [duty] = await rowsOf<{ node: string }>(RECOVERER)
    const after = unhindered()
    const isFree = ({ name }: NodeRow) => {
      const pid = Number(name.split(' ').at(-1))
      return before?.has(pid) === true && after?.has(pid) === true
    }
    watch.look({
      ...{ atMs: performance.now(), owned, recoverer: duty?.node },
      living: new Set(nodes.filter(({ is_living }) => is_living).map(({ id }) => id)),
      unhindered: new Set(nodes.filter(isFree).map(({ id }) => id)),
    })
  }

  const looking = (async () => {
    for (; !isStopped; await pause(EVERY_MS)) {
      try {
        await look()
      } catch {
        watch.miss()
        await session?.close().catch(() => undefined)
        session = undefined
      }
    }
    await session?.close()
  })()

  return {
    async stop(): Promise<readonly Leftover[]> {
      isStopped = true
      await looking
      return watch.leftovers()
    },
  }
}

/** A row without an owner that lives: read before the owners, so that nothing is missed that changes in between. */
const OWNED = `select 'the run ' || id as what, coalesce(executor, 'nobody') as owner from runs where status = 'running'
  union all
  select 'the key ' || id, executor from idempotency where status is null and run_id is null and executor is not null
  union all
  select 'the slot of the run ' || run_id, 'nobody' from lanes join runs on runs.id = run_id
  where free_at is null and runs.status <> 'running'
  union all
  select 'the duty ' || name, node from duties`

const NODES = `select id, name, lease_until > clock_timestamp() as is_living from nodes where role = 'member'`

const RECOVERER = `select node from duties where name = 'recovery'`
