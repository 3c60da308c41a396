import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventLogContract, storageContract, unitOfWorkContract } from '@berth/testkit'
import { afterAll } from 'vitest'
import { openSqliteStorage, type SqliteStorageOptions } from './open-sqlite-storage.ts'

const directory = mkdtempSync(join(tmpdir(), 'berth-contract-'))
let files = 0

afterAll(() => rmSync(directory, { recursive: true }))

const openFile = (mode: SqliteStorageOptions['mode']) => () =>
  openSqliteStorage({ path: join(directory, `${files++}.db`), synchronous: 'normal', mode })

storageContract({ name: 'SQLite file', open: openFile('lib') })

// The operations are the same ones; what differs is how a commit reaches them, and what of it travels back.
const others = [
  { name: 'SQLite in memory', open: () => openSqliteStorage({ path: ':memory:' }) },
  { name: 'SQLite file behind its worker', open: openFile('server') },
]
for (const other of others) {
  unitOfWorkContract(other)
  eventLogContract(other)
}
