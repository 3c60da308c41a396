import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storageContract } from '@berth/testkit'
import { afterAll } from 'vitest'
import { openSqliteStorage } from './open-sqlite-storage.ts'

const directory = mkdtempSync(join(tmpdir(), 'berth-contract-'))
let files = 0

afterAll(() => rmSync(directory, { recursive: true }))

storageContract({
  name: 'SQLite file',
  open: () => openSqliteStorage({ path: join(directory, `${files++}.db`), synchronous: 'normal' }),
  close: (storage) => storage.close(),
})

storageContract({
  name: 'SQLite in memory',
  open: () => openSqliteStorage({ path: ':memory:' }),
  close: (storage) => storage.close(),
})
