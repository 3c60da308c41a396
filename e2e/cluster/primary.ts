import { openSession, type Session } from '../../packages/postgres/src/connection/session.ts'
import { openPostgresStorage } from '../../packages/postgres/src/open-postgres-storage.ts'
import { startPostgres, startStandby, type TestPostgres } from '../../tooling/postgres-server.ts'
import { pause } from './client.ts'
import { openFaultyProxy } from './faulty-proxy.ts'

/** The database behind one address, which follows the primary. */
export interface Primary {
  readonly url: string
  /** Kills the server, and starts it again. */
  crash(): Promise<void>
  /** Kills the server, and promotes a standby that has every acknowledged commit. */
  failOver(): Promise<void>
  /**
   * Promotes a standby that has every acknowledged commit, and leaves the server running. The address leads to the
   * new primary until `isKnown` resolves, then for a while back to the old one, which commits alone, and to the new one
   * for good.
   */
  flap(isKnown: () => Promise<void>, backMs: number): Promise<void>
  /**
   * Promotes two standbys that have every acknowledged commit: the address leads to the first until `isKnown` resolves, then
   * for a while to the second, whose positions a process has moved that knows no other primary, and to the first for good.
   */
  fork(isKnown: () => Promise<void>, backMs: number, schema: string): Promise<void>
  close(): Promise<void>
}

export async function openPrimary(settings: readonly string[]): Promise<Primary> {
  let current: TestPostgres = await startPostgres(undefined, { settings })
  const portOf = (server: TestPostgres) => Number(new URL(server.url).port)
  const name = await openFaultyProxy(portOf(current))
  const url = new URL(current.url)
  url.port = String(name.port)

  return {
    url: url.href,
    async crash() {
      current.stop('immediate')
      await current.start()
    },
    async failOver() {
      const standby = await startStandby(current.url, settings)
      await waitForCommits(current.url)
      const lost = current
      lost.stop('immediate')
      standby.promote()
      current = standby
      name.leadTo(portOf(standby))
      lost.remove()
    },
    async flap(isKnown, backMs) {
      const standby = await startStandby(current.url, settings)
      await waitForCommits(current.url)
      const old = current
      name.shut()
      standby.promote()
      current = standby
      name.leadTo(portOf(standby))
      name.heal()
      await isKnown()
      await commitAlone(old.url)
      name.leadTo(portOf(old))
      await pause(backMs)
      name.leadTo(portOf(standby))
      old.remove()
    },
    async fork(isKnown, backMs, schema) {
      const standby = await startStandby(current.url, settings)
      const second = await startStandby(current.url, settings)
      const old = current
      name.shut()
      await untilReplayed(old.url, 2)
      standby.promote()
      current = standby
      name.leadTo(portOf(standby))
      name.heal()
      await isKnown()
      second.promote()
      await (await openPostgresStorage({ url: second.url, schema, isGuest: true })).close()
      name.leadTo(portOf(second))
      await pause(backMs)
      name.leadTo(portOf(standby))
      second.remove()
      old.remove()
    },
    async close() {
      await name.close()
      current.remove()
    },
  }
}

const STANDBY_MS = 30_000
const SETTING_MS = 500

type Execute = (text: string) => Promise<readonly unknown[]>

async function withSession(url: string, use: (execute: Execute) => Promise<void>): Promise<void> {
  const server = { url, schema: 'public', statementTimeoutMs: 60_000, pipeline: false }
  const session: Session = await openSession(server, { name: 'failover', planning: 'default' })
  try {
    await use(async (text) => (await session.execute({ text, values: [] })).rows)
  } finally {
    await session.close()
  }
}

/** Makes the server acknowledge commits that no standby has. */
const commitAlone = (url: string) =>
  withSession(url, async (execute) => {
    await execute('alter system reset synchronous_standby_names')
    await execute('select pg_reload_conf()')
    await pause(SETTING_MS)
  })

/** Resolves when this many standbys have everything that the server has. */
const untilReplayed = (url: string, standbys: number) =>
  withSession(url, async (execute) => {
    const replayed = 'select 1 from pg_stat_replication where replay_lsn >= pg_current_wal_flush_lsn()'
    for (const until = performance.now() + STANDBY_MS; ; await pause(50)) {
      if ((await execute(replayed)).length === standbys) return
      if (performance.now() > until) throw new Error('a standby has not received every commit')
    }
  })

/** Makes the server acknowledge a commit only when the standby has it. */
const waitForCommits = (url: string) =>
  withSession(url, async (execute) => {
    await execute(`alter system set synchronous_standby_names = '*'`)
    await execute('select pg_reload_conf()')
    for (const until = performance.now() + STANDBY_MS; ; await pause(50)) {
      if ((await execute(`select 1 from pg_stat_replication where sync_state = 'sync'`)).length === 1) break
      if (performance.now() > until) throw new Error('the standby never became synchronous')
    }
    // Commits wait only when another process of the server has read the setting as well.
    await pause(SETTING_MS)
  })
