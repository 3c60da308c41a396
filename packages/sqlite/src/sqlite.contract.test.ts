import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStores } from '@perdure/storage'
import { eventLogContract, storageContract, unitOfWorkContract } from '@perdure/testkit'
import { afterAll } from 'vitest'
import { openConnection, openInlineConnection } from './file/connection.ts'
import { migrate } from './file/migration-status.ts'
import { createWorkerHost, startStorageWorker } from './host/worker-host.ts'
import { keepStorage } from './kept-storage.fixture.ts'
import { openSqliteStorage, type SqliteStorageOptions } from './open-sqlite-storage.ts'

const directory = mkdtempSync(join(tmpdir(), 'perdure-contract-'))
const migrated = join(directory, 'migrated.db')
await migrate(migrated)
let files = 0

/** Most of the time to open an empty file goes into its migrations, so each test gets a copy. */
function copyMigrated(): string {
  const path = join(directory, `${files++}.db`)
  copyFileSync(migrated, path)
  return path
}

afterAll(() => rmSync(directory, { recursive: true }))

const openFile = (mode: SqliteStorageOptions['mode'], path: string) =>
  openSqliteStorage({ path, synchronous: 'normal', mode })

storageContract({ name: 'SQLite file', open: () => openFile('lib', copyMigrated()) })

// Every host runs the same operations. The hosts differ in how a commit reaches the operations and in what they return.
const openOnBothThreads = async (path: string) => {
  const readFrom = openConnection(path)
  const worker = startStorageWorker()
  const host = createWorkerHost(worker, {
    ...{ path, synchronous: 'normal', readFrom, initialMeanMs: Number.NEGATIVE_INFINITY },
    openInline: () => openInlineConnection(path, { synchronous: 'normal' }),
    onClosed: () => undefined,
  })
  return { ...createStores(host), close: host.close, status: async () => ({ writable: true, walBytes: 0, dbBytes: 0 }) }
}
const withThreads = [
  { name: 'SQLite file, on both threads', open: openOnBothThreads },
  { name: 'SQLite file behind its worker', open: (path: string) => openFile('server', path) },
]
for (const { name, open } of withThreads) {
  const path = copyMigrated()
  unitOfWorkContract({ name, open: keepStorage(path, () => open(path)), close: async () => undefined })
  eventLogContract({ name, open: () => open(copyMigrated()) })
}

const inMemory = { name: 'SQLite in memory', open: () => openSqliteStorage({ path: ':memory:' }) }
unitOfWorkContract(inMemory)
eventLogContract(inMemory)
