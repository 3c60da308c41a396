import { createPrometheusMeter } from '@perdure/platform-node'
import { expect, it } from 'vitest'
import { createServerMeter } from './storage-server-meter.ts'

it('shows the state of a database server, and counts what was added since the last scrape', async () => {
  const meter = createPrometheusMeter()
  const record = createServerMeter(meter)
  const first = {
    ...{ connections: { busy: 1, idle: 2, waiting: 0 }, commits: 10, transactions: 4, unknownCommits: 1 },
    refusedConnections: 2,
  }

  record({ ...first, retries: { '40001': 2 } })
  record({
    ...first,
    commits: 30,
    connections: { busy: 3, idle: 0, waiting: 5 },
    retries: { '40001': 3, connection: 1 },
  })

  const { text } = await meter.expose()
  expect(text.split('\n').filter((line) => /^svc_storage_(?!wal|commit_duration)/.test(line))).toEqual([
    'svc_storage_commits_unknown_total 1',
    'svc_storage_connections{state="busy"} 3',
    'svc_storage_connections{state="idle"} 0',
    'svc_storage_connections{state="waiting"} 5',
    'svc_storage_connections_refused_total 2',
    'svc_storage_group_commits 7.5',
    'svc_storage_retries_total{code="40001"} 3',
    'svc_storage_retries_total{code="connection"} 1',
  ])
})
