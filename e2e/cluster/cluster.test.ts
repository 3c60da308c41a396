import { expect, vi } from 'vitest'
import { needsTool } from '../../tooling/needed-tool.ts'
import { seedOf } from '../torture/seed.ts'
import { attack } from './attack.ts'
import { STRIKES, type StrikeName } from './strikes.ts'

const SECONDS = Number(process.env.E2E_CLUSTER_SECONDS ?? 60)
const NODES = Number(process.env.E2E_CLUSTER_NODES ?? 3)
const ROUNDS = Number(process.env.E2E_CLUSTER_ROUNDS ?? 1)
const CHOSEN = process.env.E2E_CLUSTER_STRIKES?.split(',')
/** A server alone on its schema may have any clock, nobody gives it up, and no other node knows the new primary. */
const ONLY_IN_CLUSTERS: readonly StrikeName[] = [
  ...(['wrong clock', 'late commits', 'stepped clock', 'flapping primary', 'forked primary'] as const),
]

const isLong = SECONDS > 300

vi.setConfig({ testTimeout: ROUNDS * (SECONDS * 1_000 + (isLong ? 900_000 : 300_000)) })

needsTool('postgres', 'pg_basebackup').it(
  'servers on one database lose nothing and do nothing twice while processes, networks and the database fail',
  async () => {
    const first = seedOf()
    for (let round = 0; round < ROUNDS; round++) {
      const report = await attack({
        ...{ seed: first + round, nodes: NODES, seconds: SECONDS, clients: 6 },
        strikes: STRIKES.filter((name) => CHOSEN?.includes(name) ?? (NODES > 1 || !ONLY_IN_CLUSTERS.includes(name))),
        pausesMs: isLong ? [3_000, 30_000] : [1_000, 6_000],
        ...(process.env.E2E_CLUSTER_LOG === undefined ? {} : { say: (line: string) => console.log(line) }),
      })

      const { violations, ...counts } = report
      console.log(JSON.stringify({ seed: first + round, ...counts }))
      expect(violations).toEqual([])
      expect(counts.actions).toBeGreaterThanOrEqual(SECONDS / 5)
      expect(counts.followed).toBeGreaterThan(0)
      expect(counts.sockets).toBeGreaterThan(0)
    }
  },
)
