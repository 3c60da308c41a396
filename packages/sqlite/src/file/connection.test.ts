import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { statement } from '@perdure/storage'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openConnection } from './connection.ts'

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-connection-'))
  path = join(directory, 'data.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

describe('openConnection', () => {
  it('sets every pragma', () => {
    const { database } = openConnection(path)

    const names = ['journal_mode', 'synchronous', 'foreign_keys', 'busy_timeout', 'wal_autocheckpoint']
    const more = ['journal_size_limit', 'trusted_schema', 'cell_size_check', 'mmap_size', 'temp_store', 'page_size']
    const settings = [...names, ...more].map((name) => [name, database.pragma(name, { simple: true })])
    database.close()

    expect(Object.fromEntries(settings)).toEqual({
      journal_mode: 'wal',
      synchronous: 2,
      foreign_keys: 1,
      busy_timeout: 5_000,
      wal_autocheckpoint: 4_096,
      page_size: 2_048,
      journal_size_limit: 67_108_864,
      trusted_schema: 0,
      cell_size_check: 1,
      mmap_size: 0,
      temp_store: 2,
    })
  })

  it('sets synchronous to normal on request', () => {
    const { database } = openConnection(path, { synchronous: 'normal' })

    expect(database.pragma('synchronous', { simple: true })).toBe(1)

    database.close()
  })

  it('caches a query variant and rebuilds it after 256 other variants', () => {
    const db = openConnection(path)
    let built = 0
    const variant = (name: string) =>
      db.db.variant(name, () => {
        built += 1
        return statement(`SELECT '${name}'`)
      })

    variant('first')
    variant('first')
    expect(built).toBe(1)

    for (let index = 0; index < 256; index++) variant(`other ${index}`)
    variant('first')
    expect(built).toBe(258)

    db.database.close()
  })
})
